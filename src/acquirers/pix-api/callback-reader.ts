import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DAY_MS } from '../../core/clock.js';
import { SecretBox } from '../../core/crypto/index.js';
import { Database } from '../../core/database/index.js';
import { Logger } from '../../core/log/index.js';
import { Metrics } from '../../core/metrics/index.js';
import { Retention } from '../../core/retention.js';
import type { WorkAnswer } from '../../core/work/index.js';
import { InboxService } from '../inbox.service.js';
import { CallbackSources } from './callback-sources.js';
import { CallbacksRepository, type PendingCallback } from './callbacks.repository.js';

const KEPT_MS = 30 * DAY_MS;

/** Reads stored callbacks into notifications for the inbox, which asks the PSP about each. */
@Injectable()
export class CallbackReader implements OnModuleInit {
  constructor(
    private readonly database: Database,
    private readonly callbacks: CallbacksRepository,
    private readonly sources: CallbackSources,
    private readonly inbox: InboxService,
    private readonly retention: Retention,
    private readonly secrets: SecretBox,
    private readonly metrics: Metrics,
    private readonly logger: Logger,
  ) {}

  onModuleInit(): void {
    this.retention.keep('acquirer_callbacks', KEPT_MS, (tx, before, limit) => this.callbacks.remove(tx, before, limit));
  }

  /** May run any number of times for the same callback. */
  async read(callbackId: string): Promise<WorkAnswer> {
    const callback = await this.callbacks.findPending(callbackId);
    if (callback) await this.#read(callback);
    return 'done';
  }

  async #read({ id, acquirer, bodySealed }: PendingCallback): Promise<void> {
    const source = await this.sources.find(acquirer);
    const body = parse(this.secrets.open(bodySealed, `callback:${id}`));
    const { hints, skipped } = source?.read(body) ?? { hints: [], skipped: 0 };
    const status = source && body !== undefined ? 'read' : 'unreadable';
    const problem = !source ? 'there is no such connection any more' : body === undefined ? 'it is not JSON' : null;
    const stored = await this.database.transaction(async (tx) => {
      const ids = await this.inbox.storeAll(tx, acquirer, hints);
      return (await this.callbacks.close(tx, id, status, hints.length, problem)) ? ids : null;
    });
    if (stored === null) return;
    this.metrics.callbacks.inc({ outcome: skipped > 0 ? 'partly_read' : status });
    if (problem !== null) this.logger.warn({ acquirer, callbackId: id, problem }, 'a callback cannot be read');
    if (skipped > 0) this.logger.warn({ acquirer, callbackId: id, skipped }, 'a callback has entries that say nothing');
    // The inbox brings what the queue does not take.
    if (stored.length > 0) await this.inbox.enqueue(stored).catch(() => undefined);
  }
}

/** @returns undefined for what is not JSON: nothing of it is quoted, it may be a payer's */
function parse(latin1: string): unknown {
  try {
    return JSON.parse(Buffer.from(latin1, 'latin1').toString('utf8'));
  } catch {
    return undefined;
  }
}
