import { Injectable } from '@nestjs/common';
import { AcquirersService, type Notification, type RefundWay, type Settled } from '../../acquirers/index.js';
import { Database, leaveGroup, type Tx, uniqueViolation } from '../../core/database/index.js';
import { UnmatchedClaims } from '../corrections/unmatched-claims.service.js';
import { UnmatchedService } from '../reviews/unmatched.service.js';
import { TransactionMoves } from '../transaction-moves.service.js';
import { expiryFailure, failureOf, type Transaction } from '../transaction.js';
import type { Trigger } from '../transactions.machine.js';
import type { MoveFields } from '../transactions.repository.js';
import { SettlementOutcomes } from './settlement-outcomes.service.js';
import { SettlementRecords } from './settlement-records.service.js';
import {
  decideSettlement,
  OVER_LIMIT,
  type ReceivedMoney,
  type Settlement,
  type SettlementDecision,
} from './settlement.rules.js';

/**
 * Outcomes besides the decision's own:
 * - `repeated`: this very payment is settled already.
 * - `unmatched`: the payment has no charge or no way back, and waits for an operator.
 * - `elsewhere`: another acquirer made the charge and may confirm the Pix. Nothing is settled yet, and the notification
 *   stays open.
 */
type SettleOutcome = SettlementDecision['outcome'] | 'repeated' | 'unmatched' | 'elsewhere';

/** Settles payments that an acquirer has confirmed. */
@Injectable()
export class SettlementService {
  constructor(
    private readonly database: Database,
    private readonly acquirers: AcquirersService,
    private readonly moves: TransactionMoves,
    private readonly records: SettlementRecords,
    private readonly outcomes: SettlementOutcomes,
    private readonly unmatched: UnmatchedService,
    private readonly claims: UnmatchedClaims,
  ) {}

  /**
   * Credits a confirmed Pix, sends it back, or holds it for an operator. Idempotent on the end-to-end id: only the
   * first call has an effect. State, ledger and event commit together.
   *
   * Uses three round trips to the database: lock and read, the move, then everything else with the COMMIT. Balances are
   * locked last. Payments that arrive together share a database transaction if all of them are credited; any other
   * payment has its own.
   * @param money for methods other than Pix, `endToEndId` is the acquirer's id of the payment
   * @param notification the report of the payment
   * @returns `closed` if the same commit ended the notification; `early` if another acquirer may confirm the Pix
   * @throws UnreadableAnswer when the Pix pays a charge but is settled already in another account's books
   */
  async settle(acquirer: string, money: ReceivedMoney, notification: Notification | null): Promise<Settled> {
    const settlement: Settlement = { acquirer, money, notification, accountId: null };
    try {
      const conflictKey = money.txid ?? money.endToEndId;
      // Several payments may share this database transaction. `setOwner` names the account of this one; `leaveGroup` takes
      // this one out and begins it again in a database transaction of its own. If one fails, all of them are rolled back
      // and each is done again alone, so that only the failing one fails.
      const outcome = await this.database.inGroupCommit(
        'settlement',
        { owner: conflictKey, conflictKey },
        (tx, setOwner) => this.#settle(tx, setOwner, settlement),
      );
      if (outcome === 'elsewhere') return 'early';
      return notification === null ? 'applied' : 'closed';
    } catch (error) {
      if (uniqueViolation(error) !== 'settlements_end_to_end_id_key') throw error;
      await this.unmatched.refuseOther(settlement);
      // If the acquirer's list brought the Pix before its charge named it, it is unmatched: assign it to the charge
      // now.
      await this.claims.claim(acquirer, money);
      return 'applied';
    }
  }

  async #settle(tx: Tx, setOwner: (owner: string) => void, settlement: Settlement): Promise<SettleOutcome> {
    const { acquirer, money } = settlement;
    const found = money.txid === null ? null : await this.moves.lockIssued(tx, acquirer, money.txid);
    if (!found) {
      leaveGroup(tx);
      return this.unmatched.keep(tx, settlement);
    }
    const { transaction } = found;
    settlement.accountId = transaction.accountId;
    setOwner(transaction.accountId);
    const isRepeated = transaction.endToEndId === money.endToEndId;
    const decision = isRepeated ? null : await this.#decide(tx, transaction, money);
    // Ends the notification now, because balances are locked last.
    this.records.closeNotification(tx, settlement);
    if (!decision) return 'repeated';
    const way = this.#wayBack(acquirer, money);
    // Money by a method without a way back (a boleto, a blockchain) is kept for the operators.
    const outcome = decision.outcome === 'returned' && way === null ? 'unmatched' : decision.outcome;
    const settlementId = this.records.insert(tx, settlement, transaction, outcome, decision.reason);
    switch (decision.outcome) {
      case 'credited':
        await this.outcomes.credit(tx, found, money, decision.trigger, false);
        break;
      case 'returned': {
        const { reason, trigger } = decision;
        const fields = failureFields(transaction, money, trigger);
        // A live charge stays open: its acquirer may still report another payment, made in time.
        const isDecided = trigger !== 'expired' || this.acquirers.local().includes(acquirer);
        const move = trigger !== null && isDecided ? { trigger, fields } : null;
        await this.outcomes.sendBack(tx, transaction, { ...money, acquirer }, { way, reason }, move);
        break;
      }
      case 'review':
        await this.moves.move(tx, transaction, decision.trigger);
        break;
    }
    if (outcome !== 'credited') this.records.suspend(tx, settlementId, transaction, money);
    // `credit` takes the acquirer's fee out of the sale's amount; where the fee is higher than the amount, the rest is the
    // service's own cost.
    else this.records.charge(tx, settlementId, transaction, Math.max(money.fee - transaction.amount, 0));
    return outcome;
  }

  /** Decides, and counts a payment under a limit. Locks that limit's row. */
  async #decide(tx: Tx, transaction: Transaction, money: ReceivedMoney): Promise<SettlementDecision> {
    const decision = decideSettlement(transaction, money);
    const isLimited = decision.outcome === 'credited' && this.outcomes.isLimited(transaction);
    // The limit's row is shared by many sales: two groups would lock such rows in different orders.
    if (decision.outcome !== 'credited' || isLimited) leaveGroup(tx);
    return isLimited && !(await this.outcomes.take(tx, transaction)) ? OVER_LIMIT : decision;
  }

  #wayBack(acquirer: string, { method }: ReceivedMoney): RefundWay | null {
    if (method === 'PIX') return 'devolution';
    return this.acquirers.get(acquirer).capabilities.refunds[method]?.find((way) => way !== 'cashout') ?? null;
  }
}

/** The failure of a sale that ends by this payment, which goes back. */
function failureFields(transaction: Transaction, money: ReceivedMoney, trigger: Trigger | null): MoveFields {
  const { expiresAt } = transaction;
  if (trigger === 'expired' && expiresAt) return { failure: expiryFailure(transaction, expiresAt) };
  if (trigger !== 'cancelled') return {};
  const reason = 'No more payments are taken: as many as allowed were paid before.';
  return { failure: failureOf(transaction, { reason, providerErrorCode: 'canceled', at: money.settledAt }) };
}
