import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Clock } from '../../core/clock.js';
import { Database } from '../../core/database/index.js';
import { Poller } from '../../core/queue/index.js';
import { OutboxService } from '../../outbox/index.js';
import { DisputesService } from '../../transactions/index.js';
import { nextNotice, rulingOf } from './med-case.rules.js';
import { MedCasesRepository } from './med-cases.repository.js';
import { medEvent } from './med.events.js';

const SWEEP_MS = 5_000;
const BATCH = 100;

/** Sends notices of response deadlines that come near (docs/contract.md#deadline-notices). */
@Injectable()
export class MedDeadlines implements OnApplicationBootstrap {
  constructor(
    private readonly database: Database,
    private readonly cases: MedCasesRepository,
    private readonly disputes: DisputesService,
    private readonly outbox: OutboxService,
    private readonly poller: Poller,
    private readonly clock: Clock,
  ) {}

  onApplicationBootstrap(): void {
    this.poller.onWorkers('med.deadlines', SWEEP_MS, () => this.sweep());
  }

  /**
   * Sends each notice (48, 24 and 6 hours before) once, in any number of workers. After a standstill the missed notices
   * become one. No notice is sent once the deadline has passed or the bank has ruled: the case then waits for an
   * operator and not for the merchant.
   * @returns whether there may be more
   */
  async sweep(): Promise<boolean> {
    return this.database.transaction(async (tx) => {
      const now = this.clock.now();
      const due = await this.cases.lockDue(tx, now, BATCH);
      for (const medCase of due) this.cases.schedule(tx, medCase.id, nextNotice(medCase.responseDeadline, now));
      const near = due.filter(
        ({ status, review, bank, responseDeadline }) =>
          status === 'open' &&
          (review === null || review === 'ruling_dismissed' || rulingOf(bank, status) === null) &&
          responseDeadline !== null &&
          responseDeadline > now,
      );
      const sales = await this.disputes.transactionsOf(
        tx,
        near.map(({ transactionId }) => transactionId),
      );
      const saleOf = new Map(sales.map((sale) => [sale.id, sale]));
      const events = near.flatMap((medCase) => {
        const sale = saleOf.get(medCase.transactionId);
        return sale ? [{ ...medEvent('med_case.deadline_approaching', medCase, sale), occurredAt: now }] : [];
      });
      this.outbox.record(tx, events);
      return due.length === BATCH;
    });
  }
}
