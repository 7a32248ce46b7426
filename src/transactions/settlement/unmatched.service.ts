import { Injectable } from '@nestjs/common';
import { ConnectionsService, InboxService, type NotificationHint } from '../../acquirers/index.js';
import { Clock, HOUR_MS } from '../../core/clock.js';
import type { Tx } from '../../core/database/index.js';
import { Logger } from '../../core/log/index.js';
import { TransactionsRepository } from '../transactions.repository.js';
import { SettlementRecords } from './settlement-records.service.js';
import type { ReceivedMoney } from './settlement.rules.js';
import { SettlementsRepository } from './settlements.repository.js';

/** How long the acquirer that made a charge may take to confirm a Pix that another acquirer of the account has confirmed. */
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
   * Keeps the money for the operators; it is never credited to anybody by guessing.
   * @param close ends the notification, unless the Pix is `elsewhere`
   * @returns `elsewhere`: another acquirer of the account made the charge, and is asked now
   */
  async keep(
    tx: Tx,
    acquirer: string,
    money: ReceivedMoney,
    close: (tx: Tx) => void,
  ): Promise<'unmatched' | 'elsewhere' | 'repeated'> {
    const { endToEndId, txid } = money;
    const accountId = await this.connections.ownerOf(tx, acquirer);
    const owner = accountId === null ? null : { accountId, mode: 'live' as const, currency: 'BRL', id: null };
    const asked = owner && txid !== null ? await this.transactions.acquirerOf(tx, owner, txid) : null;
    const isElsewhere = asked !== null && (await this.#askElsewhere(tx, acquirer, asked, money));
    if (isElsewhere) return 'elsewhere';
    close(tx);
    if (await this.settlements.isSettled(tx, endToEndId)) return 'repeated';
    const settlementId = this.records.insert(tx, acquirer, money, owner, 'unmatched', null);
    if (owner) this.records.suspend(tx, settlementId, owner, money);
    this.logger.warn({ acquirer, endToEndId }, 'a Pix matches no charge');
    return 'unmatched';
  }

  /**
   * Two connections of an account may see the same money at a PSP: the acquirer that made the charge is asked, and it
   * alone credits the charge.
   * @returns false when the Pix is settled by then, or that acquirer does not confirm it in time
   */
  async #askElsewhere(tx: Tx, acquirer: string, asked: string, { endToEndId, txid }: ReceivedMoney): Promise<boolean> {
    if (await this.settlements.isSettled(tx, endToEndId)) return false;
    const hint: NotificationHint = { kind: 'pix', reference: endToEndId, txid };
    const told = await this.inbox.stateOf(tx, asked, hint);
    const isOver = told !== null && this.clock.now().getTime() - told.receivedAt.getTime() > PATIENCE_MS;
    if (told?.status === 'ignored' || isOver) return false;
    await this.inbox.queueAll(tx, asked, [hint]);
    this.logger.info({ acquirer, asked, endToEndId }, "a Pix is of another acquirer's charge");
    return true;
  }
}
