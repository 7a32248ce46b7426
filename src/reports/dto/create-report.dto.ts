import { ArrayMaxSize, ArrayMinSize, ArrayUnique, IsArray, IsString } from 'class-validator';
import {
  DAY_OR_INSTANT,
  IsDayOrInstant,
  Nested,
  OptionalEnum,
  OptionalField,
  OptionalText,
  RequiredEnum,
  RequiredField,
} from '../../core/http/index.js';
import { TRANSACTION_STATUSES, type TransactionStatus } from '../../transactions/index.js';
import { METADATA_COLUMN } from '../formats/columns.js';
import {
  REPORT_FORMATS,
  REPORT_LOCALES,
  REPORT_TYPES,
  SALE_BASES,
  type ReportFormat,
  type ReportLocale,
  type ReportType,
} from '../report.entity.js';

const MAX_COLUMNS = 50;

/** Filters that select the sales of the file, named as in `GET /v1/payments`. */
export class SaleFiltersDto {
  @OptionalEnum(
    'Which time has to be in the window: that of the payment, or that of the creation, with what was not paid too.',
    SALE_BASES,
    { default: 'paid' },
  )
  basis?: (typeof SALE_BASES)[number];

  @OptionalEnum('Only sales of this status.', TRANSACTION_STATUSES)
  status?: TransactionStatus;

  @OptionalText('Only what `query` of `GET /v1/payments` finds, all of it.', 2, 200, 'maria')
  query?: string;
}

/** Body of `POST /v1/reports`. The service checks which fields go together, because the command line uses it too. */
export class CreateReportDto {
  @RequiredEnum(
    '`statement`: every line of the wallet, with the balance after it. `sales`: what was paid in the window, or what `filters` say. `refunds`, `disputes`, `payouts`: what was created in it. `closing`: the balances before and after a month of São Paulo, and what moved them.',
    REPORT_TYPES,
  )
  type!: ReportType;

  @RequiredEnum(
    '`csv`, or `xlsx` for Excel and other spreadsheet programs. `ofx` (1.0.2) and `journal` (for hledger, ledger and beancount) are of the statement alone. A `closing` is `pdf` or `xlsx`.',
    REPORT_FORMATS,
  )
  format!: ReportFormat;

  @OptionalEnum(
    'Of `csv` and `xlsx`: Portuguese headings and words, and the time of São Paulo. A `csv` has semicolons, decimal commas and a byte-order mark.',
    REPORT_LOCALES,
  )
  locale?: ReportLocale;

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
      'Of a CSV or spreadsheet, in this order; all of them when left out. `metadata.<key>` is one key of the metadata as a column of its own.',
    type: 'array',
    items: { type: 'string', minLength: 1, pattern: `^[A-Za-z_]+$|${METADATA_COLUMN.source}` },
    minItems: 1,
    maxItems: MAX_COLUMNS,
    uniqueItems: true,
    example: ['day', 'amount', 'metadata.orderId'],
  })
  @IsArray({ message: 'must be a list of names of columns' })
  @ArrayMinSize(1, { message: 'must name at least one column' })
  @ArrayMaxSize(MAX_COLUMNS, { message: `must name at most ${MAX_COLUMNS} columns` })
  @ArrayUnique({ message: 'must name each column once' })
  @IsString({ each: true, message: 'must be a list of names of columns' })
  columns?: string[];

  @OptionalField({ description: 'Of `sales` alone.', type: SaleFiltersDto })
  @Nested(() => SaleFiltersDto)
  filters?: SaleFiltersDto;
}
