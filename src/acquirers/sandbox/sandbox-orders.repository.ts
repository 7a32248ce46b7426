import { Injectable } from '@nestjs/common';
import { Reader, statement, type Tx } from '../../core/database/index.js';
import type { Amount } from '../../core/money/index.js';
import type { OrderEvent, PaymentMethod } from '../acquirer.port.js';

export interface SandboxPaymentRow {
  holder_id: string;
  end_to_end_id: string;
  txid: string;
  method: PaymentMethod;
  amount: Amount;
  payer_sealed: Buffer;
  settled_at: Date;
}

const INSERT_PAYMENT = statement(
  'sandbox.insert_payment',
  `INSERT INTO sandbox_pix (holder_id, end_to_end_id, txid, method, amount, payer_sealed, settled_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (holder_id, end_to_end_id) DO NOTHING`,
);
const PAYMENT_COLUMNS = 'holder_id, end_to_end_id, txid, method, amount, payer_sealed, settled_at';
const FIND_PAYMENT = statement(
  'sandbox.find_payment',
  `SELECT ${PAYMENT_COLUMNS} FROM sandbox_pix WHERE holder_id = $1 AND end_to_end_id = $2`,
);
const PAYMENTS_OF = statement(
  'sandbox.payments_of',
  `SELECT ${PAYMENT_COLUMNS} FROM sandbox_pix WHERE txid = $1 ORDER BY settled_at, end_to_end_id`,
);
const INSERT_EVENT = statement(
  'sandbox.insert_order_event',
  `INSERT INTO sandbox_order_events (txid, kind, happened_at) VALUES ($1, $2, $3) ON CONFLICT (txid, kind) DO NOTHING`,
);
const EVENTS_OF = statement(
  'sandbox.order_events_of',
  'SELECT kind, happened_at FROM sandbox_order_events WHERE txid = $1 ORDER BY happened_at, kind',
);

/** What the sandbox bank's books hold of payments by any method and of orders. */
@Injectable()
export class SandboxOrdersRepository {
  constructor(private readonly reader: Reader) {}

  insertPayment(tx: Tx, row: SandboxPaymentRow): void {
    tx.defer(INSERT_PAYMENT, [
      row.holder_id,
      row.end_to_end_id,
      row.txid,
      row.method,
      row.amount,
      row.payer_sealed,
      row.settled_at,
    ]);
  }

  async findPayment(holderId: string, reference: string): Promise<SandboxPaymentRow | null> {
    const [row] = await this.reader.query<SandboxPaymentRow>(FIND_PAYMENT, [holderId, reference]);
    return row ?? null;
  }

  /** In the order in which they came. */
  async paymentsOf(txid: string): Promise<SandboxPaymentRow[]> {
    return this.reader.query(PAYMENTS_OF, [txid]);
  }

  insertEvent(tx: Tx, txid: string, kind: OrderEvent['kind'], at: Date): void {
    tx.defer(INSERT_EVENT, [txid, kind, at]);
  }

  /** In the order in which they happened. */
  async eventsOf(txid: string): Promise<{ kind: OrderEvent['kind']; happened_at: Date }[]> {
    return this.reader.query(EVENTS_OF, [txid]);
  }
}
