import { Injectable, type OnModuleInit } from '@nestjs/common';
import {
  AcquirersService,
  ConnectionsService,
  InboxService,
  type OrderEvent,
  type PixChargeEnd,
  type ReceivedPayment,
  type ReceivedPix,
  type RefundWay,
} from '../../acquirers/index.js';
import type { Account } from '../../accounts/index.js';
import { Clock } from '../../core/clock.js';
import { SecretBox } from '../../core/crypto/index.js';
import { Database, type Tx, uniqueViolation } from '../../core/database/index.js';
import { newId } from '../../core/ids.js';
import { Logger } from '../../core/log/index.js';
import type { Scope } from '../../core/mode.js';
import { type Amount, feesOf } from '../../core/money/index.js';
import { WorkService } from '../../core/work/index.js';
import { OutboxService } from '../../outbox/index.js';
import { WalletsService } from '../../wallets/index.js';
import { expiryFailure, failureOf, isHeld, type Transaction } from '../transaction.js';
import { EVENT_OF, transactionEvent } from '../transaction.events.js';
import { CreationService } from '../creation/creation.service.js';
import { decideSettlement, type ReceivedMoney, type SettlementDecision } from './settlement.rules.js';
import { SettlementsRepository } from './settlements.repository.js';
import type { Trigger } from '../transactions.machine.js';
import { ReturnsService } from './returns.service.js';
import { type MoveFields, TransactionsRepository } from '../transactions.repository.js';

/** `elsewhere`: the charge is another acquirer's, which is asked now. */
export type SettleResult = SettlementDecision['outcome'] | 'duplicate' | 'unmatched' | 'elsewhere';

/** A transaction, or the account whose money an acquirer keeps. */
interface Receiver extends Scope {
  /** Of the transaction; null: there is none. */
  readonly id: string | null;
  readonly currency: string;
}

/** What of a confirmed payment its credit needs. */
type CreditedMoney = Pick<ReceivedMoney, 'method' | 'endToEndId' | 'settledAt' | 'fee'>;

const END_TRIGGERS = { expired: 'expired', refused: 'refused', removed: 'cancelled' } as const;

/** Applies what an acquirer has confirmed. Everything here may be called again with the same facts. */
@Injectable()
export class SettlementService implements OnModuleInit {
  constructor(
    private readonly database: Database,
    private readonly acquirers: AcquirersService,
    private readonly connections: ConnectionsService,
    private readonly transactions: TransactionsRepository,
    private readonly settlements: SettlementsRepository,
    private readonly wallets: WalletsService,
    private readonly returns: ReturnsService,
    private readonly creation: CreationService,
    private readonly outbox: OutboxService,
    private readonly inbox: InboxService,
    private readonly work: WorkService,
    private readonly secrets: SecretBox,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  onModuleInit(): void {
    this.inbox.on('pixReceived', async (acquirer, pix) => {
      if (pix.txid !== null) await this.creation.resolveByTxid(acquirer, pix.txid);
      await this.settle(acquirer, pix);
    });
    this.inbox.on('paymentReceived', async (acquirer, payment) => void (await this.settleOrder(acquirer, payment)));
    this.inbox.on('orderMoved', (acquirer, event) => this.moveOrder(acquirer, event));
    this.inbox.on('chargeEnded', async (acquirer, txid, end) => {
      await this.creation.resolveByTxid(acquirer, txid);
      await this.endCharge(acquirer, txid, end);
    });
  }

  /**
   * Credits a confirmed Pix, or sends it back, or holds it for an operator. Idempotent on the end-to-end id: of any
   * number of calls, at once or later, one has an effect. State, ledger and event commit together.
   *
   * Two round trips: lock and read, then everything else with the COMMIT. Balances are locked last. Payments that come
   * together are credited together; what is not credited is done alone.
   */
  async settle(acquirer: string, pix: ReceivedPix): Promise<SettleResult> {
    return this.#settleOnce(acquirer, { ...pix, method: 'PIX' });
  }

  /** The same for a payment by another method, idempotent on its reference. */
  async settleOrder(acquirer: string, payment: ReceivedPayment): Promise<SettleResult> {
    const { reference, ...money } = payment;
    return this.#settleOnce(acquirer, { ...money, endToEndId: reference });
  }

  /** Something happened to an order besides money arriving. */
  async moveOrder(acquirer: string, { txid, kind, reason, at }: OrderEvent): Promise<void> {
    switch (kind) {
      case 'expired':
      case 'refused':
      case 'removed':
        return this.endCharge(acquirer, txid, { end: kind, reason, at });
      case 'processing':
        await this.database.transaction(async (tx) => {
          const found = await this.transactions.lockByTxid(tx, acquirer, txid);
          if (found) await this.#move(tx, found.transaction, 'authenticating', {});
        });
    }
  }

  /** The acquirer says that a charge has ended without payment. */
  async endCharge(acquirer: string, txid: string, end: PixChargeEnd): Promise<void> {
    const trigger: Trigger = END_TRIGGERS[end.end];
    await this.database.transaction(async (tx) => {
      const found = await this.#lockIssued(tx, acquirer, txid);
      // Held: a Pix did arrive and waits for an operator, who alone may end it. Ending it here would leave the payer's
      // money with nobody.
      if (!found || isHeld(found.transaction)) return;
      const failure = failureOf(found.transaction, {
        reason: end.reason,
        providerErrorCode: end.end === 'removed' ? 'canceled' : end.end,
        at: end.at,
      });
      await this.#move(tx, found.transaction, trigger, { failure });
    });
  }

  /**
   * Credits a Pix that was held for an operator, in the transaction of whoever decides it and has locked `transaction`,
   * which is PROCESSING. Locks balances.
   */
  creditHeld(
    tx: Tx,
    transaction: Transaction,
    account: Account,
    pix: Pick<ReceivedPix, 'endToEndId' | 'settledAt' | 'fee'>,
  ): Promise<void> {
    // Only a Pix is ever held.
    return this.#credit(tx, transaction, account, { ...pix, method: 'PIX' }, 'review_accepted', true);
  }

  /** @returns why this money would not pay the sale, which is locked; null: it would */
  whyNotCredited(transaction: Transaction, money: ReceivedMoney): SettlementDecision['reason'] {
    return transaction.status === 'PENDING' ? 'charge_closed' : decideSettlement(transaction, money).reason;
  }

  /** Credits a Pix of no charge to the sale that an operator has found, and that it would pay; as `creditHeld`. */
  async creditAssigned(tx: Tx, transactionId: string, money: ReceivedMoney): Promise<void> {
    const locked = await this.transactions.lockWithAccount(tx, transactionId);
    if (!locked) throw new Error(`${transactionId} was there a moment ago`);
    return this.#credit(tx, locked.transaction, locked.account, money, 'settled', true);
  }

  /** Sends a Pix that was held back to its payer; as `creditHeld`. */
  async returnHeld(
    tx: Tx,
    transaction: Transaction,
    acquirer: string,
    pix: Pick<ReceivedPix, 'endToEndId' | 'amount'>,
  ): Promise<void> {
    await this.#move(tx, transaction, 'review_returned', {});
    this.returns.sendBack(tx, transaction, { ...pix, acquirer }, 'devolution', 'review_returned');
  }

  /** Locks the transaction; one that is still PENDING exists after all, which is written with its event first. */
  async #lockIssued(
    tx: Tx,
    acquirer: string,
    txid: string,
  ): Promise<{ transaction: Transaction; account: Account } | null> {
    const found = await this.transactions.lockByTxid(tx, acquirer, txid);
    if (found?.transaction.status !== 'PENDING') return found;
    tx.requireAlone();
    const issued = await this.transactions.move(tx, found.transaction.id, 'issued', this.clock.now());
    if (!issued) return found;
    this.outbox.record(tx, [transactionEvent('transaction.created', issued, null)]);
    return { ...found, transaction: issued };
  }

  async #settleOnce(acquirer: string, money: ReceivedMoney): Promise<SettleResult> {
    try {
      const about = money.txid ?? money.endToEndId;
      return await this.database.together('settlement', { owner: about, about }, (tx, isOf) =>
        this.#settle(tx, acquirer, money, isOf),
      );
    } catch (error) {
      if (uniqueViolation(error) === 'settlements_end_to_end_id_key') return 'duplicate';
      throw error;
    }
  }

  async #settle(
    tx: Tx,
    acquirer: string,
    money: ReceivedMoney,
    isOf: (accountId: string) => void,
  ): Promise<SettleResult> {
    const found = money.txid === null ? null : await this.#lockIssued(tx, acquirer, money.txid);
    if (!found) {
      tx.requireAlone();
      // Two connections may see one account at a PSP: the charge's own acquirer is asked, and it alone is believed.
      const asked = money.txid === null ? null : await this.transactions.acquirerOf(tx, money.txid);
      if (asked !== null) {
        const hintId = await this.inbox.store(tx, asked, { kind: 'pix', reference: money.endToEndId });
        tx.afterCommit(() => void this.inbox.enqueue([hintId]).catch(() => undefined));
        this.logger.info({ acquirer, asked, endToEndId: money.endToEndId }, "a Pix is of another acquirer's charge");
        return 'elsewhere';
      }
      // Money without a charge: kept for the operators, never credited to anybody by guessing.
      const accountId = await this.connections.ownerOf(tx, acquirer);
      const owner = accountId === null ? null : { accountId, mode: 'live' as const, currency: 'BRL', id: null };
      const settlementId = this.#record(tx, acquirer, money, owner, 'unmatched', null);
      if (owner) this.#suspend(tx, settlementId, owner, money);
      this.logger.warn({ acquirer, endToEndId: money.endToEndId }, 'a Pix matches no charge');
      return 'unmatched';
    }
    const { transaction, account } = found;
    isOf(transaction.accountId);
    if (transaction.endToEndId === money.endToEndId) return 'duplicate';
    const decision = decideSettlement(transaction, money);
    if (decision.outcome !== 'credited') tx.requireAlone();
    const way = this.#wayBack(acquirer, money);
    // Money by a method that knows no way back (a boleto's, a blockchain's) is kept for the operators.
    const outcome = decision.outcome === 'returned' && way === null ? 'unmatched' : decision.outcome;
    const settlementId = this.#record(tx, acquirer, money, transaction, outcome, decision.reason);
    switch (decision.outcome) {
      case 'credited':
        await this.#credit(tx, transaction, account, money, decision.trigger, false);
        break;
      case 'returned':
        await this.#move(tx, transaction, decision.trigger, {
          ...(decision.trigger === 'expired' && transaction.expiresAt
            ? { failure: expiryFailure(transaction, transaction.expiresAt) }
            : {}),
        });
        if (way !== null) this.returns.sendBack(tx, transaction, { ...money, acquirer }, way, decision.reason);
        break;
      case 'review':
        await this.#move(tx, transaction, decision.trigger, {});
        break;
    }
    if (outcome !== 'credited') this.#suspend(tx, settlementId, transaction, money);
    // The merchant bears the fee of a sale, and never more than the sale.
    else this.#charge(tx, settlementId, transaction, Math.max(money.fee - transaction.amount, 0));
    return outcome;
  }

  #wayBack(acquirer: string, { method }: ReceivedMoney): RefundWay | null {
    if (method === 'PIX') return 'devolution';
    return this.acquirers.get(acquirer).capabilities.refunds[method]?.find((way) => way !== 'cashout') ?? null;
  }

  async #credit(
    tx: Tx,
    transaction: Transaction,
    account: Account,
    money: CreditedMoney,
    trigger: Trigger | null,
    wasSuspended: boolean,
  ): Promise<void> {
    const paidAt = paidAtOf(transaction, money.settledAt, this.clock.now());
    const fees = feesOf(transaction.amount, { bps: account.feeBps, fixed: account.feeFixed }, money.fee);
    await this.#move(tx, transaction, trigger, {
      paidWith: money.method,
      endToEndId: money.endToEndId,
      paidAt,
      ...fees,
    });
    this.inbox.wake(tx, transaction.acquirer, [money.endToEndId, transaction.txid]);
    this.wallets.credit(tx, {
      accountId: transaction.accountId,
      mode: transaction.mode,
      transactionId: transaction.id,
      currency: transaction.currency,
      amount: transaction.amount,
      ...fees,
      paidAt,
      releaseDays: account.releaseDays,
      reserveBps: account.reserveBps,
      reserveDays: account.reserveDays,
      wasSuspended,
    });
    if (wasSuspended) {
      const { id: transactionId, accountId, mode, currency } = transaction;
      const fee = { accountId, mode, currency, transactionId, amount: fees.providerFee };
      this.wallets.passFee(tx, transactionId, fee);
    }
    if (account.payerReceipts && transaction.customerEmail !== null) {
      this.work.add(tx, 'receipt', transaction.id, this.clock.now());
    }
  }

  async #move(tx: Tx, transaction: Transaction, trigger: Trigger | null, fields: MoveFields): Promise<void> {
    if (trigger === null) return;
    const moved = await this.transactions.move(tx, transaction.id, trigger, this.clock.now(), fields);
    if (moved) this.outbox.record(tx, [transactionEvent(EVENT_OF[trigger], moved, transaction.status)]);
  }

  /** What is not credited is in the books all the same, and what it costs. Locks the account's balances. */
  #suspend(tx: Tx, settlementId: string, whose: Receiver, { amount, fee }: ReceivedMoney): void {
    const { id, accountId, mode, currency } = whose;
    this.wallets.suspend(tx, settlementId, { accountId, mode, currency, transactionId: id, amount });
    this.#charge(tx, settlementId, whose, fee);
  }

  /** What the acquirer charges and no merchant bears. Locks the account's balances. */
  #charge(tx: Tx, settlementId: string, { id, accountId, mode, currency }: Receiver, amount: Amount): void {
    this.wallets.chargeFee(tx, settlementId, { accountId, mode, currency, transactionId: id, amount });
  }

  /** @param whose null: of no account that is known @returns the settlement's id */
  #record(
    tx: Tx,
    acquirer: string,
    money: ReceivedMoney,
    whose: Receiver | null,
    outcome: SettlementDecision['outcome'] | 'unmatched',
    reason: SettlementDecision['reason'],
  ): string {
    const now = this.clock.now();
    const id = newId(now);
    const { references } = this.acquirers.get(acquirer).capabilities;
    this.settlements.insert(tx, {
      id,
      accountId: whose?.accountId ?? null,
      mode: whose?.mode ?? null,
      transactionId: whose?.id ?? null,
      acquirer,
      namespace: references === 'of the account' ? (whose?.accountId ?? null) : null,
      endToEndId: money.endToEndId,
      txid: money.txid,
      method: money.method,
      amount: money.amount,
      outcome,
      reason,
      // The payer's real document is never exposed; sealed, it can still answer an operator's or a court's question.
      payerDocumentSealed:
        money.payerDocument === null ? null : this.secrets.seal(money.payerDocument, `settlement:${money.endToEndId}`),
      providerFee: money.fee,
      settledAt: money.settledAt,
      createdAt: now,
    });
    return id;
  }
}

/** The bank's own time, which is neither before the charge nor ahead of now: the day of the money's release counts from it. */
function paidAtOf({ createdAt }: Transaction, settledAt: Date, now: Date): Date {
  return new Date(Math.max(Math.min(settledAt.getTime(), now.getTime()), createdAt.getTime()));
}
