import { IsBoolean } from 'class-validator';
import { IsIdOf, LimitQuery, OptionalEnum, OptionalField, OptionalText } from '../../core/http/index.js';

export const CUSTOMER_ORDERS = ['last_paid', 'most_bought'] as const;

export class ListCustomersQuery extends LimitQuery {
  @OptionalField({ description: 'The previous page’s `next_cursor`.' })
  @IsIdOf('a `next_cursor` of this list')
  starting_after?: string;

  @OptionalText(
    'Finds customers by what `query` of `GET /v1/payments` finds their sales by: name, e-mail, tax id, an id or a text of the metadata. Only the newest 1 000 sales that match count.',
    2,
    200,
    'maria sou',
  )
  query?: string;

  @OptionalEnum(
    '`last_paid`: whoever paid last comes first. `most_bought`: whoever paid most in one currency, by the newest 100 000 sales of the account.',
    CUSTOMER_ORDERS,
    { default: 'last_paid' },
  )
  order?: (typeof CUSTOMER_ORDERS)[number];
}

export class ListCustomerPaymentsQuery extends LimitQuery {
  @OptionalField({ description: 'A `tx_…` id: the previous page’s `next_cursor`.' })
  @IsIdOf('the id of a payment', 'tx_')
  starting_after?: string;
}

/** Body of `POST /v1/customers/{id}/erase`. */
export class EraseCustomerDto {
  @OptionalField({
    description: 'Whether your own words go too: metadata, reasons of refunds, descriptions of payouts.',
    default: false,
    type: Boolean,
  })
  @IsBoolean({ message: 'must be true or false' })
  metadata?: boolean;
}
