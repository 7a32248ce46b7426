import { Injectable } from '@nestjs/common';
import {
  columnsOf,
  insertInto,
  read,
  Reader,
  type ReadStatement,
  type Tx,
  write,
  writeRows,
} from '../core/database/index.js';
import type { IdCursorFilter } from '../core/http/index.js';
import { timeOfId } from '../core/ids.js';
import type { Mode } from '../core/mode.js';
import { RequestLogEntity as RequestLog } from './request-log.entity.js';

export interface RequestLogFilter extends IdCursorFilter {
  readonly mode: Mode | null;
  readonly apiKeyFingerprint: string | null;
  readonly route: string | null;
  readonly status: number | null;
  readonly requestId: string | null;
}

/** Losing the last of these rows in a crash is accepted, so their commits do not wait for the disk. */
const MAY_BE_LOST = write('request_logs.may_be_lost', `SELECT set_config('synchronous_commit', 'off', true)`);
/** A batch may come twice: when it is not known whether the first time arrived. */
const INSERT = insertInto('request_logs.insert', RequestLog, { after: 'ON CONFLICT DO NOTHING' });
const ADD_DAYS = write('request_logs.add_days', 'SELECT request_logs_add_days($1::date[])');
const DROP_BEFORE = write('request_logs.drop_before', 'SELECT request_logs_drop_before($1::date)');

const COLUMNS = columnsOf(RequestLog, 'request_logs');
/** The bounds on created_at name the partitions that are looked into. */
const WANTED = `account_id = $1
     AND created_at >= coalesce($2, '-infinity'::timestamptz) AND created_at <= coalesce($3, 'infinity'::timestamptz)
     AND (created_at, id) < (coalesce($4, 'infinity'::timestamptz), coalesce($5::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
     AND ($6::text IS NULL OR mode = $6) AND ($7::text IS NULL OR api_key_fingerprint = $7)
     AND ($8::text IS NULL OR route = $8) AND ($9::integer IS NULL OR status = $9)
     AND ($10::text IS NULL OR request_id = $10)`;
const list = (name: string, more: string): ReadStatement =>
  read(
    `request_logs.${name}`,
    `SELECT ${COLUMNS} FROM request_logs WHERE ${WANTED} ${more} ORDER BY created_at DESC, id DESC LIMIT $11`,
  );
const LIST = list('list', '');
/** Separate statements whose condition is always set, so that each is planned over its own index. */
const LIST_OF_REQUEST = list('list_of_request', 'AND request_id = $10');
const LIST_OF_KEY = list('list_of_key', 'AND api_key_fingerprint = $7');
const LIST_OF_ERRORS = list('list_of_errors', 'AND status >= 400 AND status = $9');

@Injectable()
export class RequestLogsRepository {
  constructor(private readonly reader: Reader) {}

  /** Fails with `isPartitionMissing` when the day of a row was not added. */
  insert(tx: Tx, rows: readonly RequestLog[]): void {
    tx.defer(MAY_BE_LOST, []);
    writeRows(tx, INSERT, rows);
  }

  /** @param days UTC, as `2026-11-21`; one that is there already is left as it is */
  addDays(tx: Tx, days: readonly string[]): void {
    tx.defer(ADD_DAYS, [days]);
  }

  /** Fails by a lock time-out rather than keep others waiting. */
  dropBefore(tx: Tx, firstKeptDay: string): void {
    tx.defer(DROP_BEFORE, [firstKeptDay]);
  }

  /** Newest first. */
  async list(accountId: string, filter: RequestLogFilter): Promise<RequestLog[]> {
    return this.reader.query(statementFor(filter), [
      accountId,
      filter.createdFrom,
      filter.createdTo,
      filter.before === null ? null : timeOfId(filter.before),
      filter.before,
      filter.mode,
      filter.apiKeyFingerprint,
      filter.route,
      filter.status,
      filter.requestId,
      filter.limit,
    ]);
  }
}

function statementFor({ requestId, apiKeyFingerprint, status }: RequestLogFilter): ReadStatement {
  if (requestId !== null) return LIST_OF_REQUEST;
  if (apiKeyFingerprint !== null) return LIST_OF_KEY;
  return status !== null && status >= 400 ? LIST_OF_ERRORS : LIST;
}
