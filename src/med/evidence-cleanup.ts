import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Clock } from '../core/clock.js';
import { type Config, CONFIG } from '../core/config/index.js';
import { Database } from '../core/database/index.js';
import { Logger } from '../core/log/index.js';
import { Poller } from '../core/queue/index.js';
import { ObjectStorage } from '../storage/index.js';
import { EvidenceRepository } from './evidence.repository.js';

export const CLEANUP_TASK = 'med.evidence_cleanup';
const POLL_MS = 60_000;
const BATCH = 20;
/** Also the pause after which one that failed is tried again. */
const LEASE_MS = 10 * 60_000;

/** Removes uploads that were never confirmed, and what of confirmed ones came after them. */
@Injectable()
export class EvidenceCleanup implements OnApplicationBootstrap {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly database: Database,
    private readonly evidence: EvidenceRepository,
    private readonly storage: ObjectStorage,
    private readonly poller: Poller,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  onApplicationBootstrap(): void {
    if (this.config.runsWorkers) this.poller.every(CLEANUP_TASK, POLL_MS, () => this.run());
  }

  /** One that cannot be removed does not hold up the others. @returns whether there may be more to do at once */
  async run(): Promise<boolean> {
    const now = this.clock.now();
    const leasedUntil = new Date(now.getTime() + LEASE_MS);
    const due = await this.database.transaction((tx) => this.evidence.claim(tx, now, leasedUntil, BATCH));
    let done = 0;
    for (const { id, objectName } of due) {
      try {
        // The files first: a row that is gone would leave them to nobody.
        await this.storage.close(id, objectName);
        await this.database.transaction(async (tx) => this.evidence.finish(tx, id));
        done++;
      } catch (error) {
        this.logger.warn({ error, evidenceId: id }, 'the rest of an upload could not be removed; it will be later');
      }
    }
    return due.length === BATCH && done > 0;
  }
}
