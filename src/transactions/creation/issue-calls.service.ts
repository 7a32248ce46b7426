import { Injectable } from '@nestjs/common';
import { type Account, AccountsService } from '../../accounts/index.js';
import { type Acquirer, AcquirersService, type Artefacts, type OrderMethod } from '../../acquirers/index.js';
import { Logger } from '../../core/log/index.js';
import { returnUrlOf, type Transaction } from '../transaction.js';
import { PixIssueService } from './pix-issue.service.js';
import { pixRequest } from './pix-draft.js';

/** The outcome of asking for one method. */
export type IssueOutcome =
  | { readonly kind: 'issued'; readonly brCode?: string; readonly artefacts?: Artefacts }
  | { readonly kind: 'refused'; readonly code: string; readonly reason: string }
  /** The outcome is not known, or no call could be made: the method is asked for again. */
  | { readonly kind: 'open' };

/** Asks the acquirer for the code or slip of each method. */
@Injectable()
export class IssueCalls {
  constructor(
    private readonly issues: PixIssueService,
    private readonly acquirers: AcquirersService,
    private readonly accounts: AccountsService,
    private readonly logger: Logger,
  ) {}

  /** @returns the outcome of each method that is still to be asked for, Pix first */
  async ask(transaction: Transaction): Promise<IssueOutcome[]> {
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
    const codes = outcomes.flatMap((outcome) => (outcome.kind === 'refused' ? [outcome.code] : []));
    if (codes.length > 0) this.logger.info({ transactionId: transaction.id, codes }, 'refused');
    return outcomes;
  }

  async #askPix(acquirer: Acquirer, transaction: Transaction, account: Account): Promise<IssueOutcome> {
    const outcome = await this.issues.askPix(acquirer, pixRequest(transaction, account), true);
    return outcome.kind === 'unknown' || outcome.kind === 'unavailable' ? { kind: 'open' } : outcome;
  }

  async #askOrder(
    acquirer: Acquirer,
    transaction: Transaction,
    account: Account,
    method: OrderMethod,
  ): Promise<IssueOutcome> {
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
        returnUrl: returnUrlOf(transaction)?.href ?? null,
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
