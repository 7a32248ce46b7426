import { IsString } from 'class-validator';
import { IsIdOf, OptionalEnum, OptionalField, QueryInteger } from '../../core/http/index.js';
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
  @IsIdOf('the id of a charge, payment, MED case, payout or report', 'ch_', 'tx_', 'med_', 'po_', 'rep_')
  subject?: string;

  @QueryInteger('Deliveries a page.', 1, 100, 25)
  limit?: number;

  @QueryInteger('How many of the newest to leave out.', 0, 999_999_999, 0)
  offset?: number;
}
