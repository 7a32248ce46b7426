import { Injectable } from '@nestjs/common';
import { columnsOf, insertInto, oneOf, Reader, read, type Tx, writeRow } from '../../core/database/index.js';
import type { OrderEvent } from '../acquirer.port.js';
import { SandboxOrderEventEntity } from './sandbox-order-event.entity.js';
import { SandboxPixEntity } from './sandbox-pix.entity.js';

const INSERT_PAYMENT = insertInto('sandbox.insert_payment', SandboxPixEntity, {
  after: 'ON CONFLICT (holder_id, end_to_end_id) DO NOTHING',
  inOrderOf: ['holderId', 'endToEndId'],
});
const PAYMENT_COLUMNS = columnsOf(SandboxPixEntity, 'sandbox_pix');
const FIND_PAYMENT = oneOf(
  read(
    'sandbox.find_payment',
    `SELECT ${PAYMENT_COLUMNS} FROM sandbox_pix WHERE holder_id = $1 AND end_to_end_id = $2`,
  ),
  ...['uuid', 'text'],
);
const PAYMENTS_OF = read(
  'sandbox.payments_of',
  `SELECT * FROM (
     SELECT ${PAYMENT_COLUMNS} FROM sandbox_pix WHERE txid = $1 ORDER BY settled_at DESC, end_to_end_id DESC LIMIT 100) p
   ORDER BY "settledAt", "endToEndId"`,
);
/** Finds the named payment of an order, or the last one if none is named. */
const PAYMENT_OF = read(
  'sandbox.payment_of',
  `SELECT ${PAYMENT_COLUMNS} FROM sandbox_pix WHERE txid = $1 AND ($2::text IS NULL OR end_to_end_id = $2)
   ORDER BY settled_at DESC, end_to_end_id DESC LIMIT 1`,
);
const INSERT_EVENT = insertInto('sandbox.insert_order_event', SandboxOrderEventEntity, {
  after: 'ON CONFLICT (txid, kind) DO NOTHING',
});
const EVENTS_OF = read(
  'sandbox.order_events_of',
  `SELECT ${columnsOf(SandboxOrderEventEntity, 'sandbox_order_events')} FROM sandbox_order_events
   WHERE txid = $1 ORDER BY happened_at, kind`,
);

/** The sandbox bank's records of orders and of payments by any method. */
@Injectable()
export class SandboxOrdersRepository {
  constructor(private readonly reader: Reader) {}

  insertPayment(tx: Tx, payment: SandboxPixEntity): void {
    writeRow(tx, INSERT_PAYMENT, payment);
  }

  async findPayment(holderId: string, reference: string): Promise<SandboxPixEntity | null> {
    return this.reader.one<SandboxPixEntity>(FIND_PAYMENT, [holderId, reference]);
  }

  /** The last hundred payments, oldest first: an order may be paid again and again. */
  async paymentsOf(txid: string): Promise<SandboxPixEntity[]> {
    return this.reader.query(PAYMENTS_OF, [txid]);
  }

  /** @param reference of one of the order's payments; null: the last one */
  async paymentOf(txid: string, reference: string | null): Promise<SandboxPixEntity | null> {
    return this.reader.first<SandboxPixEntity>(PAYMENT_OF, [txid, reference]);
  }

  insertEvent(tx: Tx, txid: string, kind: OrderEvent['kind'], at: Date): void {
    tx.defer(INSERT_EVENT, INSERT_EVENT.valuesOf({ txid, kind, happenedAt: at }));
  }

  /** Events of an order, in the order in which they happened. */
  async eventsOf(txid: string): Promise<SandboxOrderEventEntity[]> {
    return this.reader.query(EVENTS_OF, [txid]);
  }
}
