import { Injectable } from '@nestjs/common';
import { SecretBox } from '../../core/crypto/index.js';
import { type Tx, valuesOfFields, write } from '../../core/database/index.js';
import type { WebhookAttemptEntity } from '../webhook-attempt.entity.js';
import type { WebhookMessageEntity } from '../webhook-message.entity.js';

/** A public event as its receivers get it, with a delivery for each of them. */
export interface Message extends Omit<WebhookMessageEntity, 'deliveryIds'> {
  /** The object that the event is about. */
  readonly subjectId: string;
  readonly deliveries: readonly { readonly id: string; readonly endpointId: string }[];
}

/** Binds a sealed payload to its message. */
export function messageContext(id: string): string {
  return `webhook_message:${id}`;
}

export type Attempt = Omit<WebhookAttemptEntity, 'deliveryId' | 'number' | 'accountId'>;

/** If the message exists already, it has its deliveries and gets no others. */
const INSERT = write(
  'webhook_deliveries.insert',
  `WITH d AS (SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[]) AS d (id, endpoint_id, message_id, subject_id)),
   made AS (
     INSERT INTO webhook_messages (id, account_id, mode, event_id, event_type, manual, payload, delivery_ids)
     SELECT m.*, i.ids FROM unnest($5::uuid[], $6::uuid[], $7::text[], $8::uuid[], $9::text[], $10::boolean[], $11::text[])
       AS m (id, account_id, mode, event_id, event_type, manual, payload)
     JOIN (SELECT message_id, array_agg(id) AS ids FROM d GROUP BY message_id) i ON i.message_id = m.id
     ON CONFLICT (event_id, event_type) WHERE NOT manual DO NOTHING
     RETURNING id, account_id, mode, event_type, manual)
   INSERT INTO webhook_deliveries (id, account_id, mode, endpoint_id, message_id, event_type, subject_id, manual,
     status, max_attempts, next_attempt_at, created_at, updated_at)
   SELECT d.id, m.account_id, m.mode, d.endpoint_id, m.id, m.event_type, d.subject_id, m.manual,
     'PENDING', $12::int, $13::timestamptz, $13, $13
   FROM d JOIN made m ON m.id = d.message_id`,
);
/**
 * Cancels only while the endpoint is INACTIVE: if the merchant enables it meanwhile, the remaining deliveries are sent.
 */
const CANCEL_PENDING = write(
  'webhook_deliveries.cancel_pending',
  `UPDATE webhook_deliveries SET status = 'CANCELLED', next_attempt_at = NULL,
     last_error = 'the endpoint is inactive', updated_at = $2
   WHERE id IN (
     SELECT d.id FROM webhook_endpoints e
     JOIN webhook_deliveries d ON d.account_id = e.account_id AND d.mode = e.mode AND d.endpoint_id = e.id
     WHERE e.id = ANY ($1::uuid[]) AND e.status <> 'ACTIVE' AND d.status = 'PENDING'
     LIMIT $3 FOR UPDATE OF d)
   RETURNING id`,
);

@Injectable()
export class DeliveriesRepository {
  constructor(private readonly secrets: SecretBox) {}

  /** Inserts the messages and their deliveries in one statement, due at once. */
  insert(tx: Tx, messages: readonly Message[], maxAttempts: number, now: Date): void {
    const deliveries = messages.flatMap((message) => message.deliveries.map((delivery) => ({ ...delivery, message })));
    tx.defer(INSERT, [
      ...valuesOfFields(deliveries, 'id', 'endpointId'),
      deliveries.map((delivery) => delivery.message.id),
      deliveries.map((delivery) => delivery.message.subjectId),
      ...valuesOfFields(messages, 'id', 'accountId', 'mode', 'eventId', 'eventType', 'manual'),
      messages.map(({ id, payload }) => this.secrets.sealText(payload, messageContext(id))),
      maxAttempts,
      now,
    ]);
  }

  /** Cancels waiting deliveries of those endpoints that are INACTIVE. @returns how many, at most `limit` */
  async cancelPending(tx: Tx, endpointIds: readonly string[], now: Date, limit: number): Promise<number> {
    return (await tx.query(CANCEL_PENDING, [endpointIds, now, limit])).length;
  }
}
