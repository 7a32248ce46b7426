import { Inject, Injectable } from '@nestjs/common';
import { type Actor, AuditTrail } from '../audit/index.js';
import { Clock, DAY_MS } from '../core/clock.js';
import { type Config, CONFIG } from '../core/config/index.js';
import { Database, type Tx } from '../core/database/index.js';
import { ApiError, badRequest, notFound } from '../core/errors/index.js';
import { newId } from '../core/ids.js';
import { Logger } from '../core/log/index.js';
import type { Scope } from '../core/mode.js';
import { rateLimited, RateLimiter } from '../core/rate-limit/index.js';
import { WorkService } from '../core/work/index.js';
import { ObjectStorage, type StoredObject } from '../storage/index.js';
import { type ConfirmedEvidence, type Evidence, isConfirmed } from './evidence.js';
import { inUse, notUploaded, overQuota, sizeMismatch, tooMany, wrongContent } from './evidence.errors.js';
import { EvidenceRepository } from './evidence.repository.js';
import type { ShownEvidence } from './evidence.serializer.js';
import { HEAD_BYTES, isOfType } from './evidence-types.js';
import type { MedCase } from './med-case.js';
import { isUnderway } from './med-cases.machine.js';
import { MedCasesService } from './med-cases.service.js';

/** Source: docs/contract.md#evidence. */
export const UPLOAD_SECONDS = 900;
const VIEW_SECONDS = 300;
/** An upload that began in time has this long to end before its rest is removed. */
const CLEANUP_MS = 3600_000;
/** Files of test mode are for trying. */
const TEST_MS = 30 * DAY_MS;
/** Of one upload, at once; then one a minute. */
const MAX_COMPLETIONS = 20;
/** All of them are in one answer. */
export const MAX_EVIDENCE = 100;

/** What of a file its sender declares. */
export type DeclaredFile = Pick<Evidence, 'fileName' | 'fileSize' | 'mimeType'>;

/**
 * Files of a case. They go straight to the object storage; here is written down what was agreed, and what arrived. No
 * call of the storage is made inside a transaction.
 */
@Injectable()
export class EvidenceService {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly database: Database,
    private readonly cases: MedCasesService,
    private readonly evidence: EvidenceRepository,
    private readonly storage: ObjectStorage,
    private readonly work: WorkService,
    private readonly limiter: RateLimiter,
    private readonly audit: AuditTrail,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  /**
   * Agrees on an upload. @returns it, and the URL for its PUT, good for UPLOAD_SECONDS
   * @throws ApiError 400 when the case takes no evidence any more, 404, 422 `evidence_limit_reached` or `evidence_quota_reached`, 503
   */
  async request(scope: Scope, caseId: string, file: DeclaredFile): Promise<{ evidence: Evidence; uploadUrl: string }> {
    assertTakesEvidence(await this.cases.find(scope, caseId), this.clock.now());
    // Signing a URL does not ask the store, and a URL is of use only while the store answers.
    await this.storage.check();
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
    const upload = { key: evidence.id, contentType: evidence.mimeType, size: evidence.fileSize };
    const uploadUrl = await this.storage.uploadUrl(upload, UPLOAD_SECONDS);
    const cleanupAt = new Date(evidence.expiresAt.getTime() + CLEANUP_MS);
    await this.database.transaction(async (tx) => {
      assertTakesEvidence(await this.cases.lock(tx, scope, caseId), now);
      const used = await this.evidence.lockBytes(tx, scope, now);
      const { evidenceQuota } = this.config;
      if (used + evidence.fileSize > evidenceQuota) throw overQuota(evidenceQuota, used);
      if (!(await this.evidence.insert(tx, evidence, MAX_EVIDENCE))) throw tooMany(MAX_EVIDENCE);
      this.work.add(tx, 'evidence_cleanup', evidence.id, cleanupAt);
    });
    return { evidence, uploadUrl };
  }

  /**
   * Confirms an upload; repeated, it gives the same evidence.
   * @throws ApiError 404; 409 `EVIDENCE_NOT_UPLOADED`, `EVIDENCE_SIZE_MISMATCH`; 400 when the content is of another type
   *   or the case takes no evidence any more; 429 after 20 tries; 503
   */
  async complete(scope: Scope, caseId: string, id: string): Promise<ShownEvidence> {
    const medCase = await this.cases.find(scope, caseId);
    const found = await this.evidence.find(caseId, id);
    if (!found) throw notFound('evidence');
    return this.#show(isConfirmed(found) ? found : await this.#confirm(scope, medCase, found));
  }

  /** Confirmed evidence, newest first. @throws ApiError 404, 503 */
  async list(scope: Scope, caseId: string): Promise<ShownEvidence[]> {
    return this.listAny(await this.cases.find(scope, caseId));
  }

  /** The same of a case that the caller may see: for operators. @throws ApiError 503 */
  async listAny({ id }: Pick<MedCase, 'id'>): Promise<ShownEvidence[]> {
    return Promise.all((await this.evidence.list(id)).map((evidence) => this.#show(evidence)));
  }

  /**
   * Takes a file back that is not part of an answer yet: of a case that is open, or one whose upload was not completed.
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
      // Until then the URL still takes uploads, and what is left now goes with them.
      this.work.add(tx, 'evidence_cleanup', id, new Date(found.expiresAt.getTime() + CLEANUP_MS));
    });
    await this.#quietly(found, () => this.storage.close(id, null));
  }

  /**
   * Gives up an upload that was not completed in time, ends a file of test mode that is too old, and removes what no
   * evidence needs from the storage.
   * @returns when a file of test mode ends; null when all is done
   */
  async cleanUp(id: string): Promise<Date | null> {
    const found = await this.database.transaction((tx) => this.evidence.abandon(tx, id));
    if (!found) return null;
    const now = this.clock.now();
    if (isConfirmed(found)) {
      const endsAt = found.mode === 'test' ? new Date(found.uploadedAt.getTime() + TEST_MS) : null;
      if (endsAt === null || now < endsAt) {
        await this.storage.close(id, found.objectName);
        return endsAt;
      }
      await this.database.transaction(async (tx) => {
        await this.cases.lock(tx, found, found.caseId);
        await this.#end(tx, found);
      });
    }
    // The files first: without the row they would never be removed.
    await this.storage.close(id, null);
    await this.database.transaction(async (tx) => this.evidence.forget(tx, id));
    return null;
  }

  /** The caller holds the case's lock. @throws ApiError 404 when it has moved since it was read */
  async #end(tx: Tx, evidence: Evidence | ConfirmedEvidence): Promise<void> {
    if (!(await this.evidence.discard(tx, evidence.id, evidence.status))) throw notFound('evidence');
    if (isConfirmed(evidence)) this.cases.countEvidence(tx, evidence.caseId, -1);
  }

  async #confirm(scope: Scope, medCase: MedCase, waiting: Evidence): Promise<ConfirmedEvidence> {
    let own: string | undefined;
    try {
      assertTakesEvidence(medCase, this.clock.now());
      if (waiting.status !== 'waiting' || this.clock.now() >= waiting.expiresAt) throw notUploaded();
      // Looking at a file copies it.
      const taken = await this.limiter.take(`evidence:${waiting.id}`, { rate: 1 / 60, burst: MAX_COMPLETIONS });
      if (!taken.allowed) throw rateLimited(taken);
      const object = await this.storage.take(waiting.id);
      if (!object) throw notUploaded();
      own = object.name;
      await this.#check(waiting, object);
      const confirmed = await this.#accept(scope, waiting, object);
      await this.#quietly(waiting, () => this.storage.close(waiting.id, object.name));
      return confirmed;
    } catch (error) {
      // A twin of this request may have confirmed it meanwhile, and have removed what this one was looking at.
      const now = await this.evidence.find(waiting.caseId, waiting.id);
      if (!now || !isConfirmed(now)) {
        // It was given up meanwhile, and its file removed while this request was reading it.
        const isRefusal = error instanceof ApiError && error.status < 500;
        if (!isRefusal && now?.status !== 'waiting') throw notUploaded();
        throw error;
      }
      // The twin may have been done before this copy was there.
      if (own !== undefined && own !== now.objectName) await this.#discard(now, own);
      return now;
    }
  }

  /** @throws ApiError when what was uploaded is not what was agreed; the copy of it is removed then */
  async #check(waiting: Evidence, { name, size }: StoredObject): Promise<void> {
    const isWhole = size === waiting.fileSize;
    if (isWhole && isOfType(waiting.mimeType, await this.storage.firstBytes(name, HEAD_BYTES))) return;
    await this.#discard(waiting, name);
    throw isWhole ? wrongContent(waiting.mimeType) : sizeMismatch(size, waiting.fileSize);
  }

  /**
   * It counts from here on. The file stays whatever happens: an error may come after the commit, and the clean-up
   * removes what is not needed.
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

  async #show(evidence: ConfirmedEvidence): Promise<ShownEvidence> {
    const { objectName: name, mimeType: contentType, fileName } = evidence;
    return { evidence, viewUrl: await this.storage.downloadUrl({ name, contentType, fileName }, VIEW_SECONDS) };
  }

  async #discard(evidence: Evidence, name: string): Promise<void> {
    await this.#quietly(evidence, () => this.storage.remove(name));
  }

  /** Not waited for: the clean-up removes what is left. */
  async #quietly({ id }: Evidence, work: () => Promise<void>): Promise<void> {
    await work().catch((error: unknown) => {
      this.logger.warn({ error, evidenceId: id }, 'the rest of an upload could not be removed; it will be later');
    });
  }
}

/** "Before or after appealing, and before the deadline." @throws ApiError 400 */
function assertTakesEvidence({ status, responseDeadline }: MedCase, now: Date): void {
  if (!isUnderway(status)) {
    throw badRequest('invalid_request', `A case that is ${status} takes no evidence any more.`);
  }
  if (responseDeadline !== null && now >= responseDeadline) {
    throw badRequest('invalid_request', `The response deadline was ${responseDeadline.toISOString()}.`);
  }
}
