import { Injectable } from '@nestjs/common';
import { Reader, statement, type Tx } from '../../core/database/index.js';

/** A body that a PSP has posted and that nobody has read yet. */
export interface PendingCallback {
  readonly id: string;
  readonly acquirer: string;
  readonly bodySealed: Buffer;
}

/** The same body again is only counted: what it says is known. */
const INSERT = statement(
  'callbacks.insert',
  `INSERT INTO acquirer_callbacks AS c (id, acquirer, sha256, body_sealed, received_at)
   VALUES ($1, $2, $3, $4, $5)
   ON CONFLICT (acquirer, sha256) DO UPDATE SET times = c.times + 1
   RETURNING id`,
);
const FIND_PENDING = statement(
  'callbacks.find_pending',
  `SELECT id, acquirer, body_sealed FROM acquirer_callbacks WHERE id = $1 AND status = 'pending'`,
);
/** @returns no row when another worker was faster */
const CLOSE = statement(
  'callbacks.close',
  `UPDATE acquirer_callbacks SET status = $2, hints = $3, last_error = $4
   WHERE id = $1 AND status = 'pending' RETURNING 1`,
);
const REMOVE = statement(
  'callbacks.remove',
  `DELETE FROM acquirer_callbacks WHERE id IN (
     SELECT id FROM acquirer_callbacks WHERE received_at <= $1 AND status <> 'pending'
     ORDER BY received_at LIMIT $2 FOR UPDATE SKIP LOCKED)
   RETURNING 1`,
);

@Injectable()
export class CallbacksRepository {
  constructor(private readonly reader: Reader) {}

  /** @returns whether it is new */
  async insert(
    tx: Tx,
    row: { id: string; acquirer: string; sha256: Buffer; bodySealed: Buffer; receivedAt: Date },
  ): Promise<boolean> {
    const { id, acquirer, sha256, bodySealed, receivedAt } = row;
    const [stored] = await tx.query<{ id: string }>(INSERT, [id, acquirer, sha256, bodySealed, receivedAt]);
    return stored?.id === id;
  }

  async findPending(id: string): Promise<PendingCallback | null> {
    const [row] = await this.reader.query<{ id: string; acquirer: string; body_sealed: Buffer }>(FIND_PENDING, [id]);
    if (!row) return null;
    return { id: row.id, acquirer: row.acquirer, bodySealed: row.body_sealed };
  }

  /** @returns false when another worker was faster */
  async close(
    tx: Tx,
    id: string,
    status: 'read' | 'unreadable',
    hints: number,
    error: string | null,
  ): Promise<boolean> {
    return (await tx.query(CLOSE, [id, status, hints, error])).length > 0;
  }

  /** @returns how many there were, at most `limit` */
  async remove(tx: Tx, receivedBefore: Date, limit: number): Promise<number> {
    return (await tx.query(REMOVE, [receivedBefore, limit])).length;
  }
}
