import { Injectable } from '@nestjs/common';
import type { Account } from '../../accounts/index.js';
import { AcquirersService, type PixIssueOutcome } from '../../acquirers/index.js';
import { Clock } from '../../core/clock.js';
import { Database, type Tx } from '../../core/database/index.js';
import { business, providerUnavailable } from '../../core/errors/index.js';
import { type Answer, type Claim, KeyChanged } from '../../core/idempotency/index.js';
import type { Scope } from '../../core/mode.js';
import { type NewPixTransaction, pixDraft, pixRequest } from './pix-draft.js';
import { PixIssueService } from './pix-issue.service.js';
import { expiryFailure, failureOf, isPastExpiry, type Transaction } from '../transaction.js';
import { TransactionMoves } from '../transaction-moves.service.js';
import { TransactionsRepository } from '../transactions.repository.js';

/** `settled elsewhere`: a worker or a payment has moved the charge meanwhile. */
export type IssueResult = Exclude<PixIssueOutcome, { kind: 'unknown' }> | { readonly kind: 'settled elsewhere' };

/** Messages for the merchant, by the party that caused the refusal. */
const REFUSALS = {
  charge: 'The acquirer refused the charge. Check the amount and the customer.',
  connection:
    'The acquirer refused the Pix key of the account’s connection, not this charge. Whoever runs this service has to check that the key belongs to the connection (`acquirer check`).',
  acquirer:
    'The acquirer made the charge with another amount, so it was taken back there. Whoever runs this service has to ask the acquirer why.',
} as const;

/**
 * Makes a Pix charge in these steps: `draft`, `insert`, then `issue` if its acquirer has to make it, then `settle` in
 * the transaction that answers.
 */
@Injectable()
export class CreationService {
  constructor(
    private readonly database: Database,
    private readonly transactions: TransactionsRepository,
    private readonly moves: TransactionMoves,
    private readonly acquirers: AcquirersService,
    private readonly issues: PixIssueService,
    private readonly clock: Clock,
  ) {}

  /**
   * @returns the charge with its code if that needs no call; otherwise an intent, PENDING
   * @throws ApiError 422 `no_provider_configured`
   */
  draft(scope: Scope, account: Account, input: NewPixTransaction): Transaction {
    const acquirer = this.acquirers.for(scope.mode, account);
    const draft = pixDraft(scope, account, acquirer.name, input, this.clock.now());
    if (acquirer.pixIssuer.kind !== 'local') return draft;
    const { brCode } = acquirer.pixIssuer.issue(pixRequest(draft, account));
    return { ...draft, status: 'WAITING_PAYMENT', brCode };
  }

  /**
   * @param answer null for an intent
   * @param alongside writes rows of the caller in the same commit, by `writeRow` or `defer`
   */
  async insert(
    claim: Claim,
    transaction: Transaction,
    answer: Answer | null,
    alongside?: (tx: Tx, transaction: Transaction) => void,
  ): Promise<void> {
    if (answer === null) {
      await this.database.transaction(async (tx) => {
        claim.take(tx, transaction.id, null);
        this.transactions.insert(tx, transaction);
        alongside?.(tx, transaction);
      });
      return;
    }
    // All deferred: keys, transactions, events and COMMIT of a group reach the database in one round trip.
    await this.database.inGroupCommit('creation', claim.membership, async (tx) => {
      claim.take(tx, transaction.id, answer);
      this.transactions.insert(tx, transaction);
      this.moves.tell(tx, 'transaction.created', transaction, null);
      alongside?.(tx, transaction);
    });
  }

  /** Finds the charge of an earlier request, and keeps the sweeper away while this request asks the acquirer. */
  async resume(scope: Scope, id: string): Promise<Transaction> {
    const transaction = await this.transactions.find(scope, id);
    if (!transaction) throw new Error(`The idempotency key names a transaction that does not exist: ${id}`);
    await this.database.transaction(async (tx) => this.transactions.touchPending(tx, id, this.clock.now()));
    return transaction;
  }

  /**
   * Has the acquirer make the charge of a committed intent. May run again for the same charge, under the same txid.
   * @param mayExist an earlier call may have made it
   * @throws ApiError 503 if the outcome is not known; KeyChanged
   */
  async issue(transaction: Transaction, account: Account, claim: Claim, mayExist: boolean): Promise<IssueResult> {
    if (transaction.status !== 'PENDING') return { kind: 'settled elsewhere' };
    const acquirer = this.acquirers.get(transaction.acquirer);
    const outcome = await this.issues.askPix(acquirer, pixRequest(transaction, account), mayExist);
    if (outcome.kind !== 'unknown') return outcome;
    await this.database.transaction(async (tx) => {
      await claim.hold(tx, transaction.id);
      claim.handOn(tx);
    });
    throw providerUnavailable(
      'The acquirer has not confirmed the charge yet; repeat the request with the same Idempotency-Key.',
    );
  }

  /**
   * Moves the charge by its acquirer's answer. Take the key before calling: key before transaction, as everywhere.
   * @returns the charge as it is now: the sweeper or a payment may have moved it first. Null if it was not made
   */
  async settle(tx: Tx, transaction: Transaction, result: IssueResult): Promise<Transaction | null> {
    const moved = await this.#move(tx, transaction, result);
    const current = moved ?? (await this.transactions.lock(tx, transaction.id));
    if (!current || current.status === 'PENDING') throw new Error(`${transaction.id} was neither issued nor ended`);
    return current.status === 'REFUSED' && current.brCode === null ? null : current;
  }

  async #move(tx: Tx, transaction: Transaction, result: IssueResult): Promise<Transaction | null> {
    if (result.kind === 'settled elsewhere') return null;
    if (result.kind === 'issued') return this.moves.move(tx, transaction, 'issued', { brCode: result.brCode });
    const at = this.clock.now();
    if (result.kind === 'refused') {
      const failure = failureOf(transaction, { reason: result.reason, providerErrorCode: result.code, at });
      return this.moves.move(tx, transaction, 'not_issued', { failure });
    }
    const unavailable = { reason: 'The acquirer could not be reached.', providerErrorCode: 'unavailable', at };
    const failure = isPastExpiry(transaction, at)
      ? expiryFailure(transaction, at)
      : failureOf(transaction, unavailable);
    return this.moves.move(tx, transaction, 'not_issued', { failure });
  }

  /** @returns the error to throw for a charge that was not made, whose key is free */
  notMade(transaction: Transaction, result: IssueResult): Error {
    if (result.kind === 'refused') return business('charge_refused', REFUSALS[result.fault ?? 'charge']);
    // If the charge ended before this request asked, or has expired, the key is free for a new charge.
    if (result.kind === 'settled elsewhere' || isPastExpiry(transaction, this.clock.now())) return new KeyChanged();
    return providerUnavailable('The acquirer did not answer; retry with the same Idempotency-Key and backoff.');
  }
}
