import { Injectable } from '@nestjs/common';
import { Reader, statement, type Tx } from '../core/database/index.js';
import type { Scope } from '../core/mode.js';
import type { MedCase } from './med-case.js';
import { MED_CASE_COLUMNS, type MedCaseRow, toMedCase } from './med-case.rows.js';

const FIND = statement(
  'med_cases.find',
  `SELECT ${MED_CASE_COLUMNS} FROM med_cases c WHERE c.id = $1 AND c.account_id = $2 AND c.mode = $3 AND c.visible`,
);
const LOCK_OWN = statement(
  'med_cases.lock_own',
  `SELECT ${MED_CASE_COLUMNS} FROM med_cases c
   WHERE c.id = $1 AND c.account_id = $2 AND c.mode = $3 AND c.visible FOR UPDATE`,
);
const COUNT_EVIDENCE = statement(
  'med_cases.count_evidence',
  'UPDATE med_cases SET evidence_count = evidence_count + 1, updated_at = $2 WHERE id = $1',
);

@Injectable()
export class MedCasesRepository {
  constructor(private readonly reader: Reader) {}

  async find(scope: Scope, id: string): Promise<MedCase | null> {
    const [row] = await this.reader.query<MedCaseRow>(FIND, [id, scope.accountId, scope.mode]);
    return row ? toMedCase(row) : null;
  }

  /** For a merchant's request: null also for what it cannot see. */
  async lockOwn(tx: Tx, scope: Scope, id: string): Promise<MedCase | null> {
    const [row] = await tx.query<MedCaseRow>(LOCK_OWN, [id, scope.accountId, scope.mode]);
    return row ? toMedCase(row) : null;
  }

  /** The caller holds the case's lock. */
  countEvidence(tx: Tx, id: string, at: Date): void {
    tx.defer(COUNT_EVIDENCE, [id, at]);
  }
}
