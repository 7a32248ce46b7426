import { Injectable } from '@nestjs/common';
import {
  AcquirersService,
  InboxService,
  type NotificationHint,
  type StatementLine,
  type UnreadableLine,
} from '../acquirers/index.js';
import { Database } from '../core/database/index.js';
import { Logger } from '../core/log/index.js';
import { Metrics } from '../core/metrics/index.js';
import { InternalRecordsRepository } from '../transactions/index.js';
import { PayoutListReader } from './payout-list-reader.service.js';
import type { Window } from './statement-window.js';
import { isPayoutList, type StatementList } from './statements.entity.js';

/** Number of lines that are looked up here together. */
const CHUNK = 200;

/**
 * Reads the acquirers' own lists. Payments that no callback reported go into the inbox, and so do returns that were not
 * requested here. The list alone is not trusted: the inbox queries the acquirer about each.
 */
@Injectable()
export class StatementReader {
  constructor(
    private readonly database: Database,
    private readonly acquirers: AcquirersService,
    private readonly records: InternalRecordsRepository,
    private readonly inbox: InboxService,
    private readonly payouts: PayoutListReader,
    private readonly metrics: Metrics,
    private readonly logger: Logger,
  ) {}

  /** @throws the acquirer's error when its list cannot be read: lines read before it are in the inbox */
  async read(acquirer: string, list: StatementList, { from, to }: Window): Promise<void> {
    if (isPayoutList(list)) return this.payouts.read(acquirer, { from, to });
    const { statement } = this.acquirers.get(acquirer);
    if (statement === null) return;
    let lines: (StatementLine | UnreadableLine)[] = [];
    for await (const line of statement({ from, to, ...(list === 'returns' ? { withReturns: true } : {}) })) {
      lines.push(line);
      if (lines.length < CHUNK) continue;
      await this.#take(acquirer, lines);
      lines = [];
    }
    await this.#take(acquirer, lines);
  }

  async #take(acquirer: string, all: readonly (StatementLine | UnreadableLine)[]): Promise<void> {
    const lines = all.filter((line) => 'pix' in line);
    const unreadable = all.filter((line): line is UnreadableLine => !('pix' in line));
    const unread = this.#unreadable(acquirer, unreadable);
    const paid = lines.map(
      ({ pix }) => ({ kind: 'pix', reference: pix.endToEndId, txid: pix.txid, shown: pix }) as const,
    );
    const hints = [
      ...(await this.#payments([...paid, ...unread.filter(({ kind }) => kind === 'pix')])),
      ...(await this.#returns(acquirer, lines)),
      ...unread.filter(({ kind }) => kind !== 'pix'),
    ];
    if (hints.length === 0) return;
    this.logger.info({ acquirer, hints: hints.length }, 'a statement has entries that no callback told of');
    await this.database.transaction((tx) => this.inbox.queueAll(tx, acquirer, hints));
  }

  /**
   * Unreadable lines cannot be credited: an operator has to look. If a line has an id, the inbox keeps its hint, where
   * operators see it.
   */
  #unreadable(acquirer: string, lines: readonly UnreadableLine[]): NotificationHint[] {
    return lines.flatMap(({ what, endToEndId, returnId, hint }) => {
      this.metrics.statementOddities.inc({ what: 'unreadable' });
      this.logger.error({ acquirer, what, endToEndId, returnId }, 'a line of a statement cannot be read');
      return hint ?? [];
    });
  }

  /** Hints about payments that were not settled here. */
  async #payments(hints: readonly NotificationHint[]): Promise<NotificationHint[]> {
    const unsettled = new Set(await this.records.unsettled(hints.map(({ reference }) => reference)));
    return hints.filter(({ reference }) => unsettled.has(reference));
  }

  /** Hints about disputes, and about returns that wait here for their end. */
  async #returns(acquirer: string, lines: readonly StatementLine[]): Promise<NotificationHint[]> {
    const returned = lines.filter(({ returns }) => returns.length > 0);
    if (returned.length === 0) return [];
    const booked = await this.records.returns(
      acquirer,
      returned.map(({ pix }) => pix.endToEndId),
    );
    const states = new Map(booked.map((own) => [`${own.endToEndId}/${own.returnId}`, own.state]));
    return returned.flatMap(({ pix, returns }) =>
      returns.flatMap(({ returnId, cause, state, hint }) => {
        if (cause === 'dispute') return [hint];
        const own = states.get(`${pix.endToEndId}/${returnId}`);
        if (own === undefined && state !== 'failed') {
          this.logger.warn(
            { acquirer, endToEndId: pix.endToEndId, returnId },
            'a return was made that was not asked for here',
          );
        } else if (own === 'failed' && state !== 'failed') {
          // Money left that the books have given back to the merchant: an operator has to look at once.
          this.metrics.statementOddities.inc({ what: 'failed_return_moved' });
          this.logger.error({ acquirer, endToEndId: pix.endToEndId, returnId, state }, 'a return that failed was made');
        } else if (own === 'returned' && state === 'failed') {
          // The books say that the payer has the money, but the bank still has it: an operator has to look at once.
          this.metrics.statementOddities.inc({ what: 'made_return_failed' });
          this.logger.error({ acquirer, endToEndId: pix.endToEndId, returnId }, 'a return that was made has failed');
        }
        return own === 'in_progress' && state !== 'in_progress' ? [hint] : [];
      }),
    );
  }
}
