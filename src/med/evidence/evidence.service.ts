import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../../core/clock.js';
import { type Config, CONFIG } from '../../core/config/index.js';
import { Database } from '../../core/database/index.js';
import { ApiError, badRequest, notFound } from '../../core/errors/index.js';
import { newId } from '../../core/ids.js';
import type { Scope } from '../../core/mode.js';
import { WorkService } from '../../core/work/index.js';
import type { StoredObject } from '../../storage/index.js';
import type { MedCase } from '../cases/med-case.js';
import { isUnderway } from '../cases/med-cases.machine.js';
import { MedCasesService } from '../desk/med-cases.service.js';
import { EvidenceFiles, UPLOAD_SECONDS } from './evidence-files.service.js';
import { notUploaded, overQuota, tooMany } from './evidence.errors.js';
import { cleanupAtOf, type ConfirmedEvidence, type Evidence, isConfirmed } from './evidence.js';
import { EvidenceRepository } from './evidence.repository.js';
import type { ShownEvidence } from './evidence.serializer.js';

/** How many files a case may have: one answer lists them all. */
export const MAX_EVIDENCE = 100;

/** The sender's declaration of a file. */
export type DeclaredFile = Pick<Evidence, 'fileName' | 'fileSize' | 'mimeType'>;

/**
 * Evidence of cases. Files go straight to the object storage; the database records the agreed upload and the received
 * file. The storage is never called inside a transaction.
 */
@Injectable()
export class EvidenceService {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly database: Database,
    private readonly cases: MedCasesService,
    private readonly evidence: EvidenceRepository,
    private readonly files: EvidenceFiles,
    private readonly work: WorkService,
    private readonly clock: Clock,
  ) {}

  /**
   * Agrees on an upload. @returns the evidence and the URL for its PUT, valid for UPLOAD_SECONDS
   * @throws ApiError 400 when the case takes no evidence any more, 404, 422 `evidence_limit_reached` or
   *   `evidence_quota_reached`, 503
   */
  async request(scope: Scope, caseId: string, file: DeclaredFile): Promise<{ evidence: Evidence; uploadUrl: string }> {
    assertTakesEvidence(await this.cases.find(scope, caseId), this.clock.now());
    // Checks the storage first: signing a URL does not call it, and the URL is useless while the storage is down.
    await this.files.check();
    const now = this.clock.now();
    const evidence: Evidence = {
      id: newId(now),
      ...scope,
      caseId,
      fileName: file.fileName,
      fileSize: file.fileSize,
      mimeType: file.mimeType,
      uploadedBy: 'merchant',
      status: 'waiting',
      createdAt: now,
      expiresAt: new Date(now.getTime() + UPLOAD_SECONDS * 1000),
    };
    const uploadUrl = await this.files.uploadUrl(evidence);
    await this.database.transaction(async (tx) => {
      assertTakesEvidence(await this.cases.lock(tx, scope, caseId), now);
      const used = await this.evidence.lockBytes(tx, scope, now);
      const { evidenceQuota } = this.config;
      if (used + evidence.fileSize > evidenceQuota) throw overQuota(evidenceQuota, used);
      if (!(await this.evidence.insert(tx, evidence, MAX_EVIDENCE))) throw tooMany(MAX_EVIDENCE);
      this.work.add(tx, 'evidence_cleanup', evidence.id, cleanupAtOf(evidence));
    });
    return { evidence, uploadUrl };
  }

  /**
   * Confirms an upload; a repeated call returns the same evidence.
   * @throws ApiError 404; 409 `EVIDENCE_NOT_UPLOADED`, `EVIDENCE_SIZE_MISMATCH`; 400 when the content is of another type
   *   or the case takes no evidence any more; 429 after 20 tries; 503
   */
  async complete(scope: Scope, caseId: string, id: string): Promise<ShownEvidence> {
    const medCase = await this.cases.find(scope, caseId);
    const found = await this.evidence.find(caseId, id);
    if (!found) throw notFound('evidence');
    return this.files.show(isConfirmed(found) ? found : await this.#confirm(scope, medCase, found));
  }

  /** Lists confirmed evidence, newest first. @throws ApiError 404, 503 */
  async list(scope: Scope, caseId: string): Promise<ShownEvidence[]> {
    return this.listAny(await this.cases.find(scope, caseId));
  }

  /** Lists the evidence of any account's case: for operators. @throws ApiError 503 */
  async listAny({ id }: Pick<MedCase, 'id'>): Promise<ShownEvidence[]> {
    return Promise.all((await this.evidence.list(id)).map((evidence) => this.files.show(evidence)));
  }

  async #confirm(scope: Scope, medCase: MedCase, waiting: Evidence): Promise<ConfirmedEvidence> {
    let own: string | undefined;
    try {
      assertTakesEvidence(medCase, this.clock.now());
      if (waiting.status !== 'waiting' || this.clock.now() >= waiting.expiresAt) throw notUploaded();
      const object = await this.files.take(waiting);
      own = object.name;
      await this.files.verify(waiting, object);
      const confirmed = await this.#accept(scope, waiting, object);
      await this.files.closeQuietly(waiting, object.name);
      return confirmed;
    } catch (error) {
      // A twin of this request may have confirmed it meanwhile, and removed the file that this request was reading.
      const now = await this.evidence.find(waiting.caseId, waiting.id);
      if (!now || !isConfirmed(now)) {
        // The upload was given up meanwhile, and its file removed while this request was reading it.
        const isRefusal = error instanceof ApiError && error.status < 500;
        if (!isRefusal && now?.status !== 'waiting') throw notUploaded();
        throw error;
      }
      // The twin may have finished before this copy was made.
      if (own !== undefined && own !== now.objectName) await this.files.discard(now, own);
      return now;
    }
  }

  /**
   * Confirms evidence, which counts from here on. The file stays after an error, because the error may come after the
   * commit; the clean-up removes needless files.
   */
  async #accept(scope: Scope, waiting: Evidence, { name }: StoredObject): Promise<ConfirmedEvidence> {
    return this.database.transaction(async (tx) => {
      const medCase = await this.cases.lock(tx, scope, waiting.caseId);
      const now = this.clock.now();
      assertTakesEvidence(medCase, now);
      const confirmed = await this.evidence.confirm(tx, waiting.id, name, now);
      if (!confirmed) throw notUploaded();
      this.cases.countEvidence(tx, medCase.id, 1);
      return confirmed;
    });
  }
}

/** Checks the contract's rule: "Before or after appealing, and before the deadline." @throws ApiError 400 */
function assertTakesEvidence({ status, responseDeadline }: MedCase, now: Date): void {
  if (!isUnderway(status)) {
    throw badRequest('invalid_request', `A case that is ${status} takes no evidence any more.`);
  }
  if (responseDeadline !== null && now >= responseDeadline) {
    throw badRequest('invalid_request', `The response deadline was ${responseDeadline.toISOString()}.`);
  }
}
