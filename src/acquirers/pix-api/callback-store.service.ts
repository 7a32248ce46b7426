import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Clock } from '../../core/clock.js';
import { SecretBox } from '../../core/crypto/index.js';
import { Database } from '../../core/database/index.js';
import { newId } from '../../core/ids.js';
import { Logger } from '../../core/log/index.js';
import { Metrics } from '../../core/metrics/index.js';
import { InboxService } from '../inbox.service.js';
import { type Callback, isReadable, readCallbackBody } from './callbacks.js';
import { CallbacksRepository } from './callbacks.repository.js';

/** How much is kept of a body without a hint: enough to see what it is. */
const KEPT_BYTES_OF_NOTHING = 4 * 1024;

/**
 * The bodies of callbacks. Each, sealed, and what it hints at are stored in one commit before it is answered; the inbox
 * asks the PSP about each hint, and nothing of what the body says is believed.
 */
@Injectable()
export class CallbackStore {
  constructor(
    private readonly database: Database,
    private readonly callbacks: CallbacksRepository,
    private readonly inbox: InboxService,
    private readonly secrets: SecretBox,
    private readonly metrics: Metrics,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  /** @param body of a caller that was let in */
  async keep(acquirer: string, body: Buffer): Promise<void> {
    const now = this.clock.now();
    const id = newId(now);
    const callback = this.#read(acquirer, body);
    const kept = callback && callback.hints.length > 0 ? body : body.subarray(0, KEPT_BYTES_OF_NOTHING);
    const row = {
      id,
      acquirer,
      sha256: createHash('sha256').update(body).digest(),
      // Byte by byte, whatever it is.
      bodySealed: this.secrets.seal(kept.toString('latin1'), `callback:${id}`),
      status: callback ? 'read' : 'unreadable',
      hints: callback?.hints.length ?? 0,
      receivedAt: now,
    };
    const { isNew, refused } = await this.database.transaction(async (tx) => {
      const isNew = await this.callbacks.insert(tx, row);
      const told = callback?.hints ?? [];
      // What a body says that was there before is known, but for what was set aside since.
      const hints = isNew ? told : await this.inbox.setAside(tx, acquirer, told);
      return { isNew, refused: await this.inbox.queueUnconfirmed(tx, acquirer, hints) };
    });
    if (refused > 0) {
      this.#count('too_many');
      this.logger.warn({ acquirer, callbackId: id, refused }, 'too much that callbacks told is not confirmed');
    }
    if (!isNew) return this.#count('repeated');
    this.#count('stored');
    const skipped = callback?.skipped ?? 0;
    this.#count(skipped > 0 ? 'partly_read' : row.status);
    if (!callback) this.logger.warn({ acquirer, callbackId: id }, 'a callback cannot be read');
    if (skipped > 0) this.logger.warn({ acquirer, callbackId: id, skipped }, 'a callback has entries that say nothing');
  }

  /** @returns null for what is not JSON: nothing of it is quoted, it may be a payer's */
  #read(acquirer: string, body: Buffer): Callback | null {
    if (!isReadable(body)) return null;
    let json: unknown;
    try {
      json = JSON.parse(body.toString('utf8'));
    } catch {
      return null;
    }
    try {
      return readCallbackBody(json);
    } catch (error) {
      // A defect here: the body is kept, and what it hints at is found in the acquirer's list.
      this.logger.error({ acquirer, error }, 'reading a callback failed');
      return null;
    }
  }

  #count(outcome: string): void {
    this.metrics.callbacks.inc({ outcome });
  }
}
