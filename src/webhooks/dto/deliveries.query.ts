import { IsString, Matches } from 'class-validator';
import { IsIdOf, OptionalEnum, OptionalField } from '../../core/http/index.js';
import { DELIVERY_STATUSES, type DeliveryStatus } from '../webhook-delivery.entity.js';

export class DeliveriesQuery {
  @OptionalEnum('Only deliveries of this status.', DELIVERY_STATUSES)
  status?: DeliveryStatus;

  @OptionalField({
    description: 'Only deliveries of this event name, one of `GET /v1/webhooks/event-catalog`.',
    example: 'charge.paid',
  })
  @IsString({ message: 'must be an event name' })
  eventType?: string;

  @OptionalField({
    description: 'Only deliveries to this endpoint, a deleted one too: `wh_<uuid>` or the bare `<uuid>`.',
    example: 'wh_019a4c1e-8a00-7c3d-9d52-6f1b2a3c4d5e',
  })
  @IsIdOf('the id of an endpoint', 'wh_')
  endpointId?: string;

  @OptionalField({
    description: 'Only what tells of this charge or payment, its refunds among it, or of this case or report.',
    example: 'ch_019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12',
  })
  @IsIdOf('the id of a charge, payment, MED case or report', 'ch_', 'tx_', 'med_', 'rep_')
  subject?: string;

  @OptionalField({ description: 'Deliveries a page.', minimum: 1, maximum: 100, default: 25, type: 'integer' })
  @Matches(/^(?:[1-9]\d?|100)$/, { message: 'must be an integer from 1 to 100' })
  limit?: string;

  @OptionalField({
    description: 'How many of the newest to leave out.',
    minimum: 0,
    maximum: 999_999_999,
    default: 0,
    type: 'integer',
  })
  @Matches(/^(?:0|[1-9]\d{0,8})$/, { message: 'must be an integer from 0 to 999999999' })
  offset?: string;
}
