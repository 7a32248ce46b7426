import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { InboxService } from '../acquirers/index.js';
import { Clock } from '../core/clock.js';
import { type Config, CONFIG } from '../core/config/index.js';
import { Database, type Tx } from '../core/database/index.js';
import { newId } from '../core/ids.js';
import { Logger } from '../core/log/index.js';
import { Poller } from '../core/queue/index.js';
import { nextAsk, ReturnCalls } from './return-calls.js';
import { type IntentField, SettlementsRepository } from './settlements.repository.js';
import type { PixReturnEntity } from './transaction.entity.js';

export interface PixReturnIntent extends Pick<PixReturnEntity, IntentField> {
  /** Of the transaction. */
  readonly txid: string | null;
}

const POLL_MS = 500;
const LEASE_MS = 30_000;
const BATCH = 50;

/**
 * Sends money that is nobody's payment back to its payer: intent in the settlement's transaction, call, outcome. A call whose outcome is not
 * known leaves the return in flight.
 */
@Injectable()
export class ReturnsService implements OnApplicationBootstrap {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly database: Database,
    private readonly settlements: SettlementsRepository,
    private readonly calls: ReturnCalls,
    private readonly inbox: InboxService,
    private readonly poller: Poller,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  onApplicationBootstrap(): void {
    if (this.config.runsWorkers) this.poller.every('transactions.returns', POLL_MS, () => this.advanceDue());
  }

  /** Writes the intent; who disputes the payment by its bank is heard from now on. */
  request(tx: Tx, intent: PixReturnIntent): void {
    const now = this.clock.now();
    this.settlements.insertReturn(tx, { ...intent, id: newId(now), now });
    this.inbox.wake(tx, intent.acquirer, [intent.endToEndId, intent.txid]);
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

  /**
   * Takes one that is in flight a step further now, whenever it is due.
   * @returns false when there is no such return
   */
  async advance(acquirer: string, endToEndId: string, returnId: string): Promise<boolean> {
    const now = this.clock.now();
    const leasedUntil = new Date(now.getTime() + LEASE_MS);
    const claimed = await this.database.transaction((tx) =>
      this.settlements.claimReturn(tx, acquirer, endToEndId, returnId, now, leasedUntil),
    );
    if (!claimed) return this.settlements.hasReturn(acquirer, endToEndId, returnId);
    await this.#advance(claimed);
    return true;
  }

  async #advance(pixReturn: PixReturnEntity): Promise<void> {
    const { accountId, acquirer, endToEndId, returnId, way, amount, currency, attempts } = pixReturn;
    const name = { accountId, way, reference: endToEndId, returnId };
    const request = { ...name, cause: 'unwanted', amount, currency, destination: null } as const;
    // A worker that died between its call and the record has left it PENDING: only at the first attempt is nothing there.
    const state = await this.calls.advance(acquirer, request, attempts <= 1 ? null : attempts);
    const now = this.clock.now();
    await this.database.transaction(async (tx) => {
      const move = (to: 'IN_PROGRESS' | 'FAILED', next: Date | null, reason: string | null): void =>
        this.settlements.moveReturn(tx, pixReturn.id, to, next, reason, now);
      switch (state.kind) {
        case 'returned':
          return this.settlements.completeReturn(tx, pixReturn.id, now);
        case 'failed':
          // Nobody is out of pocket, the money is still with us: an operator has to look.
          this.logger.error({ returnId, reason: state.reason }, 'a return was refused');
          return move('FAILED', null, state.reason);
        case 'in_progress':
        case 'not_found':
          return move('IN_PROGRESS', nextAsk(now, attempts), null);
      }
    });
  }
}
