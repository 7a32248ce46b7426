import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Clock, DAY_MS } from '../core/clock.js';
import { Database, type Tx } from '../core/database/index.js';
import type { Scope } from '../core/mode.js';
import { type Prolong, type WorkAnswer, WorkService } from '../core/work/index.js';
import { OutboxService } from '../outbox/index.js';
import { ObjectStorage } from '../storage/index.js';
import { reportEvent } from './report.events.js';
import type { ReportEntity } from './report.entity.js';
import { ReportWriter } from './report-writer.service.js';
import { ReportsRepository } from './reports.repository.js';

const KEPT_MS = 7 * DAY_MS;
/** Pause between two reports of progress. */
const TELL_MS = 1_000;
/** Pause between two lease extensions: counting the rows, or a storage that stalls, may take longer than one lease. */
const PROLONG_MS = 5_000;
/** If no row comes for this long, the work hangs: another process starts over. */
const LONGEST_PIECE_MS = 900_000;

/**
 * Makes files of the books, in workers. If a process dies during its work, another one starts over: an unfinished file
 * is never published.
 */
@Injectable()
export class ReportMaker {
  constructor(
    private readonly database: Database,
    private readonly reports: ReportsRepository,
    private readonly writer: ReportWriter,
    private readonly storage: ObjectStorage,
    private readonly work: WorkService,
    private readonly outbox: OutboxService,
    private readonly clock: Clock,
  ) {}

  /** @returns null when the report must no longer be made */
  async begin(id: string): Promise<ReportEntity | null> {
    return this.database.transaction((tx) => this.reports.begin(tx, id));
  }

  /** @param prolong extends the lease of the work @throws LeaseLost when another run has taken over the work */
  async make(report: ReportEntity, prolong: Prolong): Promise<WorkAnswer> {
    // A lost lease is detected below, before any progress is stored.
    let movedAt = performance.now();
    const keeping = setInterval(() => {
      if (performance.now() - movedAt < LONGEST_PIECE_MS) void prolong().catch(() => undefined);
    }, PROLONG_MS);
    try {
      return await this.#make(report, prolong, () => void (movedAt = performance.now()));
    } finally {
      clearInterval(keeping);
    }
  }

  async #make(report: ReportEntity, prolong: Prolong, moved: () => void): Promise<WorkAnswer> {
    const { totalRows, pieces } = await this.writer.write(report);
    let rows = 0;
    const tell = async (): Promise<void> => {
      await prolong();
      await this.database.transaction((tx) => Promise.resolve(this.reports.progress(tx, report.id, rows, totalRows)));
    };
    await tell();
    const chunks = async function* (): AsyncGenerator<Buffer> {
      let toldAt = performance.now();
      let begunAt = toldAt;
      for await (const piece of pieces) {
        rows += piece.rows;
        moved();
        yield Buffer.from(piece.content);
        if (performance.now() - toldAt >= TELL_MS) {
          await tell();
          toldAt = performance.now();
        }
        // Pauses as long as the piece took, which leaves half of the processor and the database to others.
        await delay(performance.now() - begunAt);
        begunAt = performance.now();
      }
    };
    const object = await this.storage.write(report.id, chunks());
    const now = this.clock.now();
    const expiresAt = new Date(now.getTime() + KEPT_MS);
    const isReady = await this.database.transaction(async (tx) => {
      await this.reports.lockUse(tx, report);
      const ready = await this.reports.ready(tx, report.id, rows, object, now, expiresAt);
      if (ready) {
        this.outbox.record(tx, [reportEvent('report.ready', ready, now)]);
        await this.#addNext(tx, ready, now);
      }
      return ready !== null;
    });
    // If another process finished first, its file stays.
    if (!isReady) {
      await this.storage.remove(object.name);
      return this.end(report.id);
    }
    // Removes the files of earlier attempts.
    await this.storage.close(report.id, object.name);
    return expiresAt;
  }

  /**
   * Marks the report as failed unless it is ready: only the answer to its commit may have been lost.
   * @throws LeaseLost
   */
  async giveUp(report: ReportEntity, prolong: Prolong): Promise<WorkAnswer> {
    await this.database.transaction(async (tx) => {
      await this.reports.lockUse(tx, report);
      // An overtaken run does not know the progress of the other one.
      await prolong(tx);
      const failed = await this.reports.fail(tx, report.id);
      const now = this.clock.now();
      if (!failed) return;
      this.outbox.record(tx, [reportEvent('report.failed', failed, now)]);
      await this.#addNext(tx, failed, now);
    });
    return this.end(report.id);
  }

  /** Removes the report's files, unless it is ready and not yet expired. */
  async end(id: string): Promise<WorkAnswer> {
    const found = await this.reports.find(id);
    if (found?.status === 'ready' && found.expiresAt !== null && this.clock.now() < found.expiresAt) {
      return found.expiresAt;
    }
    await this.storage.close(id, null);
    await this.database.transaction((tx) => Promise.resolve(this.reports.expire(tx, id)));
    return 'done';
  }

  /** The caller has locked the use of the account and mode. */
  async #addNext(tx: Tx, scope: Scope, now: Date): Promise<void> {
    const next = await this.reports.nextPending(tx, scope);
    if (next !== null) this.work.add(tx, 'report', next, now);
  }
}
