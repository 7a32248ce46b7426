import { Injectable } from '@nestjs/common';
import { insertInto, removeDue, type Tx } from '../../core/database/index.js';
import { AcquirerCallbackEntity } from './callbacks.entity.js';
import { Retained } from '../../core/retention.js';

/** Counts a body that was received before: its hints are already stored. */
const INSERT = insertInto('callbacks.insert', AcquirerCallbackEntity, {
  without: ['times'],
  after: 'ON CONFLICT (acquirer, sha256) DO UPDATE SET times = acquirer_callbacks.times + 1 RETURNING id',
});
const REMOVE = removeDue('callbacks.remove', 'acquirer_callbacks', { dueAt: 'received_at' });

@Injectable()
export class CallbacksRepository {
  /** @returns whether the body is new */
  async insert(tx: Tx, row: Omit<AcquirerCallbackEntity, 'times'>): Promise<boolean> {
    const [stored] = await tx.query<{ id: string }>(INSERT, INSERT.valuesOf(row));
    return stored?.id === row.id;
  }

  /** @returns how many were removed, at most `limit` */
  @Retained('acquirer_callbacks', 'callbacks')
  async remove(tx: Tx, receivedBefore: Date, limit: number): Promise<number> {
    return (await tx.query(REMOVE, [receivedBefore, limit])).length;
  }
}
