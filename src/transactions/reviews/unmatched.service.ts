import { Injectable } from '@nestjs/common';
import { ConnectionsService, InboxService, type NotificationHint, UnreadableAnswer } from '../../acquirers/index.js';
import { Clock, HOUR_MS } from '../../core/clock.js';
import type { Tx } from '../../core/database/index.js';
import { Logger } from '../../core/log/index.js';
import { TransactionsRepository } from '../transactions.repository.js';
import { SettlementRecords } from '../settlement/settlement-records.service.js';
import type { ReceivedMoney, Settlement } from '../settlement/settlement.rules.js';
import { SettlementsRepository } from '../settlement/settlements.repository.js';

/** How long the acquirer that made a charge may take to confirm a Pix that another acquirer has confirmed. */
const PATIENCE_MS = HOUR_MS;

/** Confirmed money that names no charge which was made at its acquirer. */
@Injectable()
export class UnmatchedService {
  constructor(
    private readonly transactions: TransactionsRepository,
    private readonly settlements: SettlementsRepository,
    private readonly connections: ConnectionsService,
    private readonly records: SettlementRecords,
    private readonly inbox: InboxService,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  /**
   * Keeps the money for the operators; the service never guesses whom to credit. Ends the notification, unless the Pix
   * is `elsewhere`.
   * @returns `elsewhere`: another acquirer made the charge. It may confirm the Pix, and is asked now if it belongs to
   *   the same account
   */
  async keep(tx: Tx, settlement: Settlement): Promise<'unmatched' | 'elsewhere' | 'repeated'> {
    const { acquirer, money } = settlement;
    const { endToEndId, txid } = money;
    const accountId = await this.connections.ownerOf(tx, acquirer);
    const owner = accountId === null ? null : { accountId, mode: 'live' as const, currency: 'BRL', id: null };
    const isSettled = await this.settlements.isSettled(tx, endToEndId);
    const maker = owner && txid !== null && !isSettled ? await this.transactions.makerOf(tx, txid) : null;
    if (maker) {
      const isOwn = maker.accountId === accountId;
      const isElsewhere = isOwn
        ? await this.#askElsewhere(tx, acquirer, maker.acquirer, money)
        : await this.#isEarly(tx, acquirer, endToEndId);
      if (isElsewhere) return 'elsewhere';
    }
    this.records.closeNotification(tx, settlement);
    if (isSettled) return 'repeated';
    const settlementId = this.records.insert(tx, settlement, owner, 'unmatched', null);
    if (owner) this.records.suspend(tx, settlementId, owner, money);
    this.logger.warn({ acquirer, endToEndId }, 'a Pix matches no charge');
    return 'unmatched';
  }

  /**
   * Refuses a Pix that pays a charge of the account but is settled already in another account's books.
   * @throws UnreadableAnswer when another account's books have it: operators see it, and the charge does not expire
   */
  async refuseOther({ acquirer, money: { endToEndId, txid }, accountId }: Settlement): Promise<void> {
    const settlementId = accountId && (await this.settlements.settledByAnother(accountId, endToEndId));
    if (!settlementId) return;
    const about = { acquirer, endToEndId, txid, accountId, settlementId };
    this.logger.error(about, "a Pix of a charge is in another account's books");
    throw new UnreadableAnswer("a Pix of a charge, in another account's books,");
  }

  /**
   * Two connections of an account may see the same money at a PSP: the acquirer that made the charge is asked, and it
   * alone credits the charge.
   * @returns false when that acquirer does not confirm it in time
   */
  async #askElsewhere(tx: Tx, acquirer: string, asked: string, { endToEndId, txid }: ReceivedMoney): Promise<boolean> {
    const hint: NotificationHint = { kind: 'pix', reference: endToEndId, txid };
    const told = await this.inbox.stateOf(tx, asked, hint);
    if (told?.status === 'ignored' || this.#isOver(told)) return false;
    await this.inbox.queueAll(tx, asked, [hint]);
    this.logger.info({ acquirer, asked, endToEndId }, "a Pix is of another acquirer's charge");
    return true;
  }

  /** The Pix names another account's charge: that account's own acquirer may still report it, and is not asked. */
  async #isEarly(tx: Tx, acquirer: string, endToEndId: string): Promise<boolean> {
    return !this.#isOver(await this.inbox.stateOf(tx, acquirer, { kind: 'pix', reference: endToEndId }));
  }

  #isOver(told: { readonly receivedAt: Date } | null): boolean {
    return told !== null && this.clock.now().getTime() - told.receivedAt.getTime() > PATIENCE_MS;
  }
}
