import { Injectable } from '@nestjs/common';
import { Clock } from '../core/clock.js';
import { Database, type Tx } from '../core/database/index.js';
import { notFound } from '../core/errors/index.js';
import { WorkService } from '../core/work/index.js';
import { MembersRepository, type PaidMails } from './members.repository.js';
import { type ChosenNotices, noticesOf, type ReadNotices } from './notices.js';

/** Shortest time between two mails about paid sales to one person. */
export const PAID_MAILS_MS = 5 * 60_000;

/** The notices that each person of an account wants, and those that they have read. */
@Injectable()
export class NoticesService {
  constructor(
    private readonly database: Database,
    private readonly members: MembersRepository,
    private readonly work: WorkService,
    private readonly clock: Clock,
  ) {}

  /** @throws ApiError 404 for nobody of the account */
  async get(accountId: string, userId: string): Promise<ChosenNotices & { read: ReadNotices }> {
    const member = (await this.members.list(accountId)).find((one) => one.userId === userId);
    if (!member) throw notFound('member');
    const { noticesReadLive: live, noticesReadTest: test, createdAt } = member;
    return { ...noticesOf(member), read: { live: live ?? createdAt, test: test ?? createdAt } };
  }

  /**
   * @param chosen lists that change
   * @param read times that change; a later time than now counts as now, and an earlier one than the stored changes nothing
   */
  async change(
    accountId: string,
    userId: string,
    chosen: Partial<ChosenNotices>,
    read: Partial<ReadNotices>,
  ): Promise<void> {
    const now = this.clock.now();
    const past = Object.entries(read).map(([mode, at]) => [mode, at > now ? now : at] as const);
    await this.database.transaction((tx) => {
      this.members.chooseNotices(tx, accountId, userId, chosen);
      this.members.readNotices(tx, accountId, userId, Object.fromEntries(past));
      if (chosen.mail?.includes('paid')) {
        this.work.add(tx, 'paid_mail', userId, new Date(now.getTime() + PAID_MAILS_MS));
      }
      return Promise.resolve();
    });
  }

  /** Locks how far the mails about paid sales have come; nothing if the person wants none. */
  lockPaidMails(tx: Tx, userId: string): Promise<PaidMails[]> {
    return this.members.lockPaidMails(tx, userId);
  }

  setPaidMails(tx: Tx, accountId: string, userId: string, xid: number): void {
    this.members.setPaidMails(tx, accountId, userId, xid);
  }
}
