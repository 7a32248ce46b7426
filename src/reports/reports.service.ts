import { Injectable, type OnModuleInit } from '@nestjs/common';
import { saoPauloDay, saoPauloMonthBounds } from '../brazil/index.js';
import { Clock, DAY_MS } from '../core/clock.js';
import { Database, type Tx } from '../core/database/index.js';
import { ApiError, invalidRequest, notFound, type Violation } from '../core/errors/index.js';
import { firstInstantOf, type IdCursorFilter, lastInstantOf } from '../core/http/index.js';
import { newId, parseId } from '../core/ids.js';
import { Logger } from '../core/log/index.js';
import type { Scope } from '../core/mode.js';
import { WorkService } from '../core/work/index.js';
import { ObjectStorage } from '../storage/index.js';
import { CustomerDataService } from '../transactions/index.js';
import type { CreateReportDto } from './dto/create-report.dto.js';
import { columnNames, isColumn } from './formats/columns.js';
import { readFilters } from './report-filters.js';
import type { ReportEntity, ReportFormat, ReportOrder, ReportType } from './report.entity.js';
import { ReportsRepository, type ReportUse } from './reports.repository.js';

const MAX_DAYS = 400;
/** Limits for one account and mode. */
const MAX_UNFINISHED = 5;
const MAX_BYTES = 2 * 1024 ** 3;
/** Even a small file takes a place in a directory: a new file replaces the oldest one. */
const MAX_FILES = 1_000;
/** No payment is older than this. */
const FIRST_FROM = new Date('2020-01-01T03:00:00Z');
const DOWNLOAD_SECONDS = 3_600;

const CONTENT_TYPES: Readonly<Record<ReportFormat, string>> = {
  csv: 'text/csv; charset=utf-8',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  pdf: 'application/pdf',
  ofx: 'application/x-ofx',
  journal: 'text/plain; charset=utf-8',
};

const TABLES: readonly ReportFormat[] = ['csv', 'xlsx'];
const FORMATS_OF: Readonly<Record<ReportType, readonly ReportFormat[]>> = {
  statement: [...TABLES, 'ofx', 'journal'],
  sales: TABLES,
  refunds: TABLES,
  disputes: TABLES,
  payouts: TABLES,
  closing: ['pdf', 'xlsx'],
  customers: TABLES,
  payment_links: TABLES,
  deliveries: TABLES,
};

/** A report with a link to its file, made for this answer; the link is null unless the report is ready. */
export interface ShownReport {
  readonly report: ReportEntity;
  readonly downloadUrl: string | null;
}

/** Orders and lists reports for merchants; `ReportMaker` makes the files. */
@Injectable()
export class ReportsService implements OnModuleInit {
  constructor(
    private readonly database: Database,
    private readonly reports: ReportsRepository,
    private readonly storage: ObjectStorage,
    private readonly work: WorkService,
    private readonly customers: CustomerDataService,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  onModuleInit(): void {
    // A file may name the customer who was just erased.
    this.customers.whenErased((accountId) => this.#endAll(accountId));
  }

  /** @throws ApiError 400 with every problem, 422 `report_limit_reached` */
  async create(scope: Scope, dto: CreateReportDto): Promise<ReportEntity> {
    const order = this.read(scope, dto);
    return this.database.transaction(async (tx) => {
      const use = await this.reports.lockUse(tx, scope);
      refuseTooMany(use);
      return this.#add(tx, order, use);
    });
  }

  /** Adds an order of the service itself, whatever files the account has. */
  async add(tx: Tx, order: ReportOrder): Promise<void> {
    await this.#add(tx, order, await this.reports.lockUse(tx, order));
  }

  /** @param use as locked by `tx` */
  async #add(tx: Tx, order: ReportOrder, use: ReportUse): Promise<ReportEntity> {
    if (use.files >= MAX_FILES) {
      const id = await this.reports.expireOldest(tx, order);
      if (id !== null) tx.afterCommit(() => void this.#forget(id));
    }
    const report = await this.reports.insert(tx, { ...order, id: newId(order.createdAt), status: 'pending' });
    // Other pending reports follow one by one, so that accounts take turns.
    if (use.unfinished === 0) this.work.add(tx, 'report', report.id, order.createdAt);
    return report;
  }

  /** Removes the file of a report; if this fails, it is repeated when the report's retention ends. */
  async #forget(id: string): Promise<void> {
    await this.storage.close(id, null).catch((error: unknown) => {
      this.logger.warn({ error, reportId: id }, 'the file of an old report was not removed yet');
    });
  }

  /** Validates a request for a report. @throws ApiError 400 with every problem */
  read(scope: Scope, { type, format, locale, from, to, columns, filters }: CreateReportDto): ReportOrder {
    const createdAt = this.clock.now();
    const window = { from: firstInstantOf(from), to: lastInstantOf(to) };
    const violations: Violation[] = [];
    const refuse = (param: string, message: string, code = 'invalid'): void => {
      violations.push({ param, code, message });
    };
    const isTable = TABLES.includes(format);
    const formats = FORMATS_OF[type];
    if (!formats.includes(format)) refuse('format', `must be ${formats.join(' or ')} for this type`);
    if (type === 'closing' && !isMonth(window)) refuse('to', 'must end the month that from begins');
    if (type === 'closing' && columns !== undefined) refuse('columns', 'are fixed in a closing: leave them out');
    if (locale !== undefined && !isTable) refuse('locale', 'is of csv and xlsx: leave it out');
    if (window.from < FIRST_FROM) refuse('from', 'must not be before 2020');
    if (window.from.getTime() > createdAt.getTime() + DAY_MS) refuse('from', 'must not be in the future');
    if (window.to < window.from) refuse('to', 'must not be before from');
    if (window.to.getTime() - window.from.getTime() > MAX_DAYS * DAY_MS) {
      refuse('to', `must be at most ${MAX_DAYS} days after from`);
    }
    if (columns !== undefined && !isTable) refuse('columns', 'are of csv and xlsx: leave them out');
    const read = readFilters(type, filters, refuse);
    if (read !== null && !isTable) refuse('filters', 'are of csv and xlsx: leave them out');
    for (const name of columns ?? []) {
      if (isColumn(type, name)) continue;
      const known = columnNames(type).join(', ');
      refuse('columns', `names a column that is none of ${known} or metadata.<key>`, 'unknown');
      break;
    }
    if (violations.length > 0) throw invalidRequest(violations);
    const { accountId, mode } = scope;
    return {
      ...{ accountId, mode, type, format, locale: locale ?? null, ...window, columns: columns ?? null, createdAt },
      filters: read,
    };
  }

  /** @throws ApiError 404, 503 */
  async get({ accountId, mode }: Scope, text: string): Promise<ShownReport> {
    const report = await this.reports.find(parseId(text, ['rep_'], 'report'));
    if (!report || report.accountId !== accountId || report.mode !== mode) throw notFound('report');
    return { report, downloadUrl: await this.#downloadUrl(report) };
  }

  /** Newest first. */
  list(scope: Scope, filter: IdCursorFilter): Promise<ReportEntity[]> {
    return this.reports.list(scope, filter);
  }

  async #endAll(accountId: string): Promise<void> {
    const ids = await this.database.transaction((tx) => this.reports.expireAll(tx, accountId));
    for (const id of ids) await this.storage.close(id, null);
  }

  async #downloadUrl(report: ReportEntity): Promise<string | null> {
    const { status, objectName: name, format, type, mode, from, to } = report;
    if (status !== 'ready' || name === null) return null;
    const what = mode === 'test' ? `test-${type}` : type;
    const fileName = `recebe-${what}-${saoPauloDay(from)}-${saoPauloDay(to)}.${format}`;
    return this.storage.downloadUrl({ name, contentType: CONTENT_TYPES[format], fileName }, DOWNLOAD_SECONDS);
  }
}

/** Whether the window is a calendar month of São Paulo. */
function isMonth({ from, to }: { readonly from: Date; readonly to: Date }): boolean {
  const month = saoPauloMonthBounds(saoPauloDay(from).slice(0, 7));
  return from.getTime() === month.from.getTime() && to.getTime() === month.to.getTime() - 1;
}

/** @throws ApiError 422 */
function refuseTooMany({ unfinished, size, expiresAt }: ReportUse): void {
  const refuse = (message: string): ApiError => new ApiError(422, 'business_error', 'report_limit_reached', message);
  if (unfinished >= MAX_UNFINISHED) {
    throw refuse(`${unfinished} reports are still being made, and no more at once; repeat this when one is ready.`);
  }
  if (size >= MAX_BYTES) {
    throw refuse(
      `The files of your reports have ${size} bytes, and at most ${MAX_BYTES} are kept; the next one ends ${expiresAt?.toISOString() ?? 'soon'}.`,
    );
  }
}
