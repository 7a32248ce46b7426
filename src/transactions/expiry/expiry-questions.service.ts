import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { AcquirersService } from '../../acquirers/index.js';
import { Clock } from '../../core/clock.js';
import { Database } from '../../core/database/index.js';
import { Poller, Runs } from '../../core/queue/index.js';
import { ExpiryProcessor } from './expiry.processor.js';
import { type ClaimedExpiry, ExpiryRepository } from './expiry.repository.js';

const TASK = 'transactions.expiry.ask';
const SWEEP_MS = 1_000;
/** Questions at once in each process. */
const PLACES = 16;
/** A Pix of the last second is in the acquirer's books by then. */
const GRACE_MS = 2_000;
/** Longer than an acquirer's answer takes. */
const LEASE_MS = 15_000;

/** Has acquirers asked about charges past their expiry. Claims only as many charges as it has places for. */
@Injectable()
export class ExpiryQuestions implements OnApplicationBootstrap, OnModuleDestroy {
  readonly #runs: Runs;

  constructor(
    private readonly database: Database,
    private readonly expiry: ExpiryRepository,
    private readonly acquirers: AcquirersService,
    private readonly processor: ExpiryProcessor,
    private readonly poller: Poller,
    private readonly clock: Clock,
  ) {
    this.#runs = new Runs(poller, TASK, PLACES);
  }

  onApplicationBootstrap(): void {
    this.poller.onWorkers(TASK, SWEEP_MS, () => this.askDue());
  }

  onModuleDestroy(): Promise<void> {
    return this.#runs.end();
  }

  /**
   * Begins the questions that are due. If a process dies, its questions are due again when the lease ends.
   * @returns whether there may be more at once
   */
  async askDue(): Promise<boolean> {
    const { room } = this.#runs;
    if (room === 0) return false;
    const now = this.clock.now();
    const due = { now, localAcquirers: this.acquirers.local() };
    const expiredBefore = new Date(now.getTime() - GRACE_MS);
    const leasedUntil = new Date(now.getTime() + LEASE_MS);
    const claimed = await this.database.transaction((tx) =>
      this.expiry.claim(tx, due, expiredBefore, leasedUntil, room),
    );
    const early = await this.#early(claimed, now);
    if (early.length > 0) await this.database.transaction(async (tx) => this.expiry.wait(tx, early));
    const waiting = new Set(early.map(({ id }) => id));
    for (const { id } of claimed)
      if (!waiting.has(id)) this.#runs.begin({ transactionId: id }, () => this.processor.run(id));
    return claimed.length === room && this.#runs.room > 0;
  }

  /** Returns charges whose acquirer's answer may still lag behind their expiry, and until when. */
  async #early(claimed: readonly ClaimedExpiry[], now: Date): Promise<{ id: string; until: Date }[]> {
    const early = await Promise.all(
      claimed.map(async ({ id, acquirer, expiresAt }) => {
        const lagMs = await this.acquirers.get(acquirer).settlementLagMs();
        const until = new Date(expiresAt.getTime() + lagMs);
        return until > now ? [{ id, until }] : [];
      }),
    );
    return early.flat();
  }
}
