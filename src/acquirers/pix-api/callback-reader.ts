import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Clock } from '../../core/clock.js';
import { type Config, CONFIG } from '../../core/config/index.js';
import { SecretBox } from '../../core/crypto/index.js';
import { Database } from '../../core/database/index.js';
import { Logger } from '../../core/log/index.js';
import { Metrics } from '../../core/metrics/index.js';
import { Poller } from '../../core/queue/index.js';
import type { WorkAnswer } from '../../core/work/index.js';
import { InboxService } from '../inbox.service.js';
import { CallbackSources } from './callback-sources.js';
import { CallbacksRepository, type PendingCallback } from './callbacks.repository.js';

const BATCH = 100;
const CLEAN_MS = 3_600_000;
const KEPT_DAYS = 30;

/** Reads stored callbacks into notifications for the inbox, which asks the PSP about each. */
@Injectable()
export class CallbackReader implements OnApplicationBootstrap {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly database: Database,
    private readonly callbacks: CallbacksRepository,
    private readonly sources: CallbackSources,
    private readonly inbox: InboxService,
    private readonly poller: Poller,
    private readonly secrets: SecretBox,
    private readonly metrics: Metrics,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  onApplicationBootstrap(): void {
    if (!this.config.runsWorkers) return;
    this.poller.every('acquirers.callbacks.clean', CLEAN_MS, () => this.clean());
  }

  /** May run any number of times for the same callback. */
  async read(callbackId: string): Promise<WorkAnswer> {
    const callback = await this.callbacks.findPending(callbackId);
    if (callback) await this.#read(callback);
    return 'done';
  }

  /** Removes bodies past their time. */
  async clean(): Promise<boolean> {
    const before = new Date(this.clock.now().getTime() - KEPT_DAYS * 86_400_000);
    return (await this.database.transaction((tx) => this.callbacks.remove(tx, before, BATCH))) === BATCH;
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
