import { ApiProperty } from '@nestjs/swagger';
import { CursorListOf } from '../../core/http/index.js';
import { TRANSACTION_STATUSES, type TransactionStatus } from '../../transactions/index.js';
import {
  REPORT_FORMATS,
  REPORT_STATUSES,
  REPORT_TYPES,
  SALE_BASES,
  type ReportFormat,
  type ReportStatus,
  type ReportType,
} from '../report.entity.js';

const ID = 'rep_019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12';
const TIME = { format: 'date-time', example: '2026-12-01T12:00:00.000Z' };
const LATER = { ...TIME, type: String, nullable: true };

interface ReportFiltersBody {
  readonly basis: (typeof SALE_BASES)[number];
  readonly status: TransactionStatus | null;
  readonly query: string | null;
}

export class ReportBody {
  @ApiProperty({ description: 'Of the report.', example: ID }) id!: string;
  @ApiProperty({ description: 'Kind of object.', enum: ['report'] }) object!: 'report';
  @ApiProperty({ description: 'What it is of.', enum: REPORT_TYPES }) type!: ReportType;
  @ApiProperty({ description: 'Of the file.', enum: REPORT_FORMATS }) format!: ReportFormat;
  @ApiProperty({ ...TIME, description: 'First millisecond of the window, UTC.', example: '2026-11-01T03:00:00.000Z' })
  from!: string;
  @ApiProperty({ ...TIME, description: 'Last millisecond of the window, UTC.', example: '2026-12-01T02:59:59.999Z' })
  to!: string;
  @ApiProperty({
    description: 'Of a CSV, in their order; null: all of them.',
    type: [String],
    nullable: true,
    example: ['day', 'amount', 'metadata.orderId'],
  })
  columns!: readonly string[] | null;
  @ApiProperty({
    description: 'Of `sales`; null: all that were paid.',
    type: 'object',
    nullable: true,
    required: ['basis', 'status', 'query'],
    properties: {
      basis: { description: 'Which time is in the window.', type: 'string', enum: SALE_BASES, example: 'paid' },
      status: {
        description: 'Only sales of this status.',
        type: 'string',
        enum: [...TRANSACTION_STATUSES, null],
        nullable: true,
        example: 'PAID',
      },
      query: {
        description: 'Only what this finds. Null in events, and once a customer of the account was erased.',
        type: 'string',
        nullable: true,
        example: 'maria',
      },
    },
    example: { basis: 'paid', status: 'PAID', query: 'maria' },
  })
  filters!: ReportFiltersBody | null;
  @ApiProperty({
    description: '`pending`, then `processing`, then `ready` or `failed`; `expired` once its file has been removed.',
    enum: REPORT_STATUSES,
  })
  status!: ReportStatus;
  @ApiProperty({ description: 'Rows written by now.', type: 'integer', example: 1200 }) rows!: number;
  @ApiProperty({ description: 'The part of the rows that is written, 0 to 1.', type: Number, example: 1 })
  progress!: number;
  @ApiProperty({ description: 'Bytes of the file; null before.', type: 'integer', nullable: true, example: 204800 })
  size!: number | null;
  @ApiProperty({
    description:
      'Signed link to the file, good for an hour; every answer of `GET /v1/reports/{id}` has a new one. Null unless ready, and in events and lists.',
    type: String,
    format: 'uri',
    nullable: true,
    example: 'https://pay.example.com/storage/objects/…?expires=1764594000&signature=…',
  })
  download_url!: string | null;
  @ApiProperty({ ...TIME, description: 'UTC.' }) created_at!: string;
  @ApiProperty({ ...LATER, description: 'When its file was done, UTC; null before.' }) ready_at!: string | null;
  @ApiProperty({ ...LATER, description: 'When its file is removed, UTC; null before it is ready.' })
  expires_at!: string | null;
}

export class ReportListBody extends CursorListOf(ReportBody, ID) {}
