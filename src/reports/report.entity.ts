import { Column, Entity, PrimaryColumn } from 'typeorm';
import { NotPersonal } from '../core/database/index.js';
import type { Mode } from '../core/mode.js';

export const REPORT_TYPES = [
  ...(['statement', 'sales', 'refunds', 'disputes', 'payouts', 'closing'] as const),
  ...(['customers', 'payment_links', 'deliveries'] as const),
] as const;
export type ReportType = (typeof REPORT_TYPES)[number];

export const REPORT_FORMATS = ['csv', 'xlsx', 'pdf', 'ofx', 'journal'] as const;
export type ReportFormat = (typeof REPORT_FORMATS)[number];

/** How a file writes numbers, days and words; without one as the API does. */
export const REPORT_LOCALES = ['pt-BR'] as const;
export type ReportLocale = (typeof REPORT_LOCALES)[number];

/** `expired`: its file was removed, after its retention or because a customer of the account was erased. */
export const REPORT_STATUSES = ['pending', 'processing', 'ready', 'failed', 'expired'] as const;
export type ReportStatus = (typeof REPORT_STATUSES)[number];

/** The time of a sale that decides whether the sale is in the window. */
export const SALE_BASES = ['paid', 'created'] as const;

export type SaleBasis = (typeof SALE_BASES)[number];

/** Filters that select the rows of the file, as in the list of the same rows. Null: not set. `FILTERS_OF` has each type's. */
export interface ReportFilters {
  readonly basis?: SaleBasis | null;
  readonly status?: string | null;
  /** The query may name a customer: it is erased with the file when a customer is erased. */
  readonly query?: string | null;
  readonly type?: string | null;
  readonly bucket?: string | null;
  readonly currency?: string | null;
  readonly destination?: string | null;
  readonly endpointId?: string | null;
}

/** A file that a merchant ordered. */
@NotPersonal('orders of files; the files end when a customer is erased')
@Entity('reports')
export class ReportEntity {
  /** The id is also the key of the file in the object storage. */
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'reports_pkey' }) readonly id!: string;
  @Column('uuid', { name: 'account_id' }) readonly accountId!: string;
  @Column('text') readonly mode!: Mode;
  @Column('text') readonly type!: ReportType;
  @Column('text') readonly format!: ReportFormat;
  /** Null: as in the API. */
  @Column('text', { nullable: true }) readonly locale!: ReportLocale | null;
  /** First and last millisecond of the window. */
  @Column('timestamptz', { name: 'window_from' }) readonly from!: Date;
  @Column('timestamptz', { name: 'window_to' }) readonly to!: Date;
  /** The columns of a CSV or spreadsheet, in their order; null: all columns. */
  @Column('text', { array: true, nullable: true }) readonly columns!: readonly string[] | null;
  @Column('jsonb', { nullable: true }) readonly filters!: ReportFilters | null;
  @Column('text') readonly status!: ReportStatus;
  /** Rows written so far. */
  @Column('bigint', { default: 0 }) readonly rows!: number;
  /** Expected number of rows, counted when the report began; null before. */
  @Column('bigint', { name: 'total_rows', nullable: true }) readonly totalRows!: number | null;
  /** Size in bytes. */
  @Column('bigint', { nullable: true }) readonly size!: number | null;
  /** The name of the file in the object storage. */
  @Column('text', { name: 'object_name', nullable: true }) readonly objectName!: string | null;
  @Column('timestamptz', { name: 'created_at' }) readonly createdAt!: Date;
  @Column('timestamptz', { name: 'ready_at', nullable: true }) readonly readyAt!: Date | null;
  /** When its file is removed. */
  @Column('timestamptz', { name: 'expires_at', nullable: true }) readonly expiresAt!: Date | null;
}

/** The request for a report, without its progress. */
export type ReportOrder = Pick<
  ReportEntity,
  'accountId' | 'mode' | 'type' | 'format' | 'locale' | 'from' | 'to' | 'columns' | 'filters' | 'createdAt'
>;
