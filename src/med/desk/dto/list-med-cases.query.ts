import { CursorQuery, IsIdOf, OptionalEnum, OptionalField, QueryDate } from '../../../core/http/index.js';
import {
  MED_CASE_STATUSES,
  MED_CASE_TYPES,
  type MedCaseStatus,
  type MedCaseType,
} from '../../cases/med-cases.machine.js';

export const MED_CASE_ORDERS = ['created', 'deadline'] as const;
export type MedCaseOrder = (typeof MED_CASE_ORDERS)[number];

export class ListMedCasesQuery extends CursorQuery {
  @QueryDate('Created later than that; of a day, after it has ended.', 'last')
  override created_after?: Date;

  @QueryDate('Created earlier than that; of a day, before it begins.', 'first')
  override created_before?: Date;

  @OptionalField({ description: 'A `med_…` id: the previous page’s `next_cursor`.' })
  @IsIdOf('the id of one of your cases', 'med_')
  starting_after?: string;

  @OptionalEnum('Only cases of this status.', MED_CASE_STATUSES)
  status?: MedCaseStatus;

  @OptionalEnum('Only cases of this type. Default: all.', MED_CASE_TYPES)
  type?: MedCaseType;

  @OptionalField({ description: 'Only cases of this charge.' })
  @IsIdOf('the id of a charge', 'ch_', 'tx_')
  charge_id?: string;

  @OptionalField({ description: 'Only cases of this customer’s sales: `cus_…`, or the id of any of these.' })
  @IsIdOf('the id of a customer', 'cus_', 'ch_', 'tx_')
  customer?: string;

  @OptionalEnum(
    '`created`: newest first. `deadline`: the open cases alone, the nearest `response_deadline` first, those without one last.',
    MED_CASE_ORDERS,
    { default: 'created' },
  )
  order?: MedCaseOrder;
}
