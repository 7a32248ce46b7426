import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { AcquirersService, ConnectionsService } from '../acquirers/index.js';
import { Clock } from '../core/clock.js';
import { Database } from '../core/database/index.js';
import { Poller, Runs } from '../core/queue/index.js';
import { PAYOUT_LISTS, PIX_LISTS } from './statements.entity.js';
import { StatementsRepository } from './statements.repository.js';
import { LEASE_MS, StatementsService } from './statements.service.js';

const TASK = 'reconciliation.statements';
const SWEEP_MS = 5_000;
/** Lists read at once in each process. */
const PLACES = 8;

/** Has the acquirers' lists read that are due. Claims only as many lists as it has places for. */
@Injectable()
export class StatementSweep implements OnApplicationBootstrap, OnModuleDestroy {
  readonly #runs: Runs;

  constructor(
    private readonly database: Database,
    private readonly statements: StatementsRepository,
    private readonly connections: ConnectionsService,
    private readonly acquirers: AcquirersService,
    private readonly reading: StatementsService,
    private readonly poller: Poller,
    private readonly clock: Clock,
  ) {
    this.#runs = new Runs(poller, TASK, PLACES);
  }

  onApplicationBootstrap(): void {
    this.poller.onWorkers(TASK, SWEEP_MS, () => this.sweep());
  }

  onModuleDestroy(): Promise<void> {
    return this.#runs.end();
  }

  /** Begins to read lists that are due. If a process dies, its lists are due again when the lease ends. */
  async sweep(): Promise<void> {
    const { room } = this.#runs;
    if (room === 0) return;
    const names = await this.connections.acquirersOf(null);
    const listed = names.filter((name) => this.acquirers.get(name).statement !== null);
    const sending = names.filter((name) => this.acquirers.get(name).payouts?.list);
    const all = [...new Set([...listed, ...sending])];
    if (all.length === 0) return;
    const now = this.clock.now();
    const leasedUntil = new Date(now.getTime() + LEASE_MS);
    const due = await this.database.transaction(async (tx) => {
      this.statements.ensure(tx, listed, PIX_LISTS, now);
      this.statements.ensure(tx, sending, PAYOUT_LISTS, now);
      return this.statements.claimDue(tx, all, now, leasedUntil, room);
    });
    for (const { acquirer, list } of due) this.#runs.begin({ acquirer, list }, () => this.reading.read(acquirer, list));
  }
}
