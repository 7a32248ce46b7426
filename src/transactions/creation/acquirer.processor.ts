import { Injectable } from '@nestjs/common';
import { AcquirersService, type Artefacts } from '../../acquirers/index.js';
import { Clock } from '../../core/clock.js';
import { Database } from '../../core/database/index.js';
import { doubling, type Prolong, type Work, type WorkAnswer, type Worker, WorkService } from '../../core/work/index.js';
import { TransactionMoves } from '../transaction-moves.service.js';
import { failureOf, isOpen, isPastExpiry, type Transaction, wasIssued } from '../transaction.js';
import { TransactionsRepository } from '../transactions.repository.js';
import { IssueCalls } from './issue-calls.service.js';

/**
 * Calls acquirers about existing transactions: issues payments that were answered as WAITING_PAYMENT, and takes back
 * cancelled ones. Everything may run twice: an acquirer takes two requests under one txid for the same.
 */
@Injectable()
export class AcquirerProcessor implements Worker {
  readonly kind = 'acquirer';
  readonly concurrency = 16;
  readonly backoff = doubling(1_000, 60_000);
  readonly leaseMs = 30_000;

  constructor(
    private readonly database: Database,
    private readonly transactions: TransactionsRepository,
    private readonly moves: TransactionMoves,
    private readonly work: WorkService,
    private readonly acquirers: AcquirersService,
    private readonly calls: IssueCalls,
    private readonly clock: Clock,
  ) {}

  /** Does the open work of one transaction, if any. If the acquirer fails, the work runs again. */
  async run({ subjectId, prolong }: Work): Promise<WorkAnswer> {
    const transaction = await this.transactions.findPublic(subjectId);
    if (transaction?.status === 'CANCELLED') {
      await this.acquirers.get(transaction.acquirer).cancel(transaction.txid ?? '');
    } else if (transaction && isOpen(transaction) && !isPastExpiry(transaction, this.clock.now())) {
      return this.#issue(transaction, prolong);
    }
    return 'done';
  }

  async #issue(transaction: Transaction, prolong: Prolong): Promise<WorkAnswer> {
    const outcomes = await this.calls.ask(transaction);
    if (outcomes.length === 0) return 'done';
    const issued = outcomes.flatMap((outcome) => (outcome.kind === 'issued' ? [outcome] : []));
    const refused = outcomes.flatMap((outcome) => (outcome.kind === 'refused' ? [outcome] : []));
    const isComplete = issued.length + refused.length === outcomes.length;
    const brCode = issued.find((outcome) => outcome.brCode !== undefined)?.brCode ?? null;
    const artefacts = issued.reduce<Artefacts>((all, outcome) => ({ ...all, ...outcome.artefacts }), {});
    const [refusal] = refused;
    await this.database.transaction(async (tx) => {
      const now = this.clock.now();
      if (brCode !== null) await this.moves.announce(tx, transaction.id, brCode);
      const current = await this.transactions.addArtefacts(tx, transaction.id, artefacts, now);
      // If the merchant cancelled during the call, the acquirer has made it all the same: cancel it there too.
      if (current.status === 'CANCELLED') this.work.add(tx, 'acquirer', transaction.id, now);
      else if (refusal && isComplete && !wasIssued(current)) {
        // Renews the lease: an overtaken run does not know which methods the other run has had accepted.
        await prolong(tx);
        const failure = failureOf(transaction, { reason: refusal.reason, providerErrorCode: refusal.code, at: now });
        await this.moves.move(tx, current, 'refused', { failure });
      }
    });
    return isComplete ? 'done' : 'again';
  }
}
