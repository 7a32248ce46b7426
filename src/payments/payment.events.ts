import { Injectable, type OnModuleInit } from '@nestjs/common';
import { type DomainEvent, EventCatalog } from '../outbox/index.js';
import type { RefundEventType, TransactionEventType } from '../transactions/index.js';
import { legacyPayment, LegacyPaymentData } from './payment-event.serializer.js';
import { legacyRefund, LegacyRefundData } from './refund-event.serializer.js';

const FAILED = 'A payment was refused, cancelled, expired or disputed.';

const EVENTS: readonly { name: string; from: readonly TransactionEventType[]; description: string }[] = [
  {
    name: 'payment.created',
    from: ['transaction.created', 'transaction.accepted'],
    description: 'A payment was created.',
  },
  { name: 'payment.completed', from: ['transaction.paid'], description: 'A payment became PAID or APPROVED.' },
  {
    name: 'payment.failed',
    from: [
      'transaction.refused',
      'transaction.cancelled',
      'transaction.expired',
      'transaction.charged_back',
      'transaction.card_disputed',
    ],
    description: FAILED,
  },
  { name: 'payment.expired', from: ['transaction.expired'], description: 'A payment expired.' },
  {
    name: 'payment.refunded',
    from: ['transaction.returned'],
    description: 'A refund moved on, or a Pix was returned because its payer did not match the payer lock.',
  },
];

/** Events that share one public name; the data show which refund it was and its new status. */
const REFUND_EVENTS: readonly RefundEventType[] = ['refund.sent', 'refund.returned', 'refund.failed'];

const ALIAS = {
  name: 'payment.status_changed',
  description: 'Alias: a payment changed its status.',
};
const ALIAS_OF: readonly TransactionEventType[] = [
  'transaction.processing',
  'transaction.held',
  'transaction.paid',
  'transaction.refused',
  'transaction.cancelled',
  'transaction.expired',
  'transaction.returned',
  'transaction.refunded',
  'transaction.charged_back',
  'transaction.card_disputed',
  'transaction.card_dispute_won',
];

/** Returns null for events that were written before payments had a webhook URL. */
function webhookUrl(event: DomainEvent<TransactionEventType | RefundEventType>): string | null {
  return event.data.transaction.webhookUrl ?? null;
}

/**
 * The older event family. Source: docs/contract.md#event-names. If a transaction has its own `webhookUrl`, its events
 * go there instead of to the account's endpoints. The alias goes to the endpoints that subscribe to it.
 */
@Injectable()
export class PaymentEvents implements OnModuleInit {
  constructor(private readonly catalog: EventCatalog) {}

  onModuleInit(): void {
    for (const { name, from, description } of EVENTS) {
      for (const type of from) {
        this.catalog.register({
          name,
          description,
          family: 'legacy',
          from: type,
          destination: webhookUrl,
          body: LegacyPaymentData,
          present: legacyPayment,
        });
      }
    }
    for (const from of REFUND_EVENTS) {
      this.catalog.register({
        name: 'payment.refunded',
        description: 'A refund moved on.',
        family: 'legacy',
        from,
        destination: webhookUrl,
        body: LegacyRefundData,
        present: legacyRefund,
      });
    }
    this.catalog.register({
      name: 'payment.failed',
      description: FAILED,
      family: 'legacy',
      from: 'transaction.not_issued',
      onlyAgain: true,
      destination: webhookUrl,
      body: LegacyPaymentData,
      present: legacyPayment,
    });
    const alias = {
      ...ALIAS,
      family: 'legacy',
      isAlias: true,
      body: LegacyPaymentData,
      present: legacyPayment,
    } as const;
    for (const from of ALIAS_OF) this.catalog.register({ ...alias, from });
    // Sent only when asked for again, because the creation had no event.
    this.catalog.register({ ...alias, from: 'transaction.not_issued', onlyAgain: true });
  }
}
