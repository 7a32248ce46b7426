import { MaxLength } from 'class-validator';
import { IsIdOf, OptionalEnum, OptionalField, QueryDate, QueryInteger } from '../../core/http/index.js';

const CURSOR = {
  pattern: '^evc_[0-9]{1,15}_[0-9A-Fa-f]{32}_[0-9]{1,2}$',
  description: 'The `cursor` of an event, or a `next_cursor`.',
  example: 'evc_812_019aa0f07d5c7c3e9b1a2f4d6c8e0a12_1',
};

export class EventStreamQuery {
  @OptionalField({
    description:
      'Names of the event catalog with commas between; `*`, the default, for all that an endpoint with `*` gets.',
    example: 'charge.paid,charge.refunded',
  })
  @MaxLength(1_000)
  type?: string;

  @OptionalField({
    description:
      'Only what happened to this charge or payment, its refunds among it, or to this case, payout or report.',
    example: 'ch_019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12',
  })
  @IsIdOf('the id of a charge, payment, MED case, payout or report', 'ch_', 'tx_', 'med_', 'po_', 'rep_')
  subject?: string;

  @OptionalField({ ...CURSOR, description: `${CURSOR.description} What is newer, oldest first.` })
  @MaxLength(100)
  after?: string;

  @QueryDate('Inclusive lower bound on the time of the event.', 'first')
  created_after?: Date;

  @OptionalEnum(
    'Whether events that were sent again are there once more, at the time of the resend and with a new cursor.',
    ['true', 'false'],
  )
  resends?: 'true' | 'false';
}

export class EventsQuery extends EventStreamQuery {
  @OptionalField({ ...CURSOR, description: `${CURSOR.description} What is older, newest first.` })
  @MaxLength(100)
  starting_after?: string;

  @QueryInteger('Items a page.', 1, 100, 25)
  limit?: number;
}
