import { Injectable } from '@nestjs/common';
import { Logger } from '../../core/log/index.js';
import { rateLimited, RateLimiter } from '../../core/rate-limit/index.js';
import { fileNameOfType, ObjectStorage, type StoredObject } from '../../storage/index.js';
import type { ConfirmedEvidence, Evidence } from './evidence.js';
import { notUploaded, sizeMismatch, wrongContent } from './evidence.errors.js';
import type { ShownEvidence } from './evidence.serializer.js';
import { EXTENSIONS, HEAD_BYTES, isOfType } from './evidence-types.js';

/** Source: docs/contract.md#evidence. */
export const UPLOAD_SECONDS = 900;
const VIEW_SECONDS = 300;
/** Burst limit of completion attempts of an upload. After it, one attempt a minute is allowed. */
const MAX_COMPLETIONS = 20;

/** Reads and writes files of evidence in the object storage. While the storage is down, the error is a 503. */
@Injectable()
export class EvidenceFiles {
  constructor(
    private readonly storage: ObjectStorage,
    private readonly limiter: RateLimiter,
    private readonly logger: Logger,
  ) {}

  /** Checks that files can be stored and read now. */
  check(): Promise<void> {
    return this.storage.check();
  }

  /** Returns the address to PUT the file to, valid for UPLOAD_SECONDS. */
  uploadUrl({ id, mimeType, fileSize }: Evidence): Promise<string> {
    return this.storage.uploadUrl({ key: id, contentType: mimeType, size: fileSize }, UPLOAD_SECONDS);
  }

  /**
   * Copies the uploaded file: the upload can be replaced until its URL expires, the copy cannot.
   * @throws ApiError 409 `EVIDENCE_NOT_UPLOADED`, 429 after 20 tries
   */
  async take({ id }: Evidence): Promise<StoredObject> {
    const taken = await this.limiter.take(`evidence:${id}`, { rate: 1 / 60, burst: MAX_COMPLETIONS });
    if (!taken.allowed) throw rateLimited(taken);
    const object = await this.storage.take(id);
    if (!object) throw notUploaded();
    return object;
  }

  /** @throws ApiError when the file differs from the declaration; its copy is removed then */
  async verify(waiting: Evidence, { name, size }: StoredObject): Promise<void> {
    const isWhole = size === waiting.fileSize;
    if (isWhole && isOfType(waiting.mimeType, await this.storage.firstBytes(name, HEAD_BYTES))) return;
    await this.discard(waiting, name);
    throw isWhole ? wrongContent(waiting.mimeType) : sizeMismatch(size, waiting.fileSize);
  }

  /** Returns evidence with a link to its file, valid for five minutes. */
  async show(evidence: ConfirmedEvidence): Promise<ShownEvidence> {
    const { objectName: name, mimeType: contentType } = evidence;
    const fileName = fileNameOfType(evidence.fileName, EXTENSIONS[contentType]);
    return { evidence, viewUrl: await this.storage.downloadUrl({ name, contentType, fileName }, VIEW_SECONDS) };
  }

  /** Ends the upload and removes all its files, except the copy of this name. @param keep null: no copy */
  close(id: string, keep: string | null): Promise<void> {
    return this.storage.close(id, keep);
  }

  /** Ends the upload as `close` does; after a failure the clean-up removes the rest. */
  async closeQuietly(evidence: Evidence, keep: string | null): Promise<void> {
    await this.#quietly(evidence, () => this.storage.close(evidence.id, keep));
  }

  /** Removes a copy; after a failure the clean-up removes it. */
  async discard(evidence: Evidence, name: string): Promise<void> {
    await this.#quietly(evidence, () => this.storage.remove(name));
  }

  async #quietly({ id }: Evidence, work: () => Promise<void>): Promise<void> {
    await work().catch((error: unknown) => {
      this.logger.warn({ error, evidenceId: id }, 'the rest of an upload could not be removed; it will be later');
    });
  }
}
