import { Injectable } from '@nestjs/common';
import { type Actor, type AuditEventType, AuditTrail } from '../audit/index.js';
import { Database, type Tx } from '../core/database/index.js';
import type { Amount } from '../core/money/index.js';
import { type MedCase, MedDesk } from '../med/index.js';

/** What operators decide about MED cases, each decision in one transaction with its record. */
@Injectable()
export class OperationsMedService {
  constructor(
    private readonly database: Database,
    private readonly desk: MedDesk,
    private readonly audit: AuditTrail,
  ) {}

  /** @throws ApiError 400 for an amount that cannot be, 404, 409 */
  approve(id: string, amount: Amount | null, operatorId: string, actor: Actor): Promise<MedCase> {
    return this.#decide(id, actor, 'med_case.approved', (tx) => this.desk.approve(tx, id, amount, operatorId));
  }

  /** @throws ApiError 404, 409 */
  dismiss(id: string, operatorId: string, actor: Actor): Promise<MedCase> {
    return this.#decide(id, actor, 'med_case.dismissed', (tx) => this.desk.dismiss(tx, id, operatorId));
  }

  /** @throws ApiError 404, 409 */
  requestEvidence(id: string, actor: Actor): Promise<MedCase> {
    return this.#decide(id, actor, 'med_case.evidence_requested', (tx) => this.desk.requestEvidence(tx, id));
  }

  /** Recorded with what it was decided on. */
  async #decide(
    id: string,
    actor: Actor,
    type: AuditEventType,
    decide: (tx: Tx) => Promise<MedCase>,
  ): Promise<MedCase> {
    const { review } = await this.desk.find(id);
    return this.database.transaction(async (tx) => {
      const decided = await decide(tx);
      const { transactionId, amount, status } = decided;
      const data = { case_id: id, transaction_id: transactionId, review, amount, status };
      this.audit.record(tx, actor, type, decided.accountId, { data });
      return decided;
    });
  }
}
