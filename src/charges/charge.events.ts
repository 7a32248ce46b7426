import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { type Config, CONFIG } from '../core/config/index.js';
import { EventCatalog } from '../outbox/index.js';
import { fromSnapshot, isPix, type TransactionEventType } from '../transactions/index.js';
import { chargeBody } from './charge.serializer.js';

const CREATED = 'A charge was created: its Pix code exists and waits for payment.';

const EVENTS: readonly { name: string; from: TransactionEventType; description: string }[] = [
  { name: 'charge.created', from: 'transaction.created', description: CREATED },
  // Of a payment, whose code is made after it was announced.
  { name: 'charge.created', from: 'transaction.issued', description: CREATED },
  { name: 'charge.paid', from: 'transaction.paid', description: 'A charge was paid, confirmed and credited.' },
  { name: 'charge.failed', from: 'transaction.refused', description: 'A charge failed or was cancelled.' },
  { name: 'charge.failed', from: 'transaction.cancelled', description: 'A charge failed or was cancelled.' },
  { name: 'charge.expired', from: 'transaction.expired', description: 'A charge expired without payment.' },
];

/** Source: interface.md "Canonical event names", decisions §4.2. Transactions without Pix fire none of them (§3.2). */
@Injectable()
export class ChargeEvents implements OnModuleInit {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly catalog: EventCatalog,
  ) {}

  onModuleInit(): void {
    for (const { name, from, description } of EVENTS) {
      this.catalog.register({
        name,
        description,
        family: 'canonical',
        from,
        present: (event) => {
          const transaction = fromSnapshot(event.data.transaction);
          if (name === 'charge.created' && transaction.brCode === null) return null;
          return isPix(transaction) ? chargeBody(transaction, this.config.publicBaseUrl) : null;
        },
      });
    }
  }
}
