import { Injectable } from '@nestjs/common';
import { type AccountEntity, AccountsService } from '../accounts/index.js';
import { boletoPdf, ConfirmationService, SandboxAcquirer } from '../acquirers/index.js';
import { isTxid, newTxid } from '../brazil/index.js';
import { notFound } from '../core/errors/index.js';
import { isOpen, returnUrlOf, type Transaction, TransactionsService } from '../transactions/index.js';

/** A payment by card, with the merchant to whom it goes. */
export interface CardPayment {
  readonly transaction: Transaction;
  readonly account: Pick<AccountEntity, 'name' | 'accent' | 'logo'>;
}

/** Pages of the sandbox bank for payers. The txid in the address is drawn at random and is the credential. */
@Injectable()
export class SandboxPagesService {
  constructor(
    private readonly transactions: TransactionsService,
    private readonly accounts: AccountsService,
    private readonly bank: SandboxAcquirer,
    private readonly confirmations: ConfirmationService,
  ) {}

  /** @throws ApiError 404 for a transaction that is not payable by card */
  async card(txid: string): Promise<CardPayment> {
    const transaction = await this.#find(txid);
    if (!transaction.artefacts?.CREDIT_CARD) throw notFound('page');
    return { transaction, account: await this.accounts.details(transaction.accountId) };
  }

  /**
   * Records the card issuer's answer after it has authenticated the cardholder. Only the first answer counts.
   * @returns the payer's next page: the merchant's, else the checkout of the payment
   */
  async answerCard(txid: string, approved: boolean): Promise<string> {
    const { transaction } = await this.card(txid);
    if (isOpen(transaction)) {
      await this.confirmations.confirm(await this.bank.orders.tell(txid, 'processing'));
      const notification = approved
        ? await this.bank.orders.receivePayment({
            accountId: transaction.accountId,
            txid,
            method: 'CREDIT_CARD',
            reference: newTxid(),
            amount: transaction.amount,
            payer: { name: transaction.customerName, document: transaction.customerDocument },
          })
        : await this.bank.orders.tell(txid, 'refused');
      await this.confirmations.confirm(notification);
    }
    // A header allows only the letters of an encoded address.
    return returnUrlOf(transaction)?.href ?? `/checkout/${transaction.id}`;
  }

  /** @throws ApiError 404 for a transaction without a boleto */
  async boleto(txid: string): Promise<Buffer> {
    const transaction = await this.#find(txid);
    const { artefacts, expiresAt } = transaction;
    if (!artefacts?.BOLETO || !expiresAt) throw notFound('page');
    const { name } = await this.accounts.get(transaction.accountId);
    return boletoPdf({
      barcode: artefacts.BOLETO.barcode,
      line: artefacts.BOLETO.line,
      amount: transaction.amount,
      createdAt: transaction.createdAt,
      dueAt: new Date(expiresAt.getTime() - 1),
      number: txid,
      merchant: name,
      payer: { name: transaction.customerName, document: transaction.customerDocument },
    });
  }

  async #find(txid: string): Promise<Transaction> {
    if (!isTxid(txid)) throw notFound('page');
    return this.transactions.getByTxid(this.bank.name, txid);
  }
}
