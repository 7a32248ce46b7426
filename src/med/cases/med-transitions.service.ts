import { Inject, Injectable } from '@nestjs/common';
import type { Dispute } from '../../acquirers/index.js';
import { Clock } from '../../core/clock.js';
import { NoticeMails } from '../../accounts/index.js';
import { type Config, CONFIG } from '../../core/config/index.js';
import type { Tx } from '../../core/database/index.js';
import { OutboxService } from '../../outbox/index.js';
import { type Disputed, DisputesService, isPaidWithCard, type Transaction } from '../../transactions/index.js';
import { WalletsService } from '../../wallets/index.js';
import { medCaseBody } from '../desk/med-case.serializer.js';
import { correctedMail, openedMail, resolvedMail } from '../desk/med-mails.js';
import { DisputedTransaction } from './disputed-transaction.js';
import type { MedCase } from './med-case.js';
import { MED_MOVES } from './med-cases.machine.js';
import { MedCasesRepository } from './med-cases.repository.js';
import { correctedEvent, medEvent, resolvedEvent } from './med.events.js';

/**
 * Locks disputed transactions, and writes the steps that the rules have added to them: each case with the transaction's
 * status, its money, events and mail in one commit. Locks are taken in the order transaction, cases, balances.
 */
@Injectable()
export class MedTransitions {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly cases: MedCasesRepository,
    private readonly disputes: DisputesService,
    private readonly wallets: WalletsService,
    private readonly outbox: OutboxService,
    private readonly mails: NoticeMails,
    private readonly clock: Clock,
  ) {}

  /**
   * @returns null while the disputed payment is not settled here; `disputed` null for a Pix without a sale that an
   *   operator has dealt with
   */
  async find(
    tx: Tx,
    acquirer: string,
    dispute: Dispute,
  ): Promise<{ disputed: DisputedTransaction | null; paymentReference: string } | null> {
    const found = await this.disputes.find(tx, acquirer, dispute);
    if (!found) return null;
    return { ...found, disputed: found.disputed && (await this.#lockCases(tx, found.disputed)) };
  }

  async lock(tx: Tx, transactionId: string): Promise<DisputedTransaction> {
    return this.#lockCases(tx, await this.disputes.lock(tx, transactionId));
  }

  /** Writes the steps in their order, then the movements of money. Call it last: balances are locked after all else. */
  async carryOut(tx: Tx, disputed: DisputedTransaction): Promise<void> {
    const { publicBaseUrl } = this.config;
    const isMuted = !disputed.account.medOutcomeNotifications;
    let { transaction } = disputed;
    for (const step of disputed.steps) {
      switch (step.kind) {
        case 'case_begun':
          this.cases.insert(tx, step.medCase);
          break;
        case 'case_changed':
          await this.cases.change(tx, step.medCase, step.from);
          if (step.claimed !== 0) this.disputes.add(tx, transaction.id, step.claimed);
          break;
        case 'med_block_changed':
          this.disputes.writeMedBlock(tx, transaction.id, step.block);
          break;
        case 'transaction_disputed': {
          const trigger = triggerOf(transaction, step.medCase);
          transaction = await this.disputes.dispute(tx, transaction, trigger, medCaseBody(step.medCase));
          break;
        }
        case 'transaction_revived':
          transaction = await this.disputes.revive(tx, transaction);
          break;
        case 'evidence_requested':
          this.outbox.record(tx, [medEvent('med_case.evidence_requested', step.medCase, transaction)]);
          break;
        case 'opened':
          this.outbox.record(tx, [medEvent('med_case.opened', step.medCase, transaction)]);
          await this.mails.enqueue(tx, 'dispute', openedMail(disputed, step.medCase, publicBaseUrl));
          break;
        case 'ended':
          this.outbox.record(tx, [
            medEvent('med_case.moved', step.medCase, transaction, isMuted),
            resolvedEvent(step.medCase, transaction, step.amount, isMuted),
          ]);
          await this.mails.enqueue(tx, 'dispute', resolvedMail(disputed, step.medCase, step.amount, publicBaseUrl));
          break;
        case 'corrected':
          this.outbox.record(tx, [
            medEvent('med_case.moved', step.medCase, transaction, isMuted),
            correctedEvent(step.medCase, transaction, step.taken, isMuted),
          ]);
          await this.mails.enqueue(tx, 'dispute', correctedMail(disputed, step.medCase, step.taken, publicBaseUrl));
      }
    }
    this.wallets.moveDisputed(tx, disputed.moves);
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

  async #lockCases(tx: Tx, disputed: Disputed): Promise<DisputedTransaction> {
    const cases = await this.cases.lockAll(tx, disputed.transaction.id);
    return new DisputedTransaction(disputed, cases, {
      now: this.clock.now(),
      rulesAtOnce: this.config.medAutoRulings,
    });
  }
}

function triggerOf(transaction: Transaction, { type }: MedCase): 'disputed' | 'card_disputed' | 'charged_back' {
  if (!isPaidWithCard(transaction)) return 'disputed';
  return type === 'chargeback' ? 'charged_back' : 'card_disputed';
}
