import { Injectable } from '@nestjs/common';
import { type Tx, write } from '../core/database/index.js';
import type { OperatorQueueName } from '../core/operator-queues.js';

const CLAIM = write(
  'operator_alerts.claim',
  `INSERT INTO operator_alerts AS a (queue, sent_at) SELECT q.queue, $2 FROM unnest($1::text[]) AS q (queue) ORDER BY q.queue
   ON CONFLICT (queue) DO UPDATE SET sent_at = excluded.sent_at WHERE a.sent_at <= $3
   RETURNING queue`,
);

@Injectable()
export class OperatorAlertsRepository {
  /** @returns the queues without a mail after `before`; each is claimed by one worker only */
  async claim(
    tx: Tx,
    queues: readonly OperatorQueueName[],
    now: Date,
    before: Date,
  ): Promise<ReadonlySet<OperatorQueueName>> {
    const rows = await tx.query<{ queue: OperatorQueueName }>(CLAIM, [queues, now, before]);
    return new Set(rows.map(({ queue }) => queue));
  }
}
