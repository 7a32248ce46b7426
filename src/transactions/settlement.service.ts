import { Injectable, type OnModuleInit } from '@nestjs/common';
import { InboxService, type PixChargeEnd, type ReceivedPix } from '../acquirers/index.js';
import type { Account } from '../accounts/index.js';
import { newReturnId } from '../brazil/index.js';
import { Clock } from '../core/clock.js';
import { SecretBox } from '../core/crypto/index.js';
import { Database, type Tx, uniqueViolation } from '../core/database/index.js';
import { newId } from '../core/ids.js';
import { Logger } from '../core/log/index.js';
import { feesOf } from '../core/money/index.js';
import { OutboxService } from '../outbox/index.js';
import { WalletsService } from '../wallets/index.js';
import { expiryFailure, failureOf, type Transaction } from './transaction.js';
import { EVENT_OF, transactionEvent } from './transaction.events.js';
import { CreationService } from './creation.service.js';
import { decideSettlement, type SettlementDecision } from './settlement.rules.js';
import { SettlementsRepository } from './settlements.repository.js';
import type { Trigger } from './transactions.machine.js';
import { ReturnsService } from './returns.service.js';
import { type MoveFields, TransactionsRepository } from './transactions.repository.js';

export type SettleResult = SettlementDecision['outcome'] | 'duplicate' | 'unmatched';

const END_TRIGGERS = { expired: 'expired', refused: 'refused', removed: 'cancelled' } as const;

/** Applies what an acquirer has confirmed. Everything here may be called again with the same facts. */
@Injectable()
export class SettlementService implements OnModuleInit {
  constructor(
    private readonly database: Database,
    private readonly transactions: TransactionsRepository,
    private readonly settlements: SettlementsRepository,
    private readonly wallets: WalletsService,
    private readonly returns: ReturnsService,
    private readonly creation: CreationService,
    private readonly outbox: OutboxService,
    private readonly inbox: InboxService,
    private readonly secrets: SecretBox,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  onModuleInit(): void {
    this.inbox.on('pixReceived', async (acquirer, pix) => {
      if (pix.txid !== null) await this.creation.resolveByTxid(acquirer, pix.txid);
      await this.settle(acquirer, pix);
    });
    this.inbox.on('chargeEnded', (acquirer, txid, end) => this.endCharge(acquirer, txid, end));
  }

  /**
   * Credits a confirmed Pix, or sends it back, or holds it for an operator. Idempotent on the end-to-end id: of any
   * number of calls, at once or later, one has an effect. State, ledger and event commit together.
   *
   * Two round trips: lock and read, then everything else with the COMMIT. Balances are locked last.
   */
  async settle(acquirer: string, pix: ReceivedPix): Promise<SettleResult> {
    try {
      return await this.database.transaction((tx) => this.#settle(tx, acquirer, pix));
    } catch (error) {
      if (uniqueViolation(error) === 'settlements_end_to_end_id_key') return 'duplicate';
      throw error;
    }
  }

  /** The acquirer says that a charge has ended without payment. */
  async endCharge(acquirer: string, txid: string, end: PixChargeEnd): Promise<void> {
    const trigger: Trigger = END_TRIGGERS[end.end];
    await this.database.transaction(async (tx) => {
      const found = await this.#lockIssued(tx, acquirer, txid);
      // PROCESSING: a Pix did arrive and is held for an operator, who alone may end it. Ending it here would leave the
      // payer's money with nobody.
      if (!found || found.transaction.status === 'PROCESSING') return;
      const failure = failureOf(found.transaction, {
        reason: end.reason,
        providerErrorCode: end.end === 'removed' ? 'canceled' : end.end,
        at: end.at,
      });
      await this.#move(tx, found.transaction, trigger, { failure });
    });
  }

  /** Locks the transaction; one that is still PENDING exists after all, which is written with its event first. */
  async #lockIssued(
    tx: Tx,
    acquirer: string,
    txid: string,
  ): Promise<{ transaction: Transaction; account: Account } | null> {
    const found = await this.transactions.lockByTxid(tx, acquirer, txid);
    if (found?.transaction.status !== 'PENDING') return found;
    const issued = await this.transactions.move(tx, found.transaction.id, 'issued', this.clock.now());
    if (!issued) return found;
    this.outbox.record(tx, [transactionEvent('transaction.created', issued, null)]);
    return { ...found, transaction: issued };
  }

  async #settle(tx: Tx, acquirer: string, pix: ReceivedPix): Promise<SettleResult> {
    const found = pix.txid === null ? null : await this.#lockIssued(tx, acquirer, pix.txid);
    if (!found) {
      // Money without a charge: kept for the operators, never credited to anybody by guessing.
      this.#record(tx, acquirer, pix, null, 'unmatched', null);
      this.logger.warn({ acquirer, endToEndId: pix.endToEndId }, 'a Pix matches no charge');
      return 'unmatched';
    }
    const { transaction, account } = found;
    if (transaction.endToEndId === pix.endToEndId) return 'duplicate';
    const decision = decideSettlement(transaction, pix);
    this.#record(tx, acquirer, pix, transaction, decision.outcome, decision.reason);
    switch (decision.outcome) {
      case 'credited':
        await this.#credit(tx, transaction, account, pix);
        break;
      case 'returned':
        await this.#move(tx, transaction, decision.trigger, {
          ...(decision.trigger === 'expired' && transaction.expiresAt
            ? { failure: expiryFailure(transaction, transaction.expiresAt) }
            : {}),
        });
        this.returns.request(tx, {
          accountId: transaction.accountId,
          mode: transaction.mode,
          transactionId: transaction.id,
          acquirer,
          endToEndId: pix.endToEndId,
          returnId: newReturnId(),
          amount: pix.amount,
          reason: decision.reason ?? 'late',
        });
        break;
      case 'review':
        await this.#move(tx, transaction, decision.trigger, {});
        break;
    }
    return decision.outcome;
  }

  async #credit(tx: Tx, transaction: Transaction, account: Account, pix: ReceivedPix): Promise<void> {
    const fees = feesOf(transaction.amount, { bps: account.feeBps, fixed: account.feeFixed }, pix.fee);
    await this.#move(tx, transaction, 'settled', {
      paidWith: 'PIX',
      endToEndId: pix.endToEndId,
      paidAt: pix.settledAt,
      ...fees,
    });
    this.wallets.credit(tx, {
      accountId: transaction.accountId,
      mode: transaction.mode,
      transactionId: transaction.id,
      currency: transaction.currency,
      amount: transaction.amount,
      ...fees,
      paidAt: pix.settledAt,
      releaseDays: account.releaseDays,
    });
  }

  async #move(tx: Tx, transaction: Transaction, trigger: Trigger | null, fields: MoveFields): Promise<void> {
    if (trigger === null) return;
    const moved = await this.transactions.move(tx, transaction.id, trigger, this.clock.now(), fields);
    if (moved) this.outbox.record(tx, [transactionEvent(EVENT_OF[trigger], moved, transaction.status)]);
  }

  #record(
    tx: Tx,
    acquirer: string,
    pix: ReceivedPix,
    transaction: Transaction | null,
    outcome: SettlementDecision['outcome'] | 'unmatched',
    reason: string | null,
  ): void {
    const now = this.clock.now();
    this.settlements.insert(tx, {
      id: newId(now),
      accountId: transaction?.accountId ?? null,
      mode: transaction?.mode ?? null,
      transactionId: transaction?.id ?? null,
      acquirer,
      endToEndId: pix.endToEndId,
      txid: pix.txid,
      amount: pix.amount,
      outcome,
      reason,
      // The payer's real document is never exposed; sealed, it can still answer an operator's or a court's question.
      payerDocumentSealed:
        pix.payerDocument === null ? null : this.secrets.seal(pix.payerDocument, `settlement:${pix.endToEndId}`),
      settledAt: pix.settledAt,
      createdAt: now,
    });
  }
}
