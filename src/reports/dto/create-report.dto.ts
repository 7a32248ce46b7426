import { ArrayMaxSize, ArrayMinSize, ArrayUnique, IsArray, IsString } from 'class-validator';
import {
  DAY_OR_INSTANT,
  IsDayOrInstant,
  IsIdOf,
  Nested,
  OptionalEnum,
  OptionalField,
  OptionalText,
  RequiredEnum,
  RequiredField,
} from '../../core/http/index.js';
import { CURRENCY_FORM, IsCurrencyCode, MERCHANT_BUCKETS } from '../../wallets/index.js';
import { METADATA_COLUMN } from '../formats/columns.js';
import { FILTER_STATUSES, FILTER_TYPES } from '../report-filters.js';
import {
  REPORT_FORMATS,
  REPORT_LOCALES,
  REPORT_TYPES,
  SALE_BASES,
  type ReportFormat,
  type ReportLocale,
  type ReportType,
  type SaleBasis,
} from '../report.entity.js';

const MAX_COLUMNS = 50;

/** Filters that select the rows of the file, named as in the list of the same rows. Each type has its own. */
export class ReportFiltersDto {
  @OptionalEnum(
    'Of `sales`: which time has to be in the window: that of the payment, or that of the creation, with what was not paid too.',
    SALE_BASES,
    { default: 'paid' },
  )
  basis?: SaleBasis;

  @OptionalEnum(
    'Of `sales`, `disputes`, `payouts`, `payment_links` and `deliveries`: only those of this status, one that the list has.',
    FILTER_STATUSES,
  )
  status?: string;

  @OptionalText(
    'Of `sales` and `customers`: only what `query` of `GET /v1/payments` finds, all of it.',
    2,
    200,
    'maria',
  )
  query?: string;

  @OptionalEnum('Of `statement` and `disputes`: only those of this type, one that the list has.', FILTER_TYPES)
  type?: string;

  @OptionalEnum('Of `statement`: only lines of this balance.', MERCHANT_BUCKETS)
  bucket?: string;

  @OptionalField({ description: 'Of `statement`: only lines of this currency.', ...CURRENCY_FORM, example: 'BRL' })
  @IsCurrencyCode()
  currency?: string;

  @OptionalField({
    description: 'Of `payouts`: only those to this saved destination.',
    example: 'pd_019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12',
  })
  @IsIdOf('the id of a payout destination', 'pd_')
  destination?: string;

  @OptionalField({
    description: 'Of `deliveries`: only those to this endpoint.',
    example: 'wh_019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12',
  })
  @IsIdOf('the id of an endpoint', 'wh_')
  endpointId?: string;
}

/** Body of `POST /v1/reports`. The service checks which fields go together, because the command line uses it too. */
export class CreateReportDto {
  @RequiredEnum(
    '`statement`: every line of the wallet, with the balance after it. `sales`: what was paid in the window, or what `filters` say. `refunds`, `disputes`, `payouts`, `payment_links`, `deliveries` (of webhooks): what was created in it. `customers`: who paid in it, with the sums of these sales, a row for each currency. `closing`: the balances before and after a month of São Paulo, and what moved them.',
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

  @OptionalField({
    description: 'The filters of the list of the same rows. `refunds` and `closing` have none.',
    type: ReportFiltersDto,
  })
  @Nested(() => ReportFiltersDto)
  filters?: ReportFiltersDto;
}
