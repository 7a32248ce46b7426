import { ArrayMaxSize, ArrayMinSize, ArrayUnique, IsArray, IsIn, IsString } from 'class-validator';
import { DAY_OR_INSTANT, IsDayOrInstant, IsText, Nested, OptionalField, RequiredField } from '../../core/http/index.js';
import { TRANSACTION_STATUSES, type TransactionStatus } from '../../transactions/index.js';
import { REPORT_FORMATS, REPORT_TYPES, SALE_BASES, type ReportFormat, type ReportType } from '../report.entity.js';

const MOST_COLUMNS = 50;

/** Which sales alone are in the file: what `GET /v1/payments` takes under the same names. */
export class SaleFiltersDto {
  @OptionalField({
    description:
      'Which time has to be in the window: that of the payment, or that of the creation, with what was not paid too.',
    enum: SALE_BASES,
    default: 'paid',
  })
  @IsIn(SALE_BASES, { message: `must be one of ${SALE_BASES.join(', ')}` })
  basis?: (typeof SALE_BASES)[number];

  @OptionalField({ description: 'Only sales of this status.', enum: TRANSACTION_STATUSES })
  @IsIn(TRANSACTION_STATUSES, { message: `must be one of ${TRANSACTION_STATUSES.join(', ')}` })
  status?: TransactionStatus;

  @OptionalField({
    description: 'Only what `query` of `GET /v1/payments` finds, all of it.',
    minLength: 2,
    maxLength: 200,
    example: 'maria',
  })
  @IsText(2, 200)
  query?: string;
}

/** Body of `POST /v1/reports`. Which fields go together is checked by the service, which the command line uses too. */
export class CreateReportDto {
  @RequiredField({
    description:
      '`statement`: every line of the wallet, with the balance after it. `sales`: what was paid in the window, or what `filters` say. `refunds`, `disputes`: what was created in it.',
    enum: REPORT_TYPES,
  })
  @IsIn(REPORT_TYPES, { message: `must be one of ${REPORT_TYPES.join(', ')}` })
  type!: ReportType;

  @RequiredField({
    description: '`ofx` (1.0.2) and `journal` (for hledger, ledger and beancount) are of the statement alone.',
    enum: REPORT_FORMATS,
  })
  @IsIn(REPORT_FORMATS, { message: `must be one of ${REPORT_FORMATS.join(', ')}` })
  format!: ReportFormat;

  @RequiredField({
    description: 'Begin of the window: an instant with its zone, or a day, from its beginning in São Paulo.',
    ...DAY_OR_INSTANT,
    example: '2026-11-01',
  })
  @IsDayOrInstant()
  from!: string;

  @RequiredField({
    description: 'Its end, included: as `from`, a day to its end in São Paulo. At most 400 days.',
    ...DAY_OR_INSTANT,
    example: '2026-11-30',
  })
  @IsDayOrInstant()
  to!: string;

  @OptionalField({
    description:
      'Of a CSV, in this order; all of them when left out. `metadata.<key>` is one key of the metadata as a column of its own.',
    type: [String],
    minItems: 1,
    maxItems: MOST_COLUMNS,
    uniqueItems: true,
    example: ['day', 'amount', 'metadata.orderId'],
  })
  @IsArray({ message: 'must be a list of names of columns' })
  @ArrayMinSize(1, { message: 'must name at least one column' })
  @ArrayMaxSize(MOST_COLUMNS, { message: `must name at most ${MOST_COLUMNS} columns` })
  @ArrayUnique({ message: 'must name each column once' })
  @IsString({ each: true, message: 'must be a list of names of columns' })
  columns?: string[];

  @OptionalField({ description: 'Of `sales` alone.', type: SaleFiltersDto })
  @Nested(() => SaleFiltersDto)
  filters?: SaleFiltersDto;
}
