import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import {
  AcquirersService,
  ConnectionsService,
  InboxService,
  type NotificationHint,
  type StatementLine,
  type UnreadableLine,
} from '../acquirers/index.js';
import { Clock } from '../core/clock.js';
import { Database } from '../core/database/index.js';
import { Logger } from '../core/log/index.js';
import { Metrics } from '../core/metrics/index.js';
import { JobQueue, Poller } from '../core/queue/index.js';
import { InternalRecordsRepository } from '../transactions/index.js';
import { afterFailure, afterRead, type Window, windowOf } from './statement-window.js';
import type { StatementList } from './statements.entity.js';
import { type Progress, StatementsRepository } from './statements.repository.js';

declare module '../core/queue/index.js' {
  interface JobMap {
    'reconciliation.statement': { acquirer: string; list: StatementList };
  }
}

const SWEEP_MS = 5_000;
/** Renewed while a worker reads: one that died holds a list up no longer than this. */
const LEASE_MS = 30_000;
const RENEW_MS = 10_000;
const BATCH = 100;
/** Lines that are looked up here together. */
const CHUNK = 200;

/**
 * Reads the acquirers' own lists and puts into the inbox what no callback told of: payments whose callback never came,
 * once a day those of the last days again that were listed late, and the returns of the last ninety days, those among
 * them that were not asked for here. Nothing is believed but by the inbox, which asks again about each.
 */
@Injectable()
export class StatementsService implements OnApplicationBootstrap {
  constructor(
    private readonly database: Database,
    private readonly statements: StatementsRepository,
    private readonly connections: ConnectionsService,
    private readonly acquirers: AcquirersService,
    private readonly records: InternalRecordsRepository,
    private readonly inbox: InboxService,
    private readonly queue: JobQueue,
    private readonly poller: Poller,
    private readonly metrics: Metrics,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  onApplicationBootstrap(): void {
    this.poller.onWorkers('reconciliation.statements', SWEEP_MS, () => this.sweep());
  }

  /** Queues the lists that are due. One that loses its worker is due again when its lease is over. */
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

  /** Reads one window of a list. Never throws: one that cannot be read is kept, and read again later. */
  async read(acquirer: string, list: StatementList): Promise<void> {
    const progress = await this.statements.find(acquirer, list);
    if (!progress) return;
    const now = this.clock.now();
    const window = windowOf(progress, now);
    const lease = this.#lease(progress);
    let problem: string | null = null;
    try {
      await this.#readWindow(acquirer, list, window);
    } catch (error) {
      problem = error instanceof Error ? error.message.slice(0, 500) : String(error);
      this.logger.error({ error, acquirer, list, ...window }, 'a statement could not be read; it is kept');
    }
    this.metrics.statements.inc({ list, outcome: problem === null ? 'read' : 'failed' });
    const after = problem === null ? afterRead(progress, window, now) : afterFailure(progress, this.clock.now());
    const held = await lease.end();
    await this.database.transaction(async (tx) => this.statements.save(tx, held, after, problem));
    // The next window of a pass after an outage.
    if (problem === null && after.resumeAt !== null) this.poller.wake('reconciliation.statements');
  }

  /** Keeps the list from others, however long the acquirer takes. */
  #lease(progress: Progress): { end(): Promise<Progress> } {
    let held = progress;
    let renewal = Promise.resolve();
    const renew = async (): Promise<void> => {
      const leasedUntil = new Date(this.clock.now().getTime() + LEASE_MS);
      held = await this.database.transaction((tx) => this.statements.renew(tx, held, leasedUntil));
    };
    const timer = setInterval(() => {
      renewal = renewal.then(renew).catch((error: unknown) => {
        this.logger.warn(
          { error, acquirer: held.acquirer, list: held.list },
          'the lease of a statement was not renewed',
        );
      });
    }, RENEW_MS);
    return {
      end: async () => {
        clearInterval(timer);
        await renewal;
        return held;
      },
    };
  }

  async #readWindow(acquirer: string, list: StatementList, { from, to }: Window): Promise<void> {
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
    const ids = lines.map(({ pix }) => pix.endToEndId);
    const unread = this.#unreadable(acquirer, unreadable);
    const payments = [...ids, ...unread.flatMap(({ kind, reference }) => (kind === 'pix' ? [reference] : []))];
    const hints = [
      ...(await this.#payments(acquirer, payments)),
      ...(await this.#returns(acquirer, lines)),
      ...unread.filter(({ kind }) => kind !== 'pix'),
    ];
    if (hints.length === 0) return;
    this.logger.info({ acquirer, hints: hints.length }, 'a statement has entries that no callback told of');
    const stored = await this.database.transaction((tx) => this.inbox.storeAll(tx, acquirer, hints));
    // The inbox brings what the queue does not take.
    await this.inbox.enqueue(stored).catch(() => undefined);
  }

  /** It cannot be credited: an operator has to look. What has a name is kept by the inbox, where operators see it. */
  #unreadable(acquirer: string, lines: readonly UnreadableLine[]): NotificationHint[] {
    return lines.flatMap(({ what, endToEndId, returnId, hint }) => {
      this.metrics.statementOddities.inc({ what: 'unreadable' });
      this.logger.error({ acquirer, what, endToEndId, returnId }, 'a line of a statement cannot be read');
      return hint ?? [];
    });
  }

  /** Of those that were not settled here. */
  async #payments(acquirer: string, ids: readonly string[]): Promise<NotificationHint[]> {
    const unknown = await this.records.unknown(acquirer, ids);
    // Of another acquirer's charge, perhaps: then that one was asked.
    const told = unknown.length === 0 ? new Set<string>() : await this.inbox.applied(acquirer, 'pix', unknown);
    return unknown.filter((id) => !told.has(id)).map((reference) => ({ kind: 'pix', reference }));
  }

  /** Of disputes, and of returns that wait here for their end. */
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
          // Money left that the books have given back to the merchant: an operator has to look, at once.
          this.metrics.statementOddities.inc({ what: 'failed_return_moved' });
          this.logger.error({ acquirer, endToEndId: pix.endToEndId, returnId, state }, 'a return that failed was made');
        }
        return own === 'in_progress' && state !== 'in_progress' ? [hint] : [];
      }),
    );
  }
}
