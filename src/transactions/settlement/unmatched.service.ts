import { Injectable } from '@nestjs/common';
import { ConnectionsService, InboxService } from '../../acquirers/index.js';
import type { Tx } from '../../core/database/index.js';
import { Logger } from '../../core/log/index.js';
import { TransactionsRepository } from '../transactions.repository.js';
import { SettlementRecords } from './settlement-records.service.js';
import type { ReceivedMoney } from './settlement.rules.js';

/** Confirmed money that names no charge which was made at its acquirer. */
@Injectable()
export class UnmatchedService {
  constructor(
    private readonly transactions: TransactionsRepository,
    private readonly connections: ConnectionsService,
    private readonly records: SettlementRecords,
    private readonly inbox: InboxService,
    private readonly logger: Logger,
  ) {}

  /** @returns `elsewhere`: the charge is another acquirer's, which is asked now */
  async keep(tx: Tx, acquirer: string, money: ReceivedMoney): Promise<'unmatched' | 'elsewhere'> {
    // Two connections may see one account at a PSP: the charge's own acquirer is asked, and it alone is believed.
    const { endToEndId, txid } = money;
    const asked = txid === null ? null : await this.transactions.acquirerOf(tx, txid);
    if (txid !== null && asked !== null) {
      const hintId = await this.inbox.store(tx, asked, { kind: 'pix', reference: endToEndId, txid });
      tx.afterCommit(() => void this.inbox.enqueue([hintId]).catch(() => undefined));
      this.logger.info({ acquirer, asked, endToEndId }, "a Pix is of another acquirer's charge");
      return 'elsewhere';
    }
    // Money without a charge: kept for the operators, never credited to anybody by guessing.
    const accountId = await this.connections.ownerOf(tx, acquirer);
    const owner = accountId === null ? null : { accountId, mode: 'live' as const, currency: 'BRL', id: null };
    const settlementId = this.records.insert(tx, acquirer, money, owner, 'unmatched', null);
    if (owner) this.records.suspend(tx, settlementId, owner, money);
    this.logger.warn({ acquirer, endToEndId }, 'a Pix matches no charge');
    return 'unmatched';
  }
}
