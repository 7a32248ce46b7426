import { Injectable, type OnModuleInit } from '@nestjs/common';
import { type DomainEvent, EventCatalog } from '../outbox/index.js';
import type { RefundEventType, TransactionEventType } from '../transactions/index.js';
import { legacyPayment } from './payment-event.serializer.js';
import { legacyRefund } from './refund-event.serializer.js';

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
    description: 'A payment was refused, cancelled, expired or disputed.',
  },
  { name: 'payment.expired', from: ['transaction.expired'], description: 'A payment expired.' },
  {
    name: 'payment.refunded',
    from: ['transaction.returned'],
    description: 'A refund moved on, or a Pix was returned because its payer did not match the payer lock.',
  },
];

/** All of them are told under one name; the data say which refund it was and what it has become. */
const REFUND_EVENTS: readonly RefundEventType[] = ['refund.sent', 'refund.returned', 'refund.failed'];

const ALIAS = {
  name: 'payment.status_changed',
  from: [
    'transaction.paid',
    'transaction.refused',
    'transaction.cancelled',
    'transaction.expired',
    'transaction.returned',
    'transaction.refunded',
    'transaction.charged_back',
    'transaction.card_disputed',
    'transaction.card_dispute_won',
  ],
  description: 'Alias: any of the above that changed the status.',
} as const;

/** Events written before there was such a URL have none. */
function webhookUrl(event: DomainEvent<TransactionEventType | RefundEventType>): string | null {
  return event.data.transaction.webhookUrl ?? null;
}

/**
 * The older event family. Source: interface.md "Legacy event family", decisions §4.2 and §3.18: a transaction's own
 * `webhookUrl` gets them all instead of the account's endpoints, but for the alias, which is only for who asked for it.
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
        present: legacyRefund,
      });
    }
    for (const type of ALIAS.from) {
      this.catalog.register({
        name: ALIAS.name,
        description: ALIAS.description,
        family: 'legacy',
        from: type,
        present: (event) => (webhookUrl(event) === null ? legacyPayment(event) : null),
      });
    }
  }
}
