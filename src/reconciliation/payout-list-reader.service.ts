import { Injectable } from '@nestjs/common';
import { AcquirersService, InboxService, type NotificationHint } from '../acquirers/index.js';
import { Database } from '../core/database/index.js';
import { Logger } from '../core/log/index.js';
import { Metrics } from '../core/metrics/index.js';
import { newsOf, type PayoutEntry } from './payout-differences.js';
import { PayoutRecordsRepository } from './payout-records.repository.js';
import type { Window } from './statement-window.js';

/** Number of entries that are looked up here together. */
const CHUNK = 200;

/**
 * Reads the acquirers' own lists of sends. Ends and returns of payouts that no callback reported go into the inbox. The
 * list alone is not trusted: the inbox has the acquirer queried about each.
 */
@Injectable()
export class PayoutListReader {
  constructor(
    private readonly database: Database,
    private readonly acquirers: AcquirersService,
    private readonly records: PayoutRecordsRepository,
    private readonly inbox: InboxService,
    private readonly metrics: Metrics,
    private readonly logger: Logger,
  ) {}

  /** @throws the acquirer's error when its list cannot be read: entries read before it are in the inbox */
  async read(acquirer: string, { from, to }: Window): Promise<void> {
    let entries: PayoutEntry[] = [];
    for await (const entry of this.acquirers.get(acquirer).payouts?.list?.(from, to) ?? []) {
      entries.push(entry);
      if (entries.length < CHUNK) continue;
      await this.#take(acquirer, entries);
      entries = [];
    }
    await this.#take(acquirer, entries);
  }

  async #take(acquirer: string, entries: readonly PayoutEntry[]): Promise<void> {
    const known = await this.records.known(
      acquirer,
      entries.flatMap(({ sendId }) => sendId ?? []),
    );
    const bySendId = new Map(known.map((own) => [own.sendId, own]));
    const hints = entries.flatMap((entry): NotificationHint[] => {
      const { sendId, endToEndId, hint } = entry;
      const own = bySendId.get(sendId ?? '') ?? null;
      const news = newsOf(entry, own);
      const fields = { acquirer, sendId, endToEndId, subject: own?.subject, id: own?.id };
      switch (news) {
        case null:
          return [];
        case 'look_up':
          // A cashout under way is queried by its refund.
          return hint && own?.subject === 'payout' ? [hint] : [];
        case 'unknown_here':
          this.logger.warn(fields, 'money was sent that was not sent from here');
          return [];
        case 'unreadable':
          this.metrics.statementOddities.inc({ what: 'unreadable' });
          this.logger.error(fields, 'a send in a list cannot be read');
          return hint && own?.subject === 'payout' ? [hint] : [];
        case 'failed_payout_moved':
        case 'cashout_returned':
          // The merchant's balance is wrong by it: an operator has to look at once.
          this.metrics.statementOddities.inc({ what: news });
          this.logger.error({ ...fields, news }, 'a list of sends contradicts the books');
          return [];
      }
    });
    if (hints.length === 0) return;
    this.logger.info({ acquirer, hints: hints.length }, 'a list of sends has entries that no callback told of');
    await this.database.transaction((tx) => this.inbox.queueAll(tx, acquirer, hints));
  }
}
