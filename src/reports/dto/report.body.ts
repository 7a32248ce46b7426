import { ApiProperty } from '@nestjs/swagger';
import { CursorListOf, EnumOf, Integer, NullableInteger, NullableTime, Text, Time } from '../../core/http/index.js';
import {
  REPORT_FORMATS,
  REPORT_LOCALES,
  REPORT_STATUSES,
  REPORT_TYPES,
  SALE_BASES,
  type ReportFilters,
  type ReportFormat,
  type ReportLocale,
  type ReportStatus,
  type ReportType,
} from '../report.entity.js';

const ID = 'rep_019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12';

const FILTER = (description: string, example: string): object => ({
  ...{ description, example },
  ...{ type: 'string', nullable: true },
});

export class ReportBody {
  @Text('Of the report.', ID) id!: string;
  @EnumOf('Kind of object.', ['report']) object!: 'report';
  @EnumOf('What it is of.', REPORT_TYPES) type!: ReportType;
  @EnumOf('Of the file.', REPORT_FORMATS) format!: ReportFormat;
  @ApiProperty({
    description: 'How the file writes numbers, days and words; null: as the API does.',
    type: String,
    enum: [...REPORT_LOCALES, null],
    nullable: true,
    example: 'pt-BR',
  })
  locale!: ReportLocale | null;
  @Time('First millisecond of the window, UTC.', '2026-11-01T03:00:00.000Z') from!: string;
  @Time('Last millisecond of the window, UTC.', '2026-12-01T02:59:59.999Z') to!: string;
  @ApiProperty({
    description: 'Of a CSV or spreadsheet, in their order; null: all of them.',
    type: [String],
    nullable: true,
    example: ['day', 'amount', 'metadata.orderId'],
  })
  columns!: readonly string[] | null;
  @ApiProperty({
    description: 'The filters of its type, with null for each that is not set; null without any.',
    type: 'object',
    nullable: true,
    properties: {
      basis: { description: 'Of sales: which time is in the window.', type: 'string', enum: SALE_BASES },
      status: FILTER('Only those of this status.', 'PAID'),
      query: FILTER('Only what this finds. Null in events, and once a customer of the account was erased.', 'maria'),
      type: FILTER('Only those of this type.', 'sale'),
      bucket: FILTER('Only lines of this balance.', 'available'),
      currency: FILTER('Only lines of this currency.', 'BRL'),
      destination: FILTER('Only payouts to this destination.', 'pd_019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12'),
      endpointId: FILTER('Only deliveries to this endpoint.', 'wh_019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12'),
    },
    example: { basis: 'paid', status: 'PAID', query: 'maria' },
  })
  filters!: ReportFilters | null;
  @EnumOf(
    '`pending`, then `processing`, then `ready` or `failed`; `expired` once its file has been removed.',
    REPORT_STATUSES,
  )
  status!: ReportStatus;
  @Integer('Rows written by now.', 1200) rows!: number;
  @ApiProperty({ description: 'The part of the rows that is written, 0 to 1.', type: Number, example: 1 })
  progress!: number;
  @NullableInteger('Bytes of the file; null before.', 204800) size!: number | null;
  @ApiProperty({
    description:
      'Signed link to the file, good for an hour; every answer of `GET /v1/reports/{id}` has a new one. Null unless ready, and in events and lists.',
    type: String,
    format: 'uri',
    nullable: true,
    example: 'https://pay.example.com/storage/objects/a7/019aa0f0?expires=1764594000&signature=l2Xw',
  })
  download_url!: string | null;
  @Time('UTC.', '2026-12-01T12:00:00.000Z') created_at!: string;
  @NullableTime('When its file was done, UTC; null before.', '2026-12-01T12:00:00.000Z') ready_at!: string | null;
  @NullableTime('When its file is removed, UTC; null before it is ready.', '2026-12-01T12:00:00.000Z')
  expires_at!: string | null;
}

export class ReportListBody extends CursorListOf(ReportBody, ID) {}
