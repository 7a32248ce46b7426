import { Inject, Injectable } from '@nestjs/common';
import type { Dispute } from '../../acquirers/index.js';
import { Clock } from '../../core/clock.js';
import { type Config, CONFIG } from '../../core/config/index.js';
import type { Tx } from '../../core/database/index.js';
import { Mailer } from '../../core/mail/index.js';
import type { Amount } from '../../core/money/index.js';
import { OutboxService } from '../../outbox/index.js';
import { type Disputed, DisputesService, isPaidWithCard } from '../../transactions/index.js';
import { WalletsService } from '../../wallets/index.js';
import { medCaseBody } from '../desk/med-case.serializer.js';
import { correctedMail, openedMail, resolvedMail } from '../desk/med-mails.js';
import { DisputedTransaction } from './disputed-transaction.js';
import type { MedCase } from './med-case.js';
import { claimOf, contradictionOf, medBlockOf, nextNotice, rulingOf } from './med-case.rules.js';
import { MED_MOVES, type MedTrigger } from './med-cases.machine.js';
import { MedCasesRepository } from './med-cases.repository.js';
import { correctedEvent, medEvent, resolvedEvent } from './med.events.js';

/**
 * Makes the changes of cases, each with the transaction's status, its money, events and mail in one commit. Locks are
 * taken in the order transaction, cases, balances.
 */
@Injectable()
export class MedTransitions {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly cases: MedCasesRepository,
    private readonly disputes: DisputesService,
    private readonly wallets: WalletsService,
    private readonly outbox: OutboxService,
    private readonly mailer: Mailer,
    private readonly clock: Clock,
  ) {}

  /**
   * @returns null while the disputed payment is not settled here; `disputedTransaction` null for a Pix without a sale
   *   that an operator has dealt with
   */
  async find(
    tx: Tx,
    acquirer: string,
    dispute: Dispute,
  ): Promise<{ disputedTransaction: DisputedTransaction | null; paymentReference: string } | null> {
    const found = await this.disputes.find(tx, acquirer, dispute);
    if (!found) return null;
    const { disputed, paymentReference } = found;
    return { disputedTransaction: disputed && (await this.#disputedTransaction(tx, disputed)), paymentReference };
  }

  async lock(tx: Tx, transactionId: string): Promise<DisputedTransaction> {
    return this.#disputedTransaction(tx, await this.disputes.lock(tx, transactionId));
  }

  /**
   * Lets the merchant see a case and holds its money: the case's amount, or the payment's `room` if that is less. The
   * room is the amount of the payment, less devolutions (made or under way), less the amounts that other cases hold or
   * have taken. Refunds by cashout do not reduce it.
   *
   * The money goes from available to retained. Available may become negative, also because the sale's own money may
   * still be in pending. The sale becomes DISPUTE (by a card's chargeback: CHARGEBACK) if its status allows that.
   *
   * `MedDisputesService` decides before this whether a case is opened at once. Three kinds of claims wait for an
   * operator:
   * 1. The claim has another amount than the sale.
   * 2. The disputed payment was not credited.
   * 3. Nothing can be held for the claim now or later (`isDisputable`).
   *
   * If an operator opens a case of the second or third kind, nothing is held and the sale keeps its status.
   */
  async open(tx: Tx, disputedTransaction: DisputedTransaction, medCase: MedCase): Promise<void> {
    const now = this.clock.now();
    const opened = {
      ...medCase,
      visible: true,
      review: null,
      heldAmount: Math.min(medCase.amount, disputedTransaction.roomFor(medCase)),
      deadlineDueAt: nextNotice(medCase.responseDeadline, now),
      createdAt: now,
      updatedAt: now,
    };
    const isDisputable = disputedTransaction.isDisputable(opened);
    disputedTransaction.move(opened, 'held', opened.heldAmount, opened.heldAmount);
    await this.change(tx, disputedTransaction, opened);
    this.disputes.add(tx, opened.transactionId, opened.heldAmount);
    if (isDisputable) {
      disputedTransaction.transaction = await this.disputes.dispute(
        tx,
        disputedTransaction.transaction,
        triggerOf(disputedTransaction, opened),
        medCaseBody(opened),
      );
    }
    this.outbox.record(tx, [medEvent('med_case.opened', opened, disputedTransaction.transaction)]);
    this.mailer.enqueue(tx, openedMail(disputedTransaction, opened, this.config.publicBaseUrl));
  }

  /** Records that the merchant does not agree. No money moves, so the caller holds only the lock of the case. */
  async appeal(tx: Tx, medCase: MedCase, reason: string): Promise<MedCase> {
    const now = this.clock.now();
    const appealed: MedCase = {
      ...medCase,
      status: MED_MOVES.appealed.to,
      appealReason: reason,
      appealedAt: now,
      deadlineDueAt: null,
      updatedAt: now,
    };
    await this.cases.change(tx, appealed, medCase.status);
    const sales = await this.disputes.transactionsOf(tx, [medCase.transactionId]);
    this.outbox.record(
      tx,
      sales.map((sale) => medEvent('med_case.moved', appealed, sale)),
    );
    return appealed;
  }

  /**
   * Carries out the bank's ruling, if any: at once, or after an operator's approval (`medAutoRulings`). While the
   * amount of the case is in doubt, no ruling is carried out.
   */
  async rule(tx: Tx, disputedTransaction: DisputedTransaction, medCase: MedCase, isApproved: boolean): Promise<void> {
    const ruling = rulingOf(medCase.bank, medCase.status);
    if (ruling === null || medCase.review === 'amount_mismatch') return;
    if (this.config.medAutoRulings || isApproved) await this.end(tx, disputedTransaction, medCase, ruling);
    else await this.change(tx, disputedTransaction, { ...medCase, review: 'ruling' });
  }

  /**
   * Ends a case.
   *
   * A case is won if the bank rules for the merchant or withdraws its claim (`rulingOf`). The held money becomes
   * available again, unless other open cases of the sale hold less than they claim. A case is lost if the merchant
   * accepts it or the bank rules for the payer: the held money is gone.
   *
   * A deadline that passes releases nothing, and a case that the bank closes without a result stays as it is.
   */
  async end(tx: Tx, disputedTransaction: DisputedTransaction, medCase: MedCase, trigger: MedTrigger): Promise<MedCase> {
    const { from, to, outcome } = MED_MOVES[trigger];
    if (outcome === null || !from.includes(medCase.status)) {
      throw new Error(`The case ${medCase.id} is ${medCase.status}: it cannot end by ${trigger}`);
    }
    const now = this.clock.now();
    const isWon = outcome === 'refunded_to_merchant';
    const { heldAmount } = medCase;
    const ended: MedCase = {
      ...medCase,
      status: to,
      moneyOutcome: outcome,
      heldAmount: 0,
      lostAmount: isWon ? 0 : heldAmount,
      review: null,
      deadlineDueAt: null,
      closedAt: now,
      updatedAt: now,
    };
    const reviewed: MedCase = {
      ...ended,
      review: contradictionOf(ended, disputedTransaction.takeableBy(ended)) === null ? null : 'contradiction',
    };
    disputedTransaction.move(reviewed, isWon ? 'released' : 'lost', heldAmount, isWon ? -heldAmount : 0);
    await this.change(tx, disputedTransaction, reviewed);
    if (isWon) {
      this.disputes.add(tx, medCase.transactionId, -heldAmount);
      await this.holdMore(tx, disputedTransaction, medCase.id);
    }
    await this.revive(tx, disputedTransaction);
    const isMuted = !disputedTransaction.account.medOutcomeNotifications;
    this.outbox.record(tx, [
      medEvent('med_case.moved', reviewed, disputedTransaction.transaction, isMuted),
      resolvedEvent(reviewed, disputedTransaction.transaction, heldAmount, isMuted),
    ]);
    this.mailer.enqueue(tx, resolvedMail(disputedTransaction, reviewed, heldAmount, this.config.publicBaseUrl));
    return reviewed;
  }

  /**
   * Changes a closed case, and its money, to the bank's final ruling and amount. Money that the bank has taken is gone,
   * even if younger cases hold it now. At most the payment's amount is taken, less devolutions and other cases' losses.
   * @throws Error when the bank does not contradict the end of the case
   */
  async correct(tx: Tx, disputedTransaction: DisputedTransaction, medCase: MedCase): Promise<void> {
    const paidAmount = disputedTransaction.transaction.amount;
    const trigger = contradictionOf(medCase, disputedTransaction.takeableBy(medCase));
    if (trigger === null) throw new Error(`The bank does not contradict the case ${medCase.id}`);
    const isWon = trigger === 'won_after_all';
    const amount = isWon ? medCase.amount : claimOf(medCase, paidAmount);
    // Makes the cause of the ledger's entry unique by `detail`. The bank's time alone would not: a bank may report
    // several changes under one time, and the same claim may take more later, when a failed refund has left money to
    // take.
    const before = trigger === 'lost_another_amount' ? `:${medCase.lostAmount}` : '';
    const detail = `${medCase.bank.appliedAt.toISOString()}${before}`;
    if (!isWon && disputedTransaction.isCredited(medCase)) {
      await this.#holdLess(tx, disputedTransaction, amount - medCase.lostAmount, `${medCase.id}:${detail}`);
    }
    const lostAmount = isWon ? 0 : Math.min(amount, medCase.lostAmount + disputedTransaction.roomFor(medCase));
    const taken = lostAmount - medCase.lostAmount;
    const now = this.clock.now();
    // A case that was lost for another amount keeps its status and outcome.
    const { status, moneyOutcome } =
      trigger === 'lost_another_amount'
        ? medCase
        : { status: MED_MOVES[trigger].to, moneyOutcome: MED_MOVES[trigger].outcome };
    const changed = { status, moneyOutcome, amount, lostAmount, review: null, closedAt: now, updatedAt: now };
    const corrected: MedCase = { ...medCase, ...changed };
    disputedTransaction.move(corrected, 'corrected', taken, taken, detail);
    await this.change(tx, disputedTransaction, corrected);
    this.disputes.add(tx, medCase.transactionId, taken);
    if (taken < 0) {
      await this.holdMore(tx, disputedTransaction, `${medCase.id}:${detail}`);
      await this.doubtLosses(tx, disputedTransaction);
    }
    await this.revive(tx, disputedTransaction);
    // If the money came back, a case that had found nothing to hold may hold it now, and then disputes the payment.
    const disputing =
      disputedTransaction.underway.find(({ heldAmount }) => heldAmount > 0) ??
      (disputedTransaction.isLost ? corrected : null);
    if (disputing) {
      disputedTransaction.transaction = await this.disputes.dispute(
        tx,
        disputedTransaction.transaction,
        triggerOf(disputedTransaction, disputing),
        medCaseBody(disputing),
      );
    }
    const isMuted = !disputedTransaction.account.medOutcomeNotifications;
    const { transaction } = disputedTransaction;
    this.outbox.record(tx, [
      medEvent('med_case.moved', corrected, transaction, isMuted),
      correctedEvent(corrected, transaction, taken, isMuted),
    ]);
    this.mailer.enqueue(tx, correctedMail(disputedTransaction, corrected, taken, this.config.publicBaseUrl));
  }

  /**
   * Changes the amount of an open case, and holds that much for it. Money that becomes free goes to the other cases.
   */
  async reclaim(tx: Tx, disputedTransaction: DisputedTransaction, medCase: MedCase, amount: Amount): Promise<void> {
    const heldAmount = Math.min(amount, medCase.heldAmount + disputedTransaction.roomFor(medCase));
    const more = heldAmount - medCase.heldAmount;
    const detail = medCase.bank.appliedAt.toISOString();
    const claimed: MedCase = { ...medCase, amount, heldAmount, updatedAt: this.clock.now() };
    disputedTransaction.move(claimed, more < 0 ? 'released' : 'held', Math.abs(more), more, detail);
    await this.change(tx, disputedTransaction, claimed);
    this.disputes.add(tx, medCase.transactionId, more);
    await this.holdMore(tx, disputedTransaction, `${medCase.id}:${detail}`);
  }

  /** Makes room for the money that the bank has taken: other cases cannot hold it any more. */
  async #holdLess(tx: Tx, disputedTransaction: DisputedTransaction, taken: Amount, detail: string): Promise<void> {
    for (const other of disputedTransaction.underway.toReversed()) {
      const less = Math.min(other.heldAmount, taken - disputedTransaction.room);
      if (less <= 0) continue;
      disputedTransaction.move(other, 'released', less, -less, detail);
      await this.change(tx, disputedTransaction, {
        ...other,
        heldAmount: other.heldAmount - less,
        updatedAt: this.clock.now(),
      });
      this.disputes.add(tx, other.transactionId, -less);
    }
  }

  /**
   * Holds free money of the payment, from another case or a failed refund, for the cases that hold too little, the
   * oldest first.
   * @param detail the cause; counts once for each case
   */
  async holdMore(tx: Tx, disputedTransaction: DisputedTransaction, detail: string): Promise<void> {
    for (const medCase of disputedTransaction.underway) {
      const more = Math.min(medCase.amount - medCase.heldAmount, disputedTransaction.room);
      if (more <= 0) continue;
      disputedTransaction.move(medCase, 'held', more, more, detail);
      await this.change(tx, disputedTransaction, {
        ...medCase,
        heldAmount: medCase.heldAmount + more,
        updatedAt: this.clock.now(),
      });
      this.disputes.add(tx, medCase.transactionId, more);
    }
  }

  /** Asks for a review of closed cases when the bank has taken money of the payment that has become free here. */
  async doubtLosses(tx: Tx, disputedTransaction: DisputedTransaction): Promise<void> {
    for (const medCase of disputedTransaction.cases) {
      const takeable = disputedTransaction.takeableBy(medCase);
      if (medCase.review !== null || contradictionOf(medCase, takeable) !== 'lost_another_amount') continue;
      if (medCase.lostAmount < claimOf(medCase, takeable))
        await this.change(tx, disputedTransaction, { ...medCase, review: 'contradiction' });
    }
  }

  /** Ends the transaction's dispute when no case of it is underway and cases have not taken all of it (`isLost`). */
  async revive(tx: Tx, disputedTransaction: DisputedTransaction): Promise<void> {
    if (disputedTransaction.underway.length > 0 || disputedTransaction.isLost) return;
    disputedTransaction.transaction = await this.disputes.revive(tx, disputedTransaction.transaction);
  }

  /** Writes the changed fields of a case. */
  async change(tx: Tx, disputedTransaction: DisputedTransaction, medCase: MedCase): Promise<void> {
    await this.cases.change(tx, medCase, disputedTransaction.find(medCase.id).status);
    disputedTransaction.put(medCase);
  }

  /**
   * Writes `metadata.med` from the present cases. Call it before the transaction is moved, because that event carries
   * it.
   */
  writeMedBlock(tx: Tx, { transaction, cases }: DisputedTransaction): void {
    this.disputes.writeMedBlock(tx, transaction.id, medBlockOf(transaction, cases));
  }

  /** Posts the collected movements of money. Call it last: balances are locked after all else. */
  postMoves(tx: Tx, disputedTransaction: DisputedTransaction): void {
    this.wallets.moveDisputed(tx, disputedTransaction.moves);
  }

  async #disputedTransaction(tx: Tx, disputed: Disputed): Promise<DisputedTransaction> {
    return new DisputedTransaction(disputed, await this.cases.lockAll(tx, disputed.transaction.id));
  }
}

function triggerOf(
  { transaction }: DisputedTransaction,
  { type }: MedCase,
): 'disputed' | 'card_disputed' | 'charged_back' {
  if (!isPaidWithCard(transaction)) return 'disputed';
  return type === 'chargeback' ? 'charged_back' : 'card_disputed';
}
