import { Inject, Injectable, type OnModuleInit, type Type } from '@nestjs/common';
import { type Config, CONFIG } from '../core/config/index.js';
import { type DomainEvent, EventCatalog } from '../outbox/index.js';
import {
  type DisputeEventData,
  fromSnapshot,
  isPix,
  MedPayers,
  type RefundEventData,
  type TransactionEventData,
  type TransactionEventType,
} from '../transactions/index.js';
import { ChargeBody } from './dto/charge.body.js';
import { ChargeDisputedDataBody, ChargePaidDataBody, ChargeRefundedDataBody } from './dto/charge-event.body.js';
import { chargeBody } from './charge.serializer.js';

const CREATED = 'A charge was created: its Pix code exists and waits for payment.';

const FAILED = 'A charge failed or was cancelled.';

const PROCESSING = 'A charge is held for review, or its card is being authenticated.';

const DISPUTED = 'A charge that was paid by card is disputed.';

type Source = TransactionEventType | 'refund.returned';

const DISPUTE = { beside: caseOf, besideBody: ChargeDisputedDataBody };

interface ChargeEvent {
  readonly name: string;
  readonly from: Source;
  readonly description: string;
  readonly onlyAgain?: true;
  readonly besideBody?: Type;
  readonly beside?: (event: DomainEvent<Source>) => Readonly<Record<string, unknown>>;
}

const EVENTS: readonly ChargeEvent[] = [
  { name: 'charge.created', from: 'transaction.created', description: CREATED },
  // Sent for a payment whose code was made after it had been accepted.
  { name: 'charge.created', from: 'transaction.issued', description: CREATED },
  {
    name: 'charge.paid',
    from: 'transaction.paid',
    description: 'A charge was paid, confirmed and credited.',
    beside: ({ data }) => ({ payment: paymentOf(data) }),
    besideBody: ChargePaidDataBody,
  },
  { name: 'charge.failed', from: 'transaction.refused', description: FAILED },
  { name: 'charge.failed', from: 'transaction.cancelled', description: FAILED },
  // Refused before any event announced the charge.
  { name: 'charge.failed', from: 'transaction.not_issued', description: FAILED, onlyAgain: true },
  { name: 'charge.expired', from: 'transaction.expired', description: 'A charge expired without payment.' },
  { name: 'charge.processing', from: 'transaction.processing', description: PROCESSING },
  { name: 'charge.processing', from: 'transaction.held', description: PROCESSING },
  {
    name: 'charge.refunded',
    from: 'refund.returned',
    description: 'A refund of a charge, or of a part of it, is done.',
    beside: ({ data }) => refundOf(data as RefundEventData),
    besideBody: ChargeRefundedDataBody,
  },
  // Only disputes of cards: a MED has no `charge.*` event.
  { name: 'charge.disputed', from: 'transaction.card_disputed', description: DISPUTED, ...DISPUTE },
  { name: 'charge.disputed', from: 'transaction.charged_back', description: DISPUTED, ...DISPUTE },
];

/** `data.payment` of `charge.paid`: the amounts of money, which a charge itself does not have. */
function paymentOf({ transaction: t }: TransactionEventData): object {
  return {
    paid_at: t.paidAt,
    amount: t.amount,
    fee: (t.providerFee ?? 0) + (t.platformFee ?? 0),
    net_amount: t.netAmount,
    method: t.paidWith?.toLowerCase() ?? null,
  };
}

/** `data.refund` and `data.amount_refunded` of `charge.refunded`. */
function refundOf({ refund, transaction }: RefundEventData): Readonly<Record<string, unknown>> {
  const { id, amount, status, reason } = refund;
  return {
    refund: { id, object: 'refund', amount, currency: transaction.currency, status, reason },
    amount_refunded: transaction.refundsAmount,
  };
}

/** `data.case` of `charge.disputed`. */
function caseOf({ data }: DomainEvent<Source>): Readonly<Record<string, unknown>> {
  const { case: disputeCase } = data as DisputeEventData;
  return disputeCase === undefined ? {} : { case: disputeCase };
}

/** Events that may end a charge before its code was made. */
const ENDS = ['charge.failed', 'charge.expired'];

/**
 * Registers the events `charge.*`. Source: docs/contract.md#event-names.
 *
 * The function `present` builds the charge in an event, or returns null if the event is not sent. For the body of a
 * webhook, `payloadOf` in webhooks/sending/messages.ts calls `present`. The event feed and the samples of webhooks call
 * it too.
 *
 * Transactions without Pix have none of these events. A payment becomes a charge when its code exists, and then
 * `charge.created` is sent once. If a payment ends without a code, only its failure or expiry is sent, with an empty
 * `br_code`. If another method paid before the code existed, no event is sent.
 */
@Injectable()
export class ChargeEvents implements OnModuleInit {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly catalog: EventCatalog,
    private readonly payers: MedPayers,
  ) {}

  onModuleInit(): void {
    for (const event of EVENTS) {
      const { name } = event;
      this.catalog.register({
        ...event,
        family: 'canonical',
        body: ChargeBody,
        present: ({ data }) => {
          const transaction = fromSnapshot(data.transaction);
          const isToBeTold = isPix(transaction) && (transaction.brCode !== null || ENDS.includes(name));
          return isToBeTold ? chargeBody(this.payers.show(transaction), this.config.publicBaseUrl) : null;
        },
      });
    }
  }
}
