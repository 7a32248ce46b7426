import { Injectable } from '@nestjs/common';
import type { Account } from '../../accounts/index.js';
import { type Actor, AuditTrail } from '../../audit/index.js';
import { normalizeTaxId } from '../../brazil/index.js';
import { fingerprintOf } from '../../core/crypto/index.js';
import type { Tx } from '../../core/database/index.js';
import { notFound } from '../../core/errors/index.js';
import { type IdempotentRequest, keyReused } from '../../core/idempotency/index.js';
import type { Scope } from '../../core/mode.js';
import type { Amount } from '../../core/money/index.js';
import type { Refund, RefundOrder } from './refund.js';
import { RefundOpening } from './refund-opening.service.js';
import { type RefundFilter, RefundsRepository } from './refunds.repository.js';
import { TransactionsRepository } from '../transactions.repository.js';

/** A parsed refund request, with the facts for the fraud guard. */
export interface AskedRefund {
  readonly request: IdempotentRequest;
  readonly amount: Amount;
  /** The customer's document. The guard counts the document's refunds a minute; a blocked document does not refuse them. */
  readonly document: string | null;
  /** The destination key, if it is a document. If it is blocked, the refund is refused. */
  readonly destination: string | null;
}

/** The account and the person that ask for a refund. */
export interface RefundCaller {
  readonly account: Account;
  readonly actor: Actor;
}

/** Takes merchants' refund requests and lists refunds; RefundProcessor carries them out. */
@Injectable()
export class RefundsService {
  constructor(
    private readonly transactions: TransactionsRepository,
    private readonly refunds: RefundsRepository,
    private readonly opening: RefundOpening,
    private readonly audit: AuditTrail,
  ) {}

  /**
   * @param key unique forever, among all payments of the account and mode
   * @throws ApiError 404
   */
  async ask(scope: Scope, transactionId: string, order: RefundOrder, key: string): Promise<AskedRefund> {
    const transaction = await this.transactions.find(scope, transactionId);
    if (!transaction) throw notFound('payment');
    return {
      request: {
        ...scope,
        operation: 'refunds.create',
        key,
        fingerprint: fingerprintOf({ transactionId, ...order }),
        permanent: true,
      },
      amount: order.amount ?? (await this.refunds.remaining(scope, transactionId)),
      document: transaction.customerDocument,
      destination: order.destinationKey === null ? null : normalizeTaxId(order.destinationKey),
    };
  }

  /**
   * Sets the money aside. Take the key before calling: key before payment, as everywhere.
   * @throws ApiError as `RefundOpening.open`
   */
  async open(
    tx: Tx,
    made: { readonly id: string; readonly now: Date },
    transactionId: string,
    order: RefundOrder,
    { account, actor }: RefundCaller,
  ): Promise<Refund> {
    const refund = await this.opening.open(tx, made, account, transactionId, order);
    const { mode, amount } = refund;
    const data = { mode, refund_id: made.id, transaction_id: transactionId, amount };
    this.audit.record(tx, actor, 'refund.requested', account.id, { data });
    return refund;
  }

  /**
   * @returns the refund as its first answer showed it
   * @throws ApiError 409 for a refund of another payment, whose request was erased with its customer
   */
  async asked(scope: Scope, transactionId: string, id: string): Promise<Refund> {
    const refund = (await this.refunds.list(scope, transactionId)).find((one) => one.id === id);
    if (!refund) throw keyReused();
    return { ...refund, status: 'PENDING' };
  }

  /** Newest first. @throws ApiError 404 */
  async list(scope: Scope, transactionId: string): Promise<Refund[]> {
    if (!(await this.transactions.find(scope, transactionId))) throw notFound('payment');
    return this.refunds.list(scope, transactionId);
  }

  /** Refunds of all transactions, newest first. */
  async listAll(scope: Scope, filter: RefundFilter): Promise<Refund[]> {
    return this.refunds.listAll(scope, filter);
  }
}
