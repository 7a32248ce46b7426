import { Injectable, type OnModuleInit } from '@nestjs/common';
import { type AccountEntity, AccountsService } from '../accounts/index.js';
import { saoPauloDay, saoPauloMonthBounds } from '../brazil/index.js';
import { Clock } from '../core/clock.js';
import { Database, type Tx } from '../core/database/index.js';
import { WorkService } from '../core/work/index.js';
import { occurrencesOf } from '../payouts/index.js';
import { MonthlyClosingMails } from './monthly-closing-mails.service.js';
import { ReportsService } from './reports.service.js';

/** The first day of the banks in each month, in São Paulo. */
const FIRST_BANK_DAY = { every: 'month', on: 1, at: '08:00' } as const;

/** Makes the closing of each month for the accounts that want it, and writes to their OWNERs. */
@Injectable()
export class MonthlyClosings implements OnModuleInit {
  constructor(
    private readonly database: Database,
    private readonly accounts: AccountsService,
    private readonly reports: ReportsService,
    private readonly mails: MonthlyClosingMails,
    private readonly work: WorkService,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.accounts.whenSettingsChange((tx, before, after) => Promise.resolve(this.#changed(tx, before, after)));
  }

  /**
   * Orders the files of the last month and writes the mail, in the commit that ends its month. The account's lock lets
   * one run do so, whatever crashes.
   * @returns the next first bank day; null: the account wants no closing
   */
  async run(accountId: string): Promise<Date | null> {
    return this.database.transaction(async (tx) => {
      const account = await this.accounts.lock(tx, accountId);
      const { monthlyClosing, monthlyClosingAfter: after } = account;
      if (!monthlyClosing || after === null) return null;
      const now = this.clock.now();
      const { due, next } = occurrencesOf(FIRST_BANK_DAY, after, now);
      if (due === null) return next;
      this.accounts.setMonthlyClosingAfter(tx, accountId, due);
      const { from: end } = saoPauloMonthBounds(saoPauloDay(due).slice(0, 7));
      const to = new Date(end.getTime() - 1);
      const { from } = saoPauloMonthBounds(saoPauloDay(to).slice(0, 7));
      const order = { accountId, mode: 'live', type: 'closing', from, to, columns: null, filters: null } as const;
      await this.reports.add(tx, { ...order, format: 'pdf', locale: null, createdAt: now });
      await this.reports.add(tx, { ...order, format: 'xlsx', locale: 'pt-BR', createdAt: now });
      await this.mails.write(tx, account, from);
      return next;
    });
  }

  #changed(tx: Tx, before: AccountEntity, after: AccountEntity): void {
    if (after.monthlyClosing === before.monthlyClosing) return;
    const now = this.clock.now();
    if (after.monthlyClosing) this.accounts.setMonthlyClosingAfter(tx, after.id, now);
    // If the account wants none, the run ends the work.
    const due = after.monthlyClosing ? occurrencesOf(FIRST_BANK_DAY, now, now).next : now;
    this.work.add(tx, 'monthly_closing', after.id, due);
  }
}
