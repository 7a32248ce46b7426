import { Injectable } from '@nestjs/common';
import { type Actor, type AuditEventType, AuditTrail } from '../audit/index.js';
import { Database, type Tx } from '../core/database/index.js';
import type { Amount } from '../core/money/index.js';
import { type MedCase, type MedDecided, type MedDecision, MedDesk } from '../med/index.js';

/** Records operators' decisions about MED cases, each in one transaction with its audit record. */
@Injectable()
export class OperationsMedService {
  constructor(
    private readonly database: Database,
    private readonly desk: MedDesk,
    private readonly audit: AuditTrail,
  ) {}

  /** @throws ApiError 400 for an impossible amount, 404, 409 */
  approve(id: string, amount: Amount | null, decision: MedDecision, actor: Actor): Promise<MedCase> {
    return this.#decide(actor, 'med_case.approved', (tx) => this.desk.approve(tx, id, amount, decision));
  }

  /** @throws ApiError 404, 409 */
  dismiss(id: string, decision: MedDecision, actor: Actor): Promise<MedCase> {
    return this.#decide(actor, 'med_case.dismissed', (tx) => this.desk.dismiss(tx, id, decision));
  }

  /** @throws ApiError 404, 409 */
  requestEvidence(id: string, actor: Actor): Promise<MedCase> {
    return this.#decide(actor, 'med_case.evidence_requested', (tx) => this.desk.requestEvidence(tx, id));
  }

  /** The audit record contains the data of the decision, as the case's lock read it. */
  async #decide(actor: Actor, type: AuditEventType, decide: (tx: Tx) => Promise<MedDecided>): Promise<MedCase> {
    return this.database.transaction(async (tx) => {
      const { before, after } = await decide(tx);
      const { id, transactionId, accountId, amount, status } = after;
      const { review, reportedAmount, bank } = before;
      const decidedOn = { review, reported_amount: reportedAmount, bank_status: bank.status, bank_result: bank.result };
      const data = { case_id: id, transaction_id: transactionId, ...decidedOn, amount, status };
      this.audit.record(tx, actor, type, accountId, { data, isHidden: !after.visible });
      return after;
    });
  }
}
