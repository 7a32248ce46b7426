import { Injectable } from '@nestjs/common';
import type { Account } from '../../accounts/index.js';
import { type Actor, AuditTrail } from '../../audit/index.js';
import { normalizeTaxId } from '../../brazil/index.js';
import { Clock } from '../../core/clock.js';
import { fingerprintOf } from '../../core/crypto/index.js';
import { Database } from '../../core/database/index.js';
import { notFound } from '../../core/errors/index.js';
import {
  type Admission,
  type Answer,
  IdempotencyService,
  type IdempotentAnswer,
  type IdempotentRequest,
  keyReused,
} from '../../core/idempotency/index.js';
import { newId } from '../../core/ids.js';
import type { Scope } from '../../core/mode.js';
import type { Amount } from '../../core/money/index.js';
import type { Refund, RefundOrder } from './refund.js';
import { RefundOpening } from './refund-opening.service.js';
import { type RefundFilter, RefundsRepository } from './refunds.repository.js';
import { TransactionsRepository } from '../transactions.repository.js';

/**
 * The fields of a refund that `FraudGuard.check` looks at. A blocked `destination` refuses the refund
 * (`fraud.document_blocked`). A blocked `document` of the customer does not: only its refunds a minute are counted
 * (`fraud.velocity_exceeded`).
 */
export interface AskedRefund {
  readonly amount: Amount;
  readonly document: string | null;
  /** The destination key, where it is a document. */
  readonly destination: string | null;
  readonly request: IdempotentRequest;
}

/** Refunds as merchants ask for them and read them; RefundProcessor carries them out. */
@Injectable()
export class RefundsService {
  constructor(
    private readonly database: Database,
    private readonly idempotency: IdempotencyService,
    private readonly transactions: TransactionsRepository,
    private readonly refunds: RefundsRepository,
    private readonly opening: RefundOpening,
    private readonly audit: AuditTrail,
    private readonly clock: Clock,
  ) {}

  /**
   * Accepts a refund: its money is set aside, and the acquirer is called later. The available balance is debited with the
   * refund's full amount, and with the refund's own fee where it has one. Fees that were charged on the payment are not
   * given back.
   * @param key the `idempotencyKey` of the request's body. It is unique for ever, among all payments of the account and
   *   mode. A refused request leaves its key free for another try
   * @param admit the fraud guard's word on a new request, `FraudGuard.check`: every caller has to ask it
   * @param present the answer that this and every repetition of the request get
   * @throws ApiError in this order:
   *   1. over HTTP, after the guards and before this method: 400 `invalid_request` by `RefundDto`, for a body without an
   *      `idempotencyKey` of 8 to 128 printable ASCII characters, an amount that is not an integer from 1 to
   *      999999999999, a `reason` of more than 500 characters, an unknown `strategy`, a `passFeeToTenant` that is not
   *      true or false, a `destinationKey` that is no Pix key, or a `destinationKey` together with the strategy
   *      `devolution`
   *   2. 404: the account has no such payment in this mode
   *   3. 409 `idempotency_key_reused`: the key was used with another body or payment; 409 `idempotency_key_in_use`: the
   *      first request with the key is still at work after 10 s
   *   4. where the account's `fraud_mode` is `enforce`: 403 `fraud.document_blocked`, or 403 `fraud.velocity_exceeded` for
   *      too many refunds a minute of one customer's document (`fraud_velocity`)
   *   5. what `planRefund` throws
   *   6. 422 `insufficient_balance`: the available balance is less than the amount and the fee
   */
  async request<T>(
    scope: Scope,
    account: Account,
    transactionId: string,
    order: RefundOrder,
    key: string,
    admit: (asked: AskedRefund) => Promise<Admission>,
    present: (refund: Refund) => Answer<T>,
    actor: Actor,
  ): Promise<IdempotentAnswer<T>> {
    const transaction = await this.transactions.find(scope, transactionId);
    if (!transaction) throw notFound('payment');
    const request = {
      ...scope,
      operation: 'refunds.create',
      key,
      fingerprint: fingerprintOf({ transactionId, ...order }),
      permanent: true,
    };
    const amount = order.amount ?? (await this.refunds.remaining(scope, transactionId));
    const destination = order.destinationKey === null ? null : normalizeTaxId(order.destinationKey);
    const asked = { amount, document: transaction.customerDocument, destination, request };
    return this.idempotency.run<T>(
      request,
      () => admit(asked),
      async (claim, refundId) => {
        // The answer and the refund have committed together. The answer is made again as it was.
        if (refundId !== null) {
          return present({ ...(await this.#found(scope, transactionId, refundId)), status: 'PENDING' });
        }
        return this.database.transaction(async (tx) => {
          const now = this.clock.now();
          const id = newId(now);
          // Before the transaction, as everywhere: twins queue up at the key.
          claim.take(tx, id, null);
          const refund = await this.opening.open(tx, { id, now }, account, transactionId, order);
          const answer = present(refund);
          claim.complete(tx, answer);
          this.audit.record(tx, actor, 'refund.requested', scope.accountId, {
            data: { mode: scope.mode, refund_id: id, transaction_id: transactionId, amount: refund.amount },
          });
          return answer;
        });
      },
    );
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

  /** @throws ApiError 409 for a refund of another payment, whose request was forgotten with its customer */
  async #found(scope: Scope, transactionId: string, id: string): Promise<Refund> {
    const refund = (await this.refunds.list(scope, transactionId)).find((one) => one.id === id);
    if (!refund) throw keyReused();
    return refund;
  }
}
