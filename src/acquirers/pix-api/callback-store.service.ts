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
import type { Desk } from './desks/desk.js';
import { CallbacksRepository } from './callbacks.repository.js';

/** Size of the kept part of a body without a hint: enough to judge the body. */
const KEPT_BYTES_OF_NOTHING = 4 * 1024;

/**
 * Stores callbacks. The sealed body and its hints are stored in one commit before the answer. The inbox queries the PSP
 * about each hint; the body itself is never trusted.
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

  /** @param body of a caller that was accepted @param desk of its PSP, which reads the entries about payouts */
  async keep(acquirer: string, body: Buffer, desk: Desk | null = null): Promise<void> {
    const now = this.clock.now();
    const id = newId(now);
    const callback = this.#read(acquirer, body, desk);
    const kept = callback && callback.hints.length > 0 ? body : body.subarray(0, KEPT_BYTES_OF_NOTHING);
    const row = {
      id,
      acquirer,
      sha256: createHash('sha256').update(body).digest(),
      // Stored byte by byte, because the body may be any data.
      bodySealed: this.secrets.seal(kept.toString('latin1'), `callback:${id}`),
      status: callback ? 'read' : 'unreadable',
      hints: callback?.hints.length ?? 0,
      receivedAt: now,
    };
    const { isNew, refused } = await this.database.transaction(async (tx) => {
      const isNew = await this.callbacks.insert(tx, row);
      const told = callback?.hints ?? [];
      // Hints of a repeated body are already stored. Only ones that were set aside since become due again.
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

  /** @returns null if the body is not JSON. No log quotes the body: it may hold a payer's data */
  #read(acquirer: string, body: Buffer, desk: Desk | null): Callback | null {
    if (!isReadable(body)) return null;
    let json: unknown;
    try {
      json = JSON.parse(body.toString('utf8'));
    } catch {
      return null;
    }
    try {
      return readCallbackBody(json, desk);
    } catch (error) {
      // A defect here loses nothing: the body is kept, and the acquirer's list shows its Pix.
      this.logger.error({ acquirer, error }, 'reading a callback failed');
      return null;
    }
  }

  #count(outcome: string): void {
    this.metrics.callbacks.inc({ outcome });
  }
}
