import { Injectable } from '@nestjs/common';
import type { Account } from '../../accounts/index.js';
import {
  type Acquirer,
  AcquirersService,
  InboxService,
  type PixChargeRequest,
  type PixChargeState,
  type PixIssueOutcome,
} from '../../acquirers/index.js';
import { Clock } from '../../core/clock.js';
import { Database } from '../../core/database/index.js';
import { business, providerUnavailable } from '../../core/errors/index.js';
import {
  type Admission,
  type Answer,
  type Claim,
  IdempotencyService,
  type IdempotentAnswer,
  type IdempotentRequest,
} from '../../core/idempotency/index.js';
import type { Scope } from '../../core/mode.js';
import { type NewPixTransaction, pixDraft, pixRequest } from './pix-draft.js';
import { expiryFailure, failureOf, isPastExpiry, type Transaction } from '../transaction.js';
import { TransactionMoves } from '../transaction-moves.service.js';
import { TransactionsRepository } from '../transactions.repository.js';

interface Creation<T> {
  readonly account: Account;
  readonly claim: Claim<T>;
  present(transaction: Transaction): Answer<T>;
}

/** After the expiry of a charge, how long its acquirer may not know a charge of which it has told. */
const PATIENCE_MS = 10 * 60_000;

/** Of each acquirer, in one sweep. */
const MOST_UNKNOWN = 50;

/** `silent`: the acquirer could not be asked, which says nothing about whether the charge exists. */
type Found = PixChargeState | { readonly kind: 'silent' };

const OTHER_AMOUNT = {
  kind: 'refused',
  code: 'other_amount',
  reason: 'The acquirer made the charge with another amount; it was taken back there.',
  fault: 'acquirer',
} as const;

/** The words for the merchant, by whose fault a refusal is. */
const REFUSALS = {
  charge: 'The acquirer refused the charge. Check the amount and the customer.',
  connection:
    'The acquirer refused the Pix key of the account’s connection, not this charge. Whoever runs this service has to check that the key belongs to the connection (`acquirer check`).',
  acquirer:
    'The acquirer made the charge with another amount, so it was taken back there. Whoever runs this service has to ask the acquirer why.',
} as const;

function outcomeOf({ brCode, isOtherAmount }: Extract<PixChargeState, { kind: 'found' }>): PixIssueOutcome {
  return isOtherAmount ? OTHER_AMOUNT : { kind: 'issued', brCode };
}

/** Makes transactions. One that needs an acquirer's answer is written as an intent first, then called, then settled. */
@Injectable()
export class CreationService {
  constructor(
    private readonly database: Database,
    private readonly transactions: TransactionsRepository,
    private readonly moves: TransactionMoves,
    private readonly acquirers: AcquirersService,
    private readonly inbox: InboxService,
    private readonly idempotency: IdempotencyService,
    private readonly clock: Clock,
  ) {}

  /**
   * @param admit the fraud guard's word on a new request: every caller has to ask it
   * @param present the answer that this and every repetition of the request get
   * @throws ApiError 409 (idempotency), 422 `no_provider_configured`, 503 when the acquirer cannot be reached
   */
  async createPix<T>(
    scope: Scope,
    account: Account,
    input: NewPixTransaction,
    request: IdempotentRequest,
    admit: () => Promise<Admission>,
    present: (transaction: Transaction) => Answer<T>,
  ): Promise<IdempotentAnswer<T>> {
    return this.idempotency.run<T>(request, admit, async (claim, id) => {
      if (id !== null) return this.#resume(scope, id, { account, claim, present });
      const acquirer = this.acquirers.for(scope.mode, account);
      const draft = pixDraft(scope, account, acquirer.name, input, this.clock.now());
      return this.#first(draft, acquirer, { account, claim, present });
    });
  }

  /** Asks about charges whose creation was answered with silence; for the sweeper. */
  async resolveUnknown(olderThanMs: number): Promise<void> {
    const before = new Date(this.clock.now().getTime() - olderThanMs);
    const unknown = await this.transactions.findUnknown(before, MOST_UNKNOWN);
    const acquirers = new Set(unknown.map(({ acquirer }) => acquirer));
    const of = (name: string): Transaction[] => unknown.filter(({ acquirer }) => acquirer === name);
    await Promise.all([...acquirers].map((name) => this.#resolveInTurn(of(name))));
  }

  /** Of one acquirer, until it gives no answer: each of the others would take as long, where it hangs. */
  async #resolveInTurn(unknown: readonly Transaction[]): Promise<void> {
    for (const transaction of unknown) {
      // Moves it to the end of the line, so that each has its turn.
      await this.database.transaction(async (tx) =>
        this.transactions.touchPending(tx, transaction.id, this.clock.now()),
      );
      if ((await this.resolve(transaction)) === 'silent') return;
    }
  }

  /**
   * The acquirer tells of a charge whose code is not known here: it is asked for first, so that the charge is announced,
   * complete, before what has become of it. An acquirer that tells of a charge has made it: where it says that it knows no
   * such charge, its answer is not up to date.
   * @throws Error when the acquirer cannot be asked, or does not know a PENDING charge yet: what it tells of has to wait
   */
  async resolveByTxid(acquirer: string, txid: string): Promise<void> {
    if (this.acquirers.get(acquirer).pixIssuer.kind === 'local') return; // never without its code
    const unissued = await this.transactions.findUnissued(acquirer, txid);
    if (unissued && (await this.resolve(unissued, true)) !== 'resolved') {
      throw new Error(`${acquirer} does not say what ${txid} is`);
    }
  }

  /**
   * Finds out what became of a charge that is still PENDING, or of a payment that waits for its code.
   * @param exists the acquirer has told of it. That it does not know a PENDING charge is no answer then, until ten minutes
   *   after its expiry, nor while a hint about a Pix of it waits
   * @returns `open`: what has become of it is not known yet; `silent`: the acquirer could not be asked
   */
  async resolve(transaction: Transaction, exists = false): Promise<'resolved' | 'open' | 'silent'> {
    const { amount, txid } = transaction;
    const found = await this.#find(this.acquirers.get(transaction.acquirer), { txid: txid ?? '', amount });
    if (found.kind === 'silent') return 'silent';
    const isPending = transaction.status === 'PENDING';
    if (isPending && found.kind === 'not_found') {
      const isWaitedFor = !isPastExpiry(transaction, new Date(this.clock.now().getTime() - PATIENCE_MS));
      // What the acquirer tells of is applied in the end, to a charge without its code.
      if (exists) return isWaitedFor ? 'open' : 'resolved';
      if (await this.inbox.isTold(transaction.acquirer, transaction.txid ?? '')) return 'open';
    }
    if (isPending) await this.#resolvePending(transaction, found);
    else if (found.kind === 'found' && !found.isOtherAmount) {
      await this.database.transaction((tx) => this.moves.announce(tx, transaction.id, found.brCode));
    }
    return 'resolved';
  }

  #resolvePending(transaction: Transaction, found: PixChargeState): Promise<void> {
    return this.database.transaction(async (tx) => {
      if (found.kind === 'not_found') {
        const failure = this.#failure(transaction, 'not_created', 'The acquirer has no such charge.');
        await this.moves.move(tx, transaction, 'not_issued', { failure });
        return;
      }
      if (found.isOtherAmount) {
        const failure = this.#failure(transaction, OTHER_AMOUNT.code, OTHER_AMOUNT.reason);
        await this.moves.move(tx, transaction, 'not_issued', { failure });
        return;
      }
      await this.moves.move(tx, transaction, 'issued', { brCode: found.brCode });
      if (found.ended) {
        await this.inbox.store(tx, transaction.acquirer, { kind: 'charge', reference: transaction.txid ?? '' });
      }
    });
  }

  async #resume<T>(scope: Scope, id: string, creation: Creation<T>): Promise<Answer<T> | null> {
    const transaction = await this.transactions.find(scope, id);
    if (!transaction) throw new Error(`The idempotency key names a transaction that does not exist: ${id}`);
    // Keeps the sweeper away while this request asks the acquirer.
    await this.database.transaction(async (tx) => this.transactions.touchPending(tx, id, this.clock.now()));
    return this.#issue(transaction, this.acquirers.get(transaction.acquirer), creation, true);
  }

  async #first<T>(draft: Transaction, acquirer: Acquirer, creation: Creation<T>): Promise<Answer<T> | null> {
    const { account, claim } = creation;
    if (acquirer.pixIssuer.kind === 'local') {
      const { brCode } = acquirer.pixIssuer.issue(pixRequest(draft, account));
      const transaction: Transaction = { ...draft, status: 'WAITING_PAYMENT', brCode };
      const answer = creation.present(transaction);
      // All deferred: keys, transactions, events and COMMIT of a group reach the database in one round trip.
      await this.database.together('creation', claim.membership, async (tx) => {
        claim.take(tx, transaction.id, answer);
        this.transactions.insert(tx, transaction);
        this.moves.tell(tx, 'transaction.created', transaction, null);
      });
      return answer;
    }
    await this.database.transaction(async (tx) => {
      claim.take(tx, draft.id, null);
      this.transactions.insert(tx, draft);
    });
    return this.#issue(draft, acquirer, creation, false);
  }

  /**
   * From the committed intent to an answer. May run again for the same transaction, under the same txid. Null when the
   * key is no longer this request's to answer: a successor was faster.
   */
  async #issue<T>(
    transaction: Transaction,
    acquirer: Acquirer,
    creation: Creation<T>,
    mayExist: boolean,
  ): Promise<Answer<T> | null> {
    const { account, claim } = creation;
    const outcome =
      transaction.status === 'PENDING'
        ? await this.askPix(acquirer, pixRequest(transaction, account), mayExist)
        : ({ kind: 'settled elsewhere' } as const);
    if (outcome.kind === 'unknown') {
      await this.database.transaction(async (tx) => {
        if (await claim.hold(tx, transaction.id)) claim.handOn(tx);
      });
      throw providerUnavailable(
        'The acquirer has not confirmed the charge yet; repeat the request with the same Idempotency-Key.',
      );
    }
    // Key before transaction, as everywhere; only who holds the key may answer under it or free it.
    const result = await this.database.transaction(async (tx): Promise<Answer<T> | 'freed' | null> => {
      if (!(await claim.hold(tx, transaction.id))) return null;
      let moved: Transaction | null = null;
      if (outcome.kind === 'issued') {
        moved = await this.moves.move(tx, transaction, 'issued', { brCode: outcome.brCode });
      } else if (outcome.kind !== 'settled elsewhere') {
        const now = this.clock.now();
        const failure =
          outcome.kind === 'refused'
            ? this.#failure(transaction, outcome.code, outcome.reason)
            : isPastExpiry(transaction, now)
              ? expiryFailure(transaction, now)
              : this.#failure(transaction, 'unavailable', 'The acquirer could not be reached.');
        moved = await this.moves.move(tx, transaction, 'not_issued', { failure });
      }
      // The sweeper or a payment may have moved it first: the answer is what it has become.
      const current = moved ?? (await this.transactions.lock(tx, transaction.id));
      if (!current || current.status === 'PENDING') throw new Error(`${transaction.id} was neither issued nor ended`);
      if (current.status === 'REFUSED' && current.brCode === null) {
        claim.release(tx, transaction.id);
        return 'freed';
      }
      const answer = creation.present(current);
      claim.complete(tx, answer);
      return answer;
    });
    if (result !== 'freed') return result;
    if (outcome.kind === 'refused') {
      throw business('charge_refused', REFUSALS[outcome.fault ?? 'charge']);
    }
    // What was found dead before this request asked, or nobody may pay any more, leaves the key free for a new charge.
    if (outcome.kind === 'settled elsewhere' || isPastExpiry(transaction, this.clock.now())) return null;
    throw providerUnavailable('The acquirer did not answer; retry with the same Idempotency-Key and backoff.');
  }

  /**
   * Creates at the acquirer. Where the charge may exist already, it is asked for first, and made only when the acquirer
   * says that it does not: a second creation would cut the time for paying of one that lives, which is counted from the
   * first. A refusal is believed only when the acquirer has said so again after it: otherwise it may be about the second
   * creation of a charge that was made by somebody else's call, still on its way. What nobody may pay any more is not
   * made at all. While a Pix of it is told, it is not believed that it was not made.
   */
  async askPix(acquirer: Acquirer, request: PixChargeRequest, mayExist: boolean): Promise<PixIssueOutcome> {
    const outcome = await this.#askPix(acquirer, request, mayExist);
    const isNotMade = outcome.kind === 'refused' || outcome.kind === 'unavailable';
    return mayExist && isNotMade && (await this.inbox.isTold(acquirer.name, request.txid))
      ? { kind: 'unknown' }
      : outcome;
  }

  async #askPix(acquirer: Acquirer, request: PixChargeRequest, mayExist: boolean): Promise<PixIssueOutcome> {
    if (mayExist) {
      const before = await this.#find(acquirer, request);
      if (before.kind === 'found') return outcomeOf(before);
      if (before.kind === 'silent') return { kind: 'unknown' };
      if (request.expiresAt <= this.clock.now()) return { kind: 'unavailable' };
    }
    let outcome: PixIssueOutcome;
    try {
      const issued = await acquirer.pixIssuer.issue(request);
      outcome = 'kind' in issued ? issued : { kind: 'issued', brCode: issued.brCode };
    } catch {
      outcome = { kind: 'unknown' };
    }
    if (outcome.kind === 'issued') return outcome;
    if (outcome.kind === 'unavailable' || (outcome.kind === 'refused' && !mayExist)) return outcome;
    const after = await this.#find(acquirer, request);
    if (after.kind === 'found') return outcomeOf(after);
    return outcome.kind === 'refused' && after.kind === 'not_found' ? outcome : { kind: 'unknown' };
  }

  async #find(acquirer: Acquirer, { txid, amount }: Pick<PixChargeRequest, 'txid' | 'amount'>): Promise<Found> {
    try {
      return await acquirer.getPixCharge(txid, amount);
    } catch {
      return { kind: 'silent' };
    }
  }

  #failure(transaction: Transaction, code: string, reason: string): ReturnType<typeof failureOf> {
    return failureOf(transaction, { reason, providerErrorCode: code, at: this.clock.now() });
  }
}
