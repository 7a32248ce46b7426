import { Injectable } from '@nestjs/common';
import { type Actor, AuditTrail } from '../../audit/index.js';
import { Clock, DAY_MS } from '../../core/clock.js';
import { Database, type Tx } from '../../core/database/index.js';
import { notFound } from '../../core/errors/index.js';
import type { Scope } from '../../core/mode.js';
import { WorkService } from '../../core/work/index.js';
import { MedCasesService } from '../desk/med-cases.service.js';
import { EvidenceFiles } from './evidence-files.service.js';
import { inUse } from './evidence.errors.js';
import { cleanupAtOf, type ConfirmedEvidence, type Evidence, isConfirmed } from './evidence.js';
import { EvidenceRepository } from './evidence.repository.js';

/** How long files of test mode are kept. */
const TEST_MS = 30 * DAY_MS;

/** Ends evidence that the merchant has withdrawn, whose upload was given up, or that is too old. */
@Injectable()
export class EvidenceRemoval {
  constructor(
    private readonly database: Database,
    private readonly cases: MedCasesService,
    private readonly evidence: EvidenceRepository,
    private readonly files: EvidenceFiles,
    private readonly work: WorkService,
    private readonly audit: AuditTrail,
    private readonly clock: Clock,
  ) {}

  /**
   * Removes a file that is not part of an answer yet: its case is open, or its upload was not completed.
   * @throws ApiError 404, 409 `evidence_in_use`
   */
  async remove(scope: Scope, caseId: string, id: string, actor: Actor): Promise<void> {
    await this.cases.find(scope, caseId);
    const found = await this.evidence.find(caseId, id);
    if (!found || found.status === 'abandoned') throw notFound('evidence');
    await this.database.transaction(async (tx) => {
      const medCase = await this.cases.lock(tx, scope, caseId);
      if (isConfirmed(found) && medCase.status !== 'open') throw inUse(medCase.status);
      await this.#end(tx, found);
      this.audit.record(tx, actor, 'evidence.deleted', scope.accountId, {
        data: { case_id: caseId, evidence_id: id, mode: scope.mode },
      });
      // The clean-up waits for the end of the URL, which takes uploads until then; present files are removed now.
      this.work.add(tx, 'evidence_cleanup', id, cleanupAtOf(found));
    });
    await this.files.closeQuietly(found, null);
  }

  /**
   * Cleans up evidence: gives up an upload that was not completed in time, ends an old file of test mode, and removes
   * needless files from the storage.
   * @returns when a file of test mode ends; null when all is done
   */
  async cleanUp(id: string): Promise<Date | null> {
    const found = await this.database.transaction((tx) => this.evidence.abandon(tx, id));
    if (!found) return null;
    const now = this.clock.now();
    if (isConfirmed(found)) {
      const endsAt = found.mode === 'test' ? new Date(found.uploadedAt.getTime() + TEST_MS) : null;
      if (endsAt === null || now < endsAt) {
        await this.files.close(id, found.objectName);
        return endsAt;
      }
      await this.database.transaction(async (tx) => {
        await this.cases.lock(tx, found, found.caseId);
        await this.#end(tx, found);
      });
    }
    // Removes the files first: without the row they would never be found again.
    await this.files.close(id, null);
    await this.database.transaction(async (tx) => this.evidence.forget(tx, id));
    return null;
  }

  /** Ends evidence; the caller holds the case's lock. @throws ApiError 404 when it has moved since it was read */
  async #end(tx: Tx, evidence: Evidence | ConfirmedEvidence): Promise<void> {
    if (!(await this.evidence.discard(tx, evidence.id, evidence.status))) throw notFound('evidence');
    if (isConfirmed(evidence)) this.cases.countEvidence(tx, evidence.caseId, -1);
  }
}
