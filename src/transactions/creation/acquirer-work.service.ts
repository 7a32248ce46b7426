import { Injectable } from '@nestjs/common';
import { type Account, AccountsService } from '../../accounts/index.js';
import { type Acquirer, AcquirersService, type Artefacts, type OrderMethod } from '../../acquirers/index.js';
import { Clock } from '../../core/clock.js';
import { Database } from '../../core/database/index.js';
import { Logger } from '../../core/log/index.js';
import { type WorkAnswer, WorkService } from '../../core/work/index.js';
import { CreationService } from './creation.service.js';
import { pixRequest } from './pix-draft.js';
import { failureOf, isOpen, isPastExpiry, type Transaction, wasIssued } from '../transaction.js';
import { TransactionMoves } from '../transaction-moves.service.js';
import { TransactionsRepository } from '../transactions.repository.js';

/** What came of asking for one method. */
type Outcome =
  | { readonly kind: 'issued'; readonly brCode?: string; readonly artefacts?: Artefacts }
  | { readonly kind: 'refused'; readonly code: string; readonly reason: string }
  /** The outcome is not known, or no call could be made: the method is asked for again. */
  | { readonly kind: 'open' };

/**
 * Calls acquirers about transactions that exist already: issues what was answered as WAITING_PAYMENT, takes back what
 * was cancelled. Everything may run twice: an acquirer takes two requests under one txid for the same.
 */
@Injectable()
export class AcquirerWorkService {
  constructor(
    private readonly database: Database,
    private readonly transactions: TransactionsRepository,
    private readonly moves: TransactionMoves,
    private readonly work: WorkService,
    private readonly creation: CreationService,
    private readonly acquirers: AcquirersService,
    private readonly accounts: AccountsService,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  /** Does what is to be done for one transaction, if anything. What an acquirer fails at is done again. */
  async run(transactionId: string): Promise<WorkAnswer> {
    const transaction = await this.transactions.findPublic(transactionId);
    if (transaction?.status === 'CANCELLED') {
      await this.acquirers.get(transaction.acquirer).cancel(transaction.txid ?? '');
    } else if (transaction && isOpen(transaction) && !isPastExpiry(transaction, this.clock.now())) {
      return this.#issue(transaction);
    }
    return 'done';
  }

  async #issue(transaction: Transaction): Promise<WorkAnswer> {
    const acquirer = this.acquirers.get(transaction.acquirer);
    const account = await this.accounts.get(transaction.accountId);
    const outcomes = await Promise.all([
      ...(transaction.paymentMethods.includes('PIX') && transaction.brCode === null
        ? [this.#askPix(acquirer, transaction, account)]
        : []),
      ...transaction.paymentMethods
        .filter((method): method is OrderMethod => method !== 'PIX' && transaction.artefacts?.[method] === undefined)
        .map((method) => this.#askOrder(acquirer, transaction, account, method)),
    ]);
    if (outcomes.length === 0) return 'done';
    const issued = outcomes.flatMap((outcome) => (outcome.kind === 'issued' ? [outcome] : []));
    const refused = outcomes.flatMap((outcome) => (outcome.kind === 'refused' ? [outcome] : []));
    const isComplete = issued.length + refused.length === outcomes.length;
    const brCode = issued.find((outcome) => outcome.brCode !== undefined)?.brCode ?? null;
    const artefacts = issued.reduce<Artefacts>((all, outcome) => ({ ...all, ...outcome.artefacts }), {});
    const [refusal] = refused;
    if (refusal) this.logger.info({ transactionId: transaction.id, codes: refused.map(({ code }) => code) }, 'refused');
    await this.database.transaction(async (tx) => {
      const now = this.clock.now();
      if (brCode !== null) await this.creation.announce(tx, transaction.id, brCode);
      const current = await this.transactions.addArtefacts(tx, transaction.id, artefacts, now);
      // It was cancelled during the call, and is there after all.
      if (current.status === 'CANCELLED') this.work.add(tx, 'acquirer', transaction.id, now);
      else if (refusal && isComplete && !wasIssued(current)) {
        const failure = failureOf(transaction, { reason: refusal.reason, providerErrorCode: refusal.code, at: now });
        await this.moves.move(tx, current, 'refused', { failure });
      }
    });
    return isComplete ? 'done' : 'again';
  }

  async #askPix(acquirer: Acquirer, transaction: Transaction, account: Account): Promise<Outcome> {
    const outcome = await this.creation.askPix(acquirer, pixRequest(transaction, account), true);
    return outcome.kind === 'unknown' || outcome.kind === 'unavailable' ? { kind: 'open' } : outcome;
  }

  async #askOrder(
    acquirer: Acquirer,
    transaction: Transaction,
    account: Account,
    method: OrderMethod,
  ): Promise<Outcome> {
    const { txid, amount, currency, createdAt, expiresAt, metadata } = transaction;
    const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);
    try {
      const outcome = await acquirer.orders?.issue({
        txid: txid ?? '',
        method,
        amount,
        currency,
        createdAt,
        expiresAt: expiresAt ?? createdAt,
        returnUrl: text(metadata['returnUrl']),
        phone: text(metadata['phone']),
        merchant: { name: account.name },
        payer: { name: transaction.customerName, document: transaction.customerDocument },
      });
      if (!outcome) return { kind: 'refused', code: 'method_not_supported', reason: `${method} is not offered.` };
      return outcome.kind === 'unknown' || outcome.kind === 'unavailable' ? { kind: 'open' } : outcome;
    } catch (error) {
      this.logger.warn({ error, transactionId: transaction.id, method }, 'the outcome of an order is not known');
      return { kind: 'open' };
    }
  }
}
