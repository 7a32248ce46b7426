import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { AcquirersService, type PixReturnState } from '../acquirers/index.js';
import { Clock } from '../core/clock.js';
import { type Config, CONFIG } from '../core/config/index.js';
import { Database, type Tx } from '../core/database/index.js';
import { newId } from '../core/ids.js';
import { Logger } from '../core/log/index.js';
import type { Mode } from '../core/mode.js';
import type { Amount } from '../core/money/index.js';
import { Poller } from '../core/queue/index.js';
import { type PixReturn, SettlementsRepository } from './settlements.repository.js';

export interface PixReturnIntent {
  readonly accountId: string;
  readonly mode: Mode;
  readonly transactionId: string;
  readonly acquirer: string;
  readonly endToEndId: string;
  readonly returnId: string;
  readonly amount: Amount;
  readonly reason: string;
}

const POLL_MS = 500;
const LEASE_MS = 30_000;
const BATCH = 50;

/**
 * Sends Pix back to their payers: intent in the settlement's transaction, call, outcome. A call whose outcome is not
 * known leaves the return in flight; it is asked for, and repeated under the same (end-to-end id, return id), which
 * acquirers take for the same return.
 */
@Injectable()
export class ReturnsService implements OnApplicationBootstrap {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly database: Database,
    private readonly settlements: SettlementsRepository,
    private readonly acquirers: AcquirersService,
    private readonly poller: Poller,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  onApplicationBootstrap(): void {
    if (this.config.runsWorkers) this.poller.every('transactions.returns', POLL_MS, () => this.advanceDue());
  }

  request(tx: Tx, intent: PixReturnIntent): void {
    const now = this.clock.now();
    this.settlements.insertReturn(tx, { ...intent, id: newId(now), now });
    tx.afterCommit(() => this.poller.wake('transactions.returns'));
  }

  /** Takes every return in flight one step further. @returns whether there may be more at once */
  async advanceDue(): Promise<boolean> {
    const now = this.clock.now();
    const leasedUntil = new Date(now.getTime() + LEASE_MS);
    const due = await this.database.transaction((tx) => this.settlements.claimDueReturns(tx, now, leasedUntil, BATCH));
    await Promise.all(due.map((pixReturn) => this.#advance(pixReturn)));
    return due.length === BATCH;
  }

  async #advance(pixReturn: PixReturn): Promise<void> {
    const state = await this.#ask(pixReturn).catch((error: unknown): PixReturnState => {
      this.logger.warn({ error, returnId: pixReturn.returnId }, 'the outcome of a return is not known; asking again');
      return { kind: 'in_progress' };
    });
    const now = this.clock.now();
    const pauseMs = Math.min(500 * 2 ** pixReturn.attempts, 3_600_000);
    await this.database.transaction(async (tx) => {
      const move = (status: PixReturn['status'], next: Date | null, reason: string | null): void =>
        this.settlements.moveReturn(tx, pixReturn.id, status, next, reason, now);
      switch (state.kind) {
        case 'returned':
          return move('RETURNED', null, null);
        case 'failed':
          // Nobody is out of pocket, the money is still with us: an operator has to look.
          this.logger.error({ returnId: pixReturn.returnId, reason: state.reason }, 'a return was refused');
          return move('FAILED', null, state.reason);
        case 'in_progress':
        case 'not_found':
          return move('IN_PROGRESS', new Date(now.getTime() + pauseMs), null);
      }
    });
  }

  async #ask(pixReturn: PixReturn): Promise<PixReturnState> {
    const acquirer = this.acquirers.get(pixReturn.acquirer);
    const { endToEndId, returnId, amount } = pixReturn;
    if (pixReturn.status === 'IN_PROGRESS') {
      const state = await acquirer.getReturn(endToEndId, returnId);
      if (state.kind !== 'not_found') return state;
    }
    return acquirer.requestReturn({ endToEndId, returnId, amount });
  }
}
