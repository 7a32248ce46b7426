import { ApiProperty } from '@nestjs/swagger';
import { EnumOf, Integer, NullableInteger, NullableText, NullableTime, Text, Time } from '../../core/http/index.js';
import { DELIVERY_STATUSES, type DeliveryStatus } from '../webhook-delivery.entity.js';

export class DeliveryBody {
  @Text('`wd_<uuid>`, the `X-Service-Delivery-Id` of all its attempts.', 'wd_019a4c1e-8a00-7c3d-9d52-6f1b2a3c4d5e')
  id!: string;
  @NullableText(
    'Where it goes; null when that is the payment’s own `webhookUrl`.',
    'wh_019a4c1e-8a00-7c3d-9d52-6f1b2a3c4d5e',
  )
  endpointId!: string | null;
  @Text('Name of the event.', 'charge.paid') eventType!: string;
  @ApiProperty({
    description:
      'PENDING waits for its next attempt, PROCESSING is being sent, DELIVERED was answered 2xx, FAILED has used up its attempts or was answered 410, CANCELLED was waiting when its endpoint was deleted or made INACTIVE.',
    enum: DELIVERY_STATUSES,
    example: 'DELIVERED',
  })
  status!: DeliveryStatus;
  @Integer('Attempts begun so far.', 1) attempts!: number;
  @Integer('Attempts after which it is FAILED.', 15) maxAttempts!: number;
  @NullableInteger('Status of the last answer; null when none came.', 200) lastStatusCode!: number | null;
  @NullableText('Why the last attempt failed.', null) lastError!: string | null;
  @NullableTime(
    'When it is tried next, or at the earliest while its endpoint is left alone; null unless PENDING.',
    '2026-11-03T12:00:00.000Z',
  )
  nextRetryAt!: string | null;
  @NullableTime('When it was answered 2xx.', '2026-11-03T12:00:00.000Z') deliveredAt!: string | null;
  @Time('When it was made.', '2026-11-03T12:00:00.000Z') createdAt!: string;
  @Time('When it last changed.', '2026-11-03T12:00:00.000Z') updatedAt!: string;
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
  @Integer('All that pass the filters.', 1) total!: number;
  @Integer('As asked for.', 25) limit!: number;
  @Integer('As asked for.', 0) offset!: number;
}

export class DeliveryAttemptBody {
  @Integer('From 1. A number is missing when the worker died before it could write what came of the attempt.', 1)
  number!: number;
  @Time('When it began.', '2026-11-03T12:00:00.000Z') startedAt!: string;
  @Integer('Milliseconds until the answer or the failure.', 84) durationMs!: number;
  @NullableInteger('Null when no answer came.', 500) statusCode!: number | null;
  @NullableText('Null when it was delivered.', 'HTTP 500') error!: string | null;
  @NullableText('The first 8 KiB of the answer’s body, as text; null when none came.', 'database is locked')
  responseBody!: string | null;
}

export class DeliveryDetailBody extends DeliveryBody {
  @ApiProperty({
    description: 'Where its endpoint points now.',
    format: 'uri',
    example: 'https://merchant.example/webhooks/recebe',
  })
  url!: string;
  @Text('The business event.', 'evt_019a4c1e8a007c3d9d526f1b2a3c4d5e') eventId!: string;
  @ApiProperty({ description: 'Whether it was asked for: resent, recovered or a sample.', example: false })
  manual!: boolean;
  @ApiProperty({ description: 'Every attempt, oldest first.', type: [DeliveryAttemptBody] })
  history!: DeliveryAttemptBody[];
}

export class DeliveryStatsBody {
  @Integer('All deliveries of the account in this mode.', 1042) total!: number;
  @Integer('Waiting for an attempt.', 1) PENDING!: number;
  @Integer('Being sent.', 0) PROCESSING!: number;
  @Integer('Answered 2xx.', 1040) DELIVERED!: number;
  @Integer('Given up.', 1) FAILED!: number;
  @Integer('Abandoned with their endpoint.', 0) CANCELLED!: number;
}

export class RecoveryBody {
  @EnumOf('Kind of object.', ['webhook_recovery']) object!: 'webhook_recovery';
  @Time('As asked for, UTC.', '2026-11-03T12:00:00.000Z') since!: string;
  @ApiProperty({ description: 'Whether this only counted.', example: false }) dry_run!: boolean;
  @Integer(
    'Deliveries to the endpoint that ended FAILED or CANCELLED since then and whose charge it has not been told of since. At most some 100 000 in one call.',
    240,
  )
  failed!: number;
  @Integer('Charges that these are about.', 120) charges!: number;
  @Integer('New deliveries made, one for each charge; 0 on a dry run.', 120) queued!: number;
  @ApiProperty({ description: 'Whether there may be more: repeat the call.', example: false }) has_more!: boolean;
}
