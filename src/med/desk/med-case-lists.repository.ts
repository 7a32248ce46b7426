import { Injectable } from '@nestjs/common';
import { Reader, type ReadStatement, read } from '../../core/database/index.js';
import type { CursorFilter, IdCursorFilter } from '../../core/http/index.js';
import { idRange } from '../../core/ids.js';
import type { Mode, Scope } from '../../core/mode.js';
import { OperatorQueues } from '../../core/operator-queues.js';
import { COUNT_LIMIT, type CurrencyTotal, totalsOf } from '../../core/totals.js';
import { customerKey } from '../../transactions/index.js';
import type { MedCase, MedReview } from '../cases/med-case.js';
import type { MedCaseStatus, MedCaseType } from '../cases/med-cases.machine.js';
import { MED_CASE_COLUMNS } from '../cases/med-cases.repository.js';

export interface MedCaseFilter extends CursorFilter {
  readonly status: MedCaseStatus | null;
  readonly type: MedCaseType | null;
  /** Charges whose cases are listed; null: all. */
  readonly transactionIds: readonly string[] | null;
  /** The last case of the page before, in the order of the list; null for the first page. */
  readonly after: Pick<MedCase, 'createdAt' | 'responseDeadline' | 'id'> | null;
}

export interface ReviewQueueFilter extends IdCursorFilter {
  readonly mode: Mode | null;
  readonly review: MedReview | null;
}

/** The filters of a statement. Each combination has its own statement, so that the planner knows which index to use. */
interface Shape {
  readonly byStatus: boolean;
  readonly byType: boolean;
  readonly byCharge: boolean;
}

const list = ({ byStatus, byType, byCharge }: Shape): ReadStatement => {
  const own = `c.account_id = $1 AND c.mode = $2 AND c.visible`;
  const equal = (column: string, wanted: boolean, parameter: number): string =>
    wanted ? ` AND c.${column} = $${parameter}` : ` AND $${parameter}::text IS NULL`;
  // OFFSET 0: a charge has a handful of cases, which are found by the charge and not by reading all of the account's.
  const source = byCharge
    ? `(SELECT * FROM med_cases c WHERE ${own} AND c.transaction_id = ANY ($10::uuid[]) OFFSET 0) c WHERE true`
    : `med_cases c WHERE ${own} AND $10::uuid[] IS NULL`;
  const name = [byStatus ? 'status' : '', byType ? 'type' : '', byCharge ? 'charge' : ''].filter((part) => part !== '');
  return read(
    `med_cases.list${name.map((part) => `_${part}`).join('')}`,
    `SELECT ${MED_CASE_COLUMNS} FROM ${source}${equal('status', byStatus, 8)}${equal('type', byType, 9)}
       AND c.created_at > $3 AND c.created_at < $4 AND (c.created_at, c.id) < ($5::timestamptz, $6::uuid)
     ORDER BY c.created_at DESC, c.id DESC LIMIT $7`,
  );
};
/**
 * Lists open cases only, the nearest deadline first, cases without a deadline last. All filters share one order and one
 * index, because an account has few open cases.
 */
const OPEN_BY_DEADLINE = read(
  'med_cases.open_by_deadline',
  `SELECT ${MED_CASE_COLUMNS} FROM med_cases c
   WHERE c.account_id = $1 AND c.mode = $2 AND c.visible AND c.status = 'open'
     AND c.created_at > $3 AND c.created_at < $4
     AND (coalesce(c.response_deadline, 'infinity'), c.id) > ($5::timestamptz, $6::uuid)
     AND ($8::text IS NULL OR c.type = $8) AND ($9::uuid[] IS NULL OR c.transaction_id = ANY ($9))
   ORDER BY coalesce(c.response_deadline, 'infinity'), c.id LIMIT $7`,
);

/** $3 any sale of the customer. */
const SALES_OF_CUSTOMER = read(
  'med_cases.sales_of_customer',
  `SELECT DISTINCT t.id FROM transactions t JOIN med_cases c ON c.transaction_id = t.id
   WHERE t.account_id = $1 AND t.mode = $2 AND t.paid_at IS NOT NULL AND ${customerKey('t')} = (
     SELECT ${customerKey('s')} FROM transactions s WHERE s.account_id = $1 AND s.mode = $2 AND s.id = $3)`,
);

const EITHER = [false, true];
const LISTS = new Map(
  EITHER.flatMap((byStatus) =>
    EITHER.flatMap((byType) =>
      EITHER.map((byCharge) => [keyOf({ byStatus, byType, byCharge }), list({ byStatus, byType, byCharge })] as const),
    ),
  ),
);
const TOTALS = new Map([...LISTS].map(([key, statement]) => [key, totalsOf(statement)]));

const QUEUE = read(
  'med_cases.queue',
  `SELECT ${MED_CASE_COLUMNS} FROM med_cases c
   WHERE c.review IS NOT NULL AND c.id < coalesce($1::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
     AND c.id >= $2::uuid AND c.id <= $3::uuid AND ($5::text IS NULL OR c.mode = $5) AND ($6::text IS NULL OR c.review = $6)
   ORDER BY c.id DESC LIMIT $4`,
);

const COUNT = read(
  'med_cases.count',
  'SELECT count(*)::int AS waiting, min(c.applied_at) AS since FROM med_cases c WHERE c.review IS NOT NULL',
);

@Injectable()
export class MedCaseListsRepository {
  constructor(
    private readonly reader: Reader,
    queues: OperatorQueues,
  ) {
    queues.register('med', COUNT);
  }

  /** Lists the cases that the merchant sees, newest first. The bounds of time are exclusive. */
  async list(scope: Scope, filter: MedCaseFilter): Promise<MedCase[]> {
    return this.#query(LISTS, scope, filter);
  }

  /** The sales with cases of a customer, who is named by the id of any of the sales. */
  async salesOfCustomer({ accountId, mode }: Scope, id: string): Promise<string[]> {
    const rows = await this.reader.query<{ id: string }>(SALES_OF_CUSTOMER, [accountId, mode, id]);
    return rows.map((row) => row.id);
  }

  /** Counts what the list has, at most `COUNT_LIMIT`. */
  async totals(scope: Scope, filter: Omit<MedCaseFilter, 'after'>): Promise<CurrencyTotal[]> {
    return this.#query(TOTALS, scope, { ...filter, after: null, limit: COUNT_LIMIT });
  }

  async #query<R extends object>(
    statements: ReadonlyMap<string, ReadStatement>,
    scope: Scope,
    filter: MedCaseFilter,
  ): Promise<R[]> {
    const { status, type, transactionIds, after, createdFrom, createdTo, limit } = filter;
    const wanted = statements.get(
      keyOf({ byStatus: status !== null, byType: type !== null, byCharge: transactionIds !== null }),
    );
    if (!wanted) throw new Error('There is a statement for each combination of filters');
    return this.reader.query(wanted, [
      scope.accountId,
      scope.mode,
      createdFrom ?? '-infinity',
      createdTo ?? 'infinity',
      after?.createdAt ?? 'infinity',
      after?.id ?? 'ffffffff-ffff-ffff-ffff-ffffffffffff',
      limit,
      status,
      type,
      transactionIds,
    ]);
  }

  /** Lists the cases that the merchant has to answer, the most urgent first. */
  async openByDeadline(scope: Scope, filter: Omit<MedCaseFilter, 'status'>): Promise<MedCase[]> {
    const { type, transactionIds, after, createdFrom, createdTo, limit } = filter;
    return this.reader.query(OPEN_BY_DEADLINE, [
      scope.accountId,
      scope.mode,
      createdFrom ?? '-infinity',
      createdTo ?? 'infinity',
      after === null ? '-infinity' : (after.responseDeadline ?? 'infinity'),
      after?.id ?? '00000000-0000-0000-0000-000000000000',
      limit,
      type,
      transactionIds,
    ]);
  }

  /** Lists cases that wait for an operator, newest first. */
  async queue({ before, createdFrom, createdTo, limit, mode, review }: ReviewQueueFilter): Promise<MedCase[]> {
    const wanted = [before, ...idRange(createdFrom, createdTo), limit, mode, review];
    return this.reader.query(QUEUE, wanted);
  }
}

function keyOf({ byStatus, byType, byCharge }: Shape): string {
  return [byStatus, byType, byCharge].join();
}
