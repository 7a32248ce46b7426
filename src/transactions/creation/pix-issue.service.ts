import { Injectable } from '@nestjs/common';
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
import { failureOf, isPastExpiry, type Transaction } from '../transaction.js';
import { TransactionMoves } from '../transaction-moves.service.js';
import { TransactionsRepository } from '../transactions.repository.js';

/** How long after expiry we wait for an acquirer that reported a charge but answers "not found". */
const PATIENCE_MS = 10 * 60_000;

/** How many unknown charges of each acquirer one sweep asks about. */
const MAX_UNKNOWN = 50;

/** `silent`: the acquirer could not be asked, so whether the charge exists stays open. */
type Found = PixChargeState | { readonly kind: 'silent' };

const OTHER_AMOUNT = {
  kind: 'refused',
  code: 'other_amount',
  reason: 'The acquirer made the charge with another amount; it was taken back there.',
  fault: 'acquirer',
} as const;

function outcomeOf({ brCode, isOtherAmount }: Extract<PixChargeState, { kind: 'found' }>): PixIssueOutcome {
  return isOtherAmount ? OTHER_AMOUNT : { kind: 'issued', brCode };
}

/** Has acquirers make Pix charges, and resolves charges whose creation they have not confirmed. */
@Injectable()
export class PixIssueService {
  constructor(
    private readonly database: Database,
    private readonly transactions: TransactionsRepository,
    private readonly moves: TransactionMoves,
    private readonly acquirers: AcquirersService,
    private readonly inbox: InboxService,
    private readonly clock: Clock,
  ) {}

  /**
   * Creates the charge at the acquirer. If it may exist already, it is looked up first and made only if the acquirer
   * does not know it. A second creation would shorten the time for paying, which is counted from the first.
   * A refusal counts only if the acquirer still does not know the charge afterwards. The refusal may concern our second
   * creation, while an earlier call made the charge or is still on its way.
   * A charge past its expiry is not made at all. While a report of a Pix for the charge waits, "not made" is not
   * believed.
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

  /** Asks about charges whose creation got no answer; for the sweeper. */
  async resolveUnknown(olderThanMs: number): Promise<void> {
    const before = new Date(this.clock.now().getTime() - olderThanMs);
    const unknown = await this.transactions.findUnknown(before, MAX_UNKNOWN);
    const acquirers = new Set(unknown.map(({ acquirer }) => acquirer));
    const of = (name: string): Transaction[] => unknown.filter(({ acquirer }) => acquirer === name);
    await Promise.all([...acquirers].map((name) => this.#resolveInTurn(of(name))));
  }

  /**
   * Resolves the charges of one acquirer, until it does not answer: if it hangs, every further call would take as long.
   */
  async #resolveInTurn(unknown: readonly Transaction[]): Promise<void> {
    for (const transaction of unknown) {
      // Moves the charge to the end of the queue, so that each has its turn.
      await this.database.transaction(async (tx) =>
        this.transactions.touchPending(tx, transaction.id, this.clock.now()),
      );
      if ((await this.resolve(transaction)) === 'silent') return;
    }
  }

  /**
   * Looks up a charge that the acquirer reported but whose code is missing here. The charge is then announced,
   * complete, before its outcome. An acquirer that reports a charge has made it: if it answers "not found", its answer
   * is out of date.
   * @throws Error when the acquirer cannot be asked, or does not know a PENDING charge yet: its report has to wait
   */
  async resolveByTxid(acquirer: string, txid: string): Promise<void> {
    if (this.acquirers.get(acquirer).pixIssuer.kind === 'local') return; // local charges always have their code
    const unissued = await this.transactions.findUnissued(acquirer, txid);
    if (unissued && (await this.resolve(unissued, true)) !== 'resolved') {
      throw new Error(`${acquirer} does not say what ${txid} is`);
    }
  }

  /**
   * Finds out the state of a charge that is still PENDING, or of a payment that waits for its code.
   * @param exists the acquirer reported the charge. "Not found" for a PENDING charge is no answer then, until ten
   *   minutes after its expiry, nor while a report of a Pix for it waits
   * @returns `open`: the state is not known yet; `silent`: the acquirer could not be asked
   */
  async resolve(transaction: Transaction, exists = false): Promise<'resolved' | 'open' | 'silent'> {
    const { amount, txid } = transaction;
    const found = await this.#find(this.acquirers.get(transaction.acquirer), { txid: txid ?? '', amount });
    if (found.kind === 'silent') return 'silent';
    const isPending = transaction.status === 'PENDING';
    if (isPending && found.kind === 'not_found') {
      const isWaitedFor = !isPastExpiry(transaction, new Date(this.clock.now().getTime() - PATIENCE_MS));
      // After the wait the acquirer's report is applied, to a charge without its code.
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

  #failure(transaction: Transaction, code: string, reason: string): ReturnType<typeof failureOf> {
    return failureOf(transaction, { reason, providerErrorCode: code, at: this.clock.now() });
  }
}
