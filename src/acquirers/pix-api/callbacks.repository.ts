import { Injectable } from '@nestjs/common';
import { columnsOf, insertInto, read, Reader, write, type Tx } from '../../core/database/index.js';
import { AcquirerCallbackEntity } from './callbacks.entity.js';

const PENDING = ['id', 'acquirer', 'bodySealed'] as const;

/** A body that a PSP has posted and that nobody has read yet. */
export type PendingCallback = Pick<AcquirerCallbackEntity, (typeof PENDING)[number]>;

/** The same body again is only counted: what it says is known. */
const INSERT = insertInto('callbacks.insert', AcquirerCallbackEntity, {
  without: ['times', 'status', 'hints', 'lastError'],
  after: 'ON CONFLICT (acquirer, sha256) DO UPDATE SET times = acquirer_callbacks.times + 1 RETURNING id',
});
const FIND_PENDING = read(
  'callbacks.find_pending',
  `SELECT ${columnsOf(AcquirerCallbackEntity, 'c', { only: PENDING })} FROM acquirer_callbacks c
   WHERE id = $1 AND status = 'pending'`,
);
/** @returns no row when another worker was faster */
const CLOSE = write(
  'callbacks.close',
  `UPDATE acquirer_callbacks SET status = $2, hints = $3, last_error = $4
   WHERE id = $1 AND status = 'pending' RETURNING 1`,
);
const REMOVE = write(
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
    row: Pick<AcquirerCallbackEntity, 'id' | 'acquirer' | 'sha256' | 'bodySealed' | 'receivedAt'>,
  ): Promise<boolean> {
    const [stored] = await tx.query<{ id: string }>(INSERT, INSERT.valuesOf(row));
    return stored?.id === row.id;
  }

  async findPending(id: string): Promise<PendingCallback | null> {
    const [row] = await this.reader.query<PendingCallback>(FIND_PENDING, [id]);
    return row ?? null;
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
