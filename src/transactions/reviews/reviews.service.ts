import { Injectable } from '@nestjs/common';
import type { Account } from '../../accounts/index.js';
import { InboxService, type UnreadableNews } from '../../acquirers/index.js';
import { maskTaxId } from '../../brazil/index.js';
import { Clock } from '../../core/clock.js';
import { SecretBox } from '../../core/crypto/index.js';
import type { Tx } from '../../core/database/index.js';
import { ApiError, conflict, notFound } from '../../core/errors/index.js';
import type { IdCursorFilter } from '../../core/http/index.js';
import { SettlementOutcomes } from '../settlement/settlement-outcomes.service.js';
import { isHeld, type Transaction } from '../transaction.js';
import { TransactionsRepository } from '../transactions.repository.js';
import {
  type AttentionPix,
  type HeldPix,
  type ReturnFilter,
  type ReturningPix,
  type ReviewFilter,
  ReviewsRepository,
  type StrayPix,
} from './reviews.repository.js';

type WithPayer = Pick<AttentionPix, 'payerDocumentSealed' | 'endToEndId'>;

/**
 * A Pix for operators. The payer's real document never leaves in the clear; masked it is enough to tell two people
 * apart.
 */
type Shown<P extends WithPayer> = Omit<P, 'payerDocumentSealed'> & { readonly maskedPayer: string | null };

export type Review = Shown<HeldPix>;
export type UnmatchedPix = Shown<StrayPix>;
export type ReturnedPix = Shown<ReturningPix>;
export type { UnreadableNews };

export interface Decided {
  readonly review: Review;
  /** False when the same decision was made before: nothing has happened now. */
  readonly changed: boolean;
}

interface Locked {
  readonly held: HeldPix;
  readonly transaction: Transaction;
  readonly account: Account;
}

/**
 * Confirmed money that waits for an operator, or went back without being credited (docs/contract.md#settlement). Works
 * across accounts: never call it for a merchant's request.
 */
@Injectable()
export class ReviewsService {
  constructor(
    private readonly reviews: ReviewsRepository,
    private readonly transactions: TransactionsRepository,
    private readonly outcomes: SettlementOutcomes,
    private readonly inbox: InboxService,
    private readonly secrets: SecretBox,
    private readonly clock: Clock,
  ) {}

  /** Lists Pix that are held because the bank did not name the payer, and are not decided yet. Newest first. */
  async list(filter: ReviewFilter): Promise<Review[]> {
    return (await this.reviews.list(filter)).map((held) => this.#shown(held));
  }

  /** Lists Pix that match no charge, or that could not be sent back, until an owner is found. Newest first. */
  async unmatched(filter: IdCursorFilter): Promise<UnmatchedPix[]> {
    return (await this.reviews.unmatched(filter)).map((pix) => this.#shown(pix));
  }

  /**
   * Lists Pix that go back to their payers, also those that the bank has not accepted yet or has refused. Newest first.
   */
  async returned(filter: ReturnFilter): Promise<ReturnedPix[]> {
    return (await this.reviews.returns(filter)).map((pix) => this.#shown(pix));
  }

  /** Lists acquirers' reports that cannot be read: there may be money behind them. Newest first. */
  async unreadable(filter: IdCursorFilter): Promise<UnreadableNews[]> {
    return this.inbox.unreadable(filter);
  }

  /**
   * Credits held money: state, ledger and event in the caller's `tx`. If several decisions or the merchant's
   * cancellation come at once, the first wins; repeating it changes nothing. Locks the transaction, then balances.
   * @throws ApiError 404, 409 `review_already_decided`
   */
  async accept(tx: Tx, id: string, operatorId: string): Promise<Decided> {
    return this.#decide(tx, id, 'credited', operatorId, ({ held, ...sale }) => {
      const { endToEndId, settledAt, providerFee } = held;
      // Only a Pix is ever held.
      const money = { method: 'PIX', endToEndId, settledAt, fee: providerFee } as const;
      return this.outcomes.credit(tx, sale, money, 'review_accepted', true);
    });
  }

  /** Sends held money back to its payer by a Pix return; decides as `accept` does. */
  async sendBack(tx: Tx, id: string, operatorId: string): Promise<Decided> {
    return this.#decide(tx, id, 'returned', operatorId, ({ held, transaction }) =>
      this.outcomes.sendBack(
        tx,
        transaction,
        held,
        { way: 'devolution', reason: 'review_returned' },
        { trigger: 'review_returned' },
      ),
    );
  }

  async #decide(
    tx: Tx,
    id: string,
    outcome: 'credited' | 'returned',
    operatorId: string,
    apply: (locked: Locked) => Promise<void>,
  ): Promise<Decided> {
    const held = await this.reviews.find(tx, id);
    const locked = held && (await this.transactions.lockWithAccount(tx, held.transactionId));
    if (!locked) throw notFound('review');
    const reviewedAt = this.clock.now();
    if (await this.reviews.decide(tx, id, outcome, reviewedAt, operatorId)) {
      // A held charge ends only by a decision about its money.
      if (!isHeld(locked.transaction)) throw new Error(`${locked.transaction.id} has a review but is not held`);
      await apply({ ...locked, held });
      return { review: this.#shown({ ...held, outcome, reviewedAt, reviewedBy: operatorId }), changed: true };
    }
    // Reads again, because the first read was before the lock.
    const decided = await this.reviews.find(tx, id);
    if (decided?.reviewedBy === null) {
      throw alreadyDecided('The merchant has cancelled the charge: this payment goes back to its payer.');
    }
    if (decided?.outcome === outcome) return { review: this.#shown(decided), changed: false };
    throw alreadyDecided('This payment was decided otherwise before.');
  }

  #shown<P extends WithPayer>(pix: P): Shown<P> {
    const { payerDocumentSealed, ...rest } = pix;
    const maskedPayer =
      payerDocumentSealed === null
        ? null
        : maskTaxId(this.secrets.open(payerDocumentSealed, `settlement:${pix.endToEndId}`));
    return { ...rest, maskedPayer };
  }
}

function alreadyDecided(message: string): ApiError {
  return conflict('review_already_decided', message);
}
