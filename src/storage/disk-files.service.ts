import type { Readable } from 'node:stream';
import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Clock } from '../core/clock.js';
import { type Config, CONFIG } from '../core/config/index.js';
import { badRequest, notFound } from '../core/errors/index.js';
import { rateLimited, RateLimiter } from '../core/rate-limit/index.js';
import { Poller } from '../core/queue/index.js';
import { DiskLinks, type LinkQuery } from './disk-links.js';
import { DiskStorage, UploadBrokenOff } from './disk.storage.js';
import { attachment } from './file-name.js';
import { ObjectStorage } from './object-storage.js';

const SWEEP_MS = 10 * 60_000;
/** How often one URL may be used in a burst; after that once a minute. */
const MAX_UPLOADS = 20;

/** The headers of an upload, unchecked. */
export interface UploadHeaders {
  readonly 'content-type'?: string | undefined;
  readonly 'content-length'?: string | undefined;
  readonly apikey?: string | string[] | undefined;
  readonly authorization?: string | undefined;
}

/** Serves the URLs of files on our own disk. If files are in a store elsewhere, there are none. */
@Injectable()
export class DiskFiles implements OnApplicationBootstrap {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly storage: ObjectStorage,
    private readonly links: DiskLinks,
    private readonly limiter: RateLimiter,
    private readonly poller: Poller,
    private readonly clock: Clock,
  ) {}

  onApplicationBootstrap(): void {
    const { storage } = this;
    // Only a process that takes uploads leaves unfinished ones behind.
    if (!this.config.runsApi || !(storage instanceof DiskStorage)) return;
    this.poller.every('storage.sweep', SWEEP_MS, () => storage.sweep(this.clock.now()));
  }

  /**
   * Receives an upload.
   * @param body null for a request without one
   * @throws ApiError 404 for a URL that is not ours, 403 when its time is over, 400 for another type or size, for a
   * credential that does not belong here and for an upload that broke off, 409 once the upload is closed, 429 after 20
   * uploads, 503
   */
  async receive(key: string, query: LinkQuery, headers: UploadHeaders, body: Readable | null): Promise<void> {
    const storage = this.#disk();
    const upload = this.links.readUpload(key, query);
    if (headers.apikey !== undefined || headers.authorization !== undefined) {
      throw badRequest(
        'invalid_request',
        'Do not send your API key or an Authorization header to this URL: its signature is the credential, and keys belong to the API alone.',
      );
    }
    if (headers['content-type'] !== upload.contentType) {
      throw badRequest('invalid_request', `Send Content-Type: ${upload.contentType}, as in upload_headers.`);
    }
    if (headers['content-length'] !== String(upload.size) || body === null) {
      throw badRequest(
        'invalid_request',
        `Send Content-Length: ${upload.size} and as many bytes, as in upload_headers.`,
      );
    }
    const taken = await this.limiter.take(`upload:${key}`, { rate: 1 / 60, burst: MAX_UPLOADS });
    if (!taken.allowed) throw rateLimited(taken);
    try {
      await storage.receive(upload, body);
    } catch (error) {
      if (!(error instanceof UploadBrokenOff)) throw error;
      throw badRequest('invalid_request', `The upload broke off before its ${upload.size} bytes.`);
    }
  }

  /** @throws ApiError 404 for a URL that is not ours or a file that is gone, 403 when its time is over, 503 */
  async read(name: string, query: LinkQuery): Promise<{ stream: Readable; headers: Record<string, string> }> {
    const storage = this.#disk();
    const { contentType, fileName } = this.links.readDownload(name, query);
    const file = await storage.read(name);
    if (file === null) throw notFound('file');
    return {
      stream: file.stream,
      headers: {
        'Content-Type': contentType,
        'Content-Length': String(file.size),
        'Content-Disposition': attachment(fileName),
      },
    };
  }

  #disk(): DiskStorage {
    if (!(this.storage instanceof DiskStorage)) throw notFound('route');
    return this.storage;
  }
}
