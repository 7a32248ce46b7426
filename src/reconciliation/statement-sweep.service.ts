import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { AcquirersService, ConnectionsService } from '../acquirers/index.js';
import { Clock } from '../core/clock.js';
import { Database } from '../core/database/index.js';
import { JobQueue, Poller } from '../core/queue/index.js';
import type { StatementList } from './statements.entity.js';
import { StatementsRepository } from './statements.repository.js';
import { LEASE_MS } from './statements.service.js';

declare module '../core/queue/index.js' {
  interface JobMap {
    'reconciliation.statement': { acquirer: string; list: StatementList };
  }
}

const SWEEP_MS = 5_000;
const BATCH = 100;

/** Queues the acquirers' lists that are due for reading. */
@Injectable()
export class StatementSweep implements OnApplicationBootstrap {
  constructor(
    private readonly database: Database,
    private readonly statements: StatementsRepository,
    private readonly connections: ConnectionsService,
    private readonly acquirers: AcquirersService,
    private readonly queue: JobQueue,
    private readonly poller: Poller,
    private readonly clock: Clock,
  ) {}

  onApplicationBootstrap(): void {
    this.poller.onWorkers('reconciliation.statements', SWEEP_MS, () => this.sweep());
  }

  /**
   * Queues due lists. If a worker dies, its list is due again when the lease ends.
   * @returns whether more lists may be due at once
   */
  async sweep(): Promise<boolean> {
    const names = await this.connections.acquirersOf(null);
    const listed = names.filter((name) => this.acquirers.get(name).statement !== null);
    if (listed.length === 0) return false;
    const now = this.clock.now();
    const leasedUntil = new Date(now.getTime() + LEASE_MS);
    const due = await this.database.transaction(async (tx) => {
      this.statements.ensure(tx, listed, now);
      return this.statements.claimDue(tx, listed, now, leasedUntil, BATCH);
    });
    if (due.length > 0) await this.queue.add('reconciliation.statement', due);
    return due.length === BATCH;
  }
}
