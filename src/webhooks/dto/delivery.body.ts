import { ApiProperty } from '@nestjs/swagger';
import { DELIVERY_STATUSES, type DeliveryStatus } from '../webhook.entity.js';

const TIME = { type: String, format: 'date-time', example: '2026-11-03T12:00:00.000Z' } as const;

export class DeliveryBody {
  @ApiProperty({
    description: '`wd_<uuid>`, the `X-Service-Delivery-Id` of all its attempts.',
    example: 'wd_019a4c1e-8a00-7c3d-9d52-6f1b2a3c4d5e',
  })
  id!: string;
  @ApiProperty({
    description: 'Where it goes; null when that is the payment’s own `webhookUrl`.',
    type: String,
    nullable: true,
    example: 'wh_019a4c1e-8a00-7c3d-9d52-6f1b2a3c4d5e',
  })
  endpointId!: string | null;
  @ApiProperty({ description: 'Name of the event.', example: 'charge.paid' }) eventType!: string;
  @ApiProperty({
    description:
      'PENDING waits for its next attempt, PROCESSING is being sent, DELIVERED was answered 2xx, FAILED has used up its attempts or was answered 410, CANCELLED was waiting when its endpoint was deleted or made INACTIVE.',
    enum: DELIVERY_STATUSES,
    example: 'DELIVERED',
  })
  status!: DeliveryStatus;
  @ApiProperty({ description: 'Attempts begun so far.', type: 'integer', example: 1 }) attempts!: number;
  @ApiProperty({ description: 'Attempts after which it is FAILED.', type: 'integer', example: 15 })
  maxAttempts!: number;
  @ApiProperty({
    description: 'Status of the last answer; null when none came.',
    type: 'integer',
    nullable: true,
    example: 200,
  })
  lastStatusCode!: number | null;
  @ApiProperty({ description: 'Why the last attempt failed.', type: String, nullable: true, example: null })
  lastError!: string | null;
  @ApiProperty({ ...TIME, description: 'When it is tried next; null unless PENDING.', nullable: true })
  nextRetryAt!: string | null;
  @ApiProperty({ ...TIME, description: 'When it was answered 2xx.', nullable: true }) deliveredAt!: string | null;
  @ApiProperty({ ...TIME, description: 'When it was made.' }) createdAt!: string;
  @ApiProperty({ ...TIME, description: 'When it last changed.' }) updatedAt!: string;
  @ApiProperty({
    description: 'The body that is sent, as JSON. What is signed is its text, whose spaces and order of keys matter.',
    type: 'object',
    additionalProperties: true,
    example: { event: 'payment.completed', data: { status: 'PAID', sequence: 2 } },
  })
  payload!: Record<string, unknown>;
}

export class DeliveryListBody {
  @ApiProperty({ description: 'Newest first.', type: [DeliveryBody] }) data!: DeliveryBody[];
  @ApiProperty({ description: 'All that pass the filters.', type: 'integer', example: 1 }) total!: number;
  @ApiProperty({ description: 'As asked for.', type: 'integer', example: 25 }) limit!: number;
  @ApiProperty({ description: 'As asked for.', type: 'integer', example: 0 }) offset!: number;
}

export class DeliveryAttemptBody {
  @ApiProperty({
    description: 'From 1. A number is missing when the worker died before it could write what came of the attempt.',
    type: 'integer',
    example: 1,
  })
  number!: number;
  @ApiProperty({ ...TIME, description: 'When it began.' }) startedAt!: string;
  @ApiProperty({ description: 'Milliseconds until the answer or the failure.', type: 'integer', example: 84 })
  durationMs!: number;
  @ApiProperty({ description: 'Null when no answer came.', type: 'integer', nullable: true, example: 500 })
  statusCode!: number | null;
  @ApiProperty({ description: 'Null when it was delivered.', type: String, nullable: true, example: 'HTTP 500' })
  error!: string | null;
  @ApiProperty({
    description: 'The first 8 KiB of the answer’s body, as text; null when none came.',
    type: String,
    nullable: true,
    example: 'database is locked',
  })
  responseBody!: string | null;
}

export class DeliveryDetailBody extends DeliveryBody {
  @ApiProperty({
    description: 'Where its endpoint points now.',
    format: 'uri',
    example: 'https://merchant.example/webhooks/recebe',
  })
  url!: string;
  @ApiProperty({ description: 'The business event.', example: 'evt_019a4c1e8a007c3d9d526f1b2a3c4d5e' })
  eventId!: string;
  @ApiProperty({ description: 'Whether it was asked for: resent, recovered or a sample.', example: false })
  manual!: boolean;
  @ApiProperty({ description: 'Every attempt, oldest first.', type: [DeliveryAttemptBody] })
  history!: DeliveryAttemptBody[];
}

export class DeliveryStatsBody {
  @ApiProperty({ description: 'All deliveries of the account in this mode.', type: 'integer', example: 1042 })
  total!: number;
  @ApiProperty({ description: 'Waiting for an attempt.', type: 'integer', example: 1 }) PENDING!: number;
  @ApiProperty({ description: 'Being sent.', type: 'integer', example: 0 }) PROCESSING!: number;
  @ApiProperty({ description: 'Answered 2xx.', type: 'integer', example: 1040 }) DELIVERED!: number;
  @ApiProperty({ description: 'Given up.', type: 'integer', example: 1 }) FAILED!: number;
  @ApiProperty({ description: 'Abandoned with their endpoint.', type: 'integer', example: 0 }) CANCELLED!: number;
}

export class RecoveryBody {
  @ApiProperty({ description: 'Kind of object.', enum: ['webhook_recovery'] }) object!: 'webhook_recovery';
  @ApiProperty({ ...TIME, description: 'As asked for, UTC.' }) since!: string;
  @ApiProperty({ description: 'Whether this only counted.', example: false }) dry_run!: boolean;
  @ApiProperty({
    description:
      'Deliveries to the endpoint that ended FAILED or CANCELLED since then and whose charge it has not been told of since. At most some 100 000 in one call.',
    type: 'integer',
    example: 240,
  })
  failed!: number;
  @ApiProperty({ description: 'Charges that these are about.', type: 'integer', example: 120 }) charges!: number;
  @ApiProperty({
    description: 'New deliveries made, one for each charge; 0 on a dry run.',
    type: 'integer',
    example: 120,
  })
  queued!: number;
  @ApiProperty({ description: 'Whether there may be more: repeat the call.', example: false }) has_more!: boolean;
}
