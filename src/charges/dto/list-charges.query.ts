import { CursorQuery, IsIdOf, OptionalEnum, OptionalField } from '../../core/http/index.js';
import { PUBLIC_STATUSES } from '../charge-status.js';
import { IsTaxId } from './validators.js';

export class ListChargesQuery extends CursorQuery {
  @OptionalField({ description: 'A `ch_…` id: the previous page’s `next_cursor`.' })
  @IsIdOf('the id of a charge', 'ch_')
  starting_after?: string;

  @OptionalEnum('Only charges of this status.', PUBLIC_STATUSES)
  status?: (typeof PUBLIC_STATUSES)[number];

  @OptionalField({ description: 'CPF or CNPJ of the customer.' })
  @IsTaxId()
  customer_id?: string;
}
