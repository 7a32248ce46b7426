import { Injectable } from '@nestjs/common';
import { columnsOf, insertInto, lockDue, Reader, read, write, type Tx, updateOf } from '../../core/database/index.js';
import type { Scope } from '../../core/mode.js';
import { MedCaseEntity as MedCase } from './med-case.entity.js';
import type { MedCaseStatus } from './med-cases.machine.js';

/** The select list of a case under the alias `c`. */
export const MED_CASE_COLUMNS = columnsOf(MedCase, 'c');

const FIND = read(
  'med_cases.find',
  `SELECT ${MED_CASE_COLUMNS} FROM med_cases c WHERE c.id = $1 AND c.account_id = $2 AND c.mode = $3 AND c.visible`,
);
const LOCK_OWN = write(
  'med_cases.lock_own',
  `SELECT ${MED_CASE_COLUMNS} FROM med_cases c
   WHERE c.id = $1 AND c.account_id = $2 AND c.mode = $3 AND c.visible FOR UPDATE`,
);
const FIND_ANY = read('med_cases.find_any', `SELECT ${MED_CASE_COLUMNS} FROM med_cases c WHERE c.id = $1`);
const FIND_ALL = read(
  'med_cases.find_all',
  `SELECT ${MED_CASE_COLUMNS} FROM med_cases c WHERE c.id = ANY ($1::uuid[])`,
);
const LOCK_ALL = write(
  'med_cases.lock_all',
  `SELECT ${MED_CASE_COLUMNS} FROM med_cases c WHERE c.transaction_id = $1 ORDER BY c.id FOR UPDATE`,
);
const IS_UNDERWAY = read(
  'med_cases.is_underway',
  `SELECT EXISTS (
     SELECT 1 FROM med_cases c JOIN transactions t ON t.id = c.transaction_id AND t.end_to_end_id = c.payment_reference
     WHERE c.transaction_id = $1 AND c.visible AND c.status IN ('open', 'appealed') AND t.paid_at IS NOT NULL) AS "isUnderway"`,
);
const INSERT = insertInto('med_cases.insert', MedCase);
/** Writes all fields that ever change, except the count of evidence, which `COUNT_EVIDENCE` writes. */
const CHANGE = updateOf('med_cases.change', MedCase, {
  without: [
    ...(['id', 'accountId', 'mode', 'transactionId', 'acquirer', 'reference', 'type', 'currency', 'openedAt'] as const),
    'evidenceCount',
  ],
  first: 3,
  after: 'WHERE id = $1 AND status = $2 RETURNING 1',
});
const COUNT_EVIDENCE = write(
  'med_cases.count_evidence',
  'UPDATE med_cases SET evidence_count = evidence_count + $3, updated_at = $2 WHERE id = $1',
);
/** Locks due cases, so that only one of several workers sends each notice. */
const LOCK_DUE = write('med_cases.lock_due', lockDue(MED_CASE_COLUMNS, 'med_cases c', { dueAt: 'c.deadline_due_at' }));
const SCHEDULE = write('med_cases.schedule', 'UPDATE med_cases SET deadline_due_at = $2 WHERE id = $1');

@Injectable()
export class MedCasesRepository {
  constructor(private readonly reader: Reader) {}

  /**
   * Returns whether the credited payment of the transaction has a visible open case. Not locked.
   * @param tx to read in; null: outside of any
   */
  async isUnderway(tx: Tx | null, transactionId: string): Promise<boolean> {
    const [row] = await (tx ?? this.reader).query<{ isUnderway: boolean }>(IS_UNDERWAY, [transactionId]);
    return row?.isUnderway ?? false;
  }

  async find(scope: Scope, id: string): Promise<MedCase | null> {
    return this.reader.first<MedCase>(FIND, [id, scope.accountId, scope.mode]);
  }

  /** Locks a case for a merchant's request. @returns null also for a hidden case */
  async lockOwn(tx: Tx, scope: Scope, id: string): Promise<MedCase | null> {
    return tx.first<MedCase>(LOCK_OWN, [id, scope.accountId, scope.mode]);
  }

  /** Reads across accounts, hidden cases too: never for a merchant's request. */
  async findAny(id: string): Promise<MedCase | null> {
    return this.reader.first<MedCase>(FIND_ANY, [id]);
  }

  /** Reads across accounts, for workers; in no particular order and not locked. */
  async findAll(tx: Tx, ids: readonly string[]): Promise<MedCase[]> {
    return tx.query(FIND_ALL, [ids]);
  }

  /** Locks all cases of a transaction, in the order in which they came; the caller holds the transaction's lock. */
  async lockAll(tx: Tx, transactionId: string): Promise<MedCase[]> {
    return tx.query(LOCK_ALL, [transactionId]);
  }

  /** Inserts a case. A dispute seen before fails the transaction: unique violation of `med_cases_reference_key`. */
  insert(tx: Tx, c: MedCase): void {
    tx.defer(INSERT, INSERT.valuesOf(c));
  }

  /**
   * Writes the changed fields of a case whose lock the caller holds.
   * @param from the status in which it was read
   * @throws Error when it was moved meanwhile: the lock was not held
   */
  async change(tx: Tx, c: MedCase, from: MedCaseStatus): Promise<void> {
    const changed = await tx.query(CHANGE, [c.id, from, ...CHANGE.valuesOf(c)]);
    if (changed.length === 0) throw new Error(`The case ${c.id} was moved while it was locked`);
  }

  /** Counts evidence; the caller holds the case's lock. */
  countEvidence(tx: Tx, id: string, change: 1 | -1, at: Date): void {
    tx.defer(COUNT_EVIDENCE, [id, at, change]);
  }

  /** Locks cases whose deadline notice is due, and skips those that other workers have locked. */
  async lockDue(tx: Tx, now: Date, limit: number): Promise<MedCase[]> {
    return tx.query(LOCK_DUE, [now, limit]);
  }

  schedule(tx: Tx, id: string, deadlineDueAt: Date | null): void {
    tx.defer(SCHEDULE, [id, deadlineDueAt]);
  }
}
