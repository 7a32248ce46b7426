import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { type Config, CONFIG } from '../core/config/index.js';
import { EventCatalog } from '../outbox/index.js';
import { fromSnapshot, isPix, MedPayers, type TransactionEventType } from '../transactions/index.js';
import { chargeBody } from './charge.serializer.js';

const CREATED = 'A charge was created: its Pix code exists and waits for payment.';

const FAILED = 'A charge failed or was cancelled.';

const EVENTS: readonly { name: string; from: TransactionEventType; description: string; onlyAgain?: true }[] = [
  { name: 'charge.created', from: 'transaction.created', description: CREATED },
  // Of a payment whose code was made after it had been accepted.
  { name: 'charge.created', from: 'transaction.issued', description: CREATED },
  { name: 'charge.paid', from: 'transaction.paid', description: 'A charge was paid, confirmed and credited.' },
  { name: 'charge.failed', from: 'transaction.refused', description: FAILED },
  { name: 'charge.failed', from: 'transaction.cancelled', description: FAILED },
  // Refused before anybody was told that it exists.
  { name: 'charge.failed', from: 'transaction.not_issued', description: FAILED, onlyAgain: true },
  { name: 'charge.expired', from: 'transaction.expired', description: 'A charge expired without payment.' },
];

/** How a charge may end before its code was made. */
const ENDS = ['charge.failed', 'charge.expired'];

/**
 * Source: docs/contract.md#event-names. Transactions without Pix fire none of them. A
 * payment is a charge once its code is there: `charge.created` comes then, and once. One that ends without it is told of
 * as failed or expired, alone and with an empty `br_code`; one that was paid by another method before it, not at all.
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
        present: ({ data }) => {
          const transaction = fromSnapshot(data.transaction);
          const isToBeTold = isPix(transaction) && (transaction.brCode !== null || ENDS.includes(name));
          return isToBeTold ? chargeBody(this.payers.show(transaction), this.config.publicBaseUrl) : null;
        },
      });
    }
  }
}
