import { Injectable } from '@nestjs/common';
import { type Account, AccountsService } from '../accounts/index.js';
import { maskTaxId } from '../brazil/index.js';
import { SecretBox } from '../core/crypto/index.js';
import { ApiError } from '../core/errors/index.js';
import type { Admission, IdempotentRequest } from '../core/idempotency/index.js';
import type { Scope } from '../core/mode.js';
import type { Amount } from '../core/money/index.js';
import { RateLimiter } from '../core/rate-limit/index.js';
import type { FraudCode, FraudOperation } from './fraud-hit.entity.js';
import { FraudHits } from './fraud-hits.service.js';

export interface GuardedOperation {
  readonly operation: FraudOperation;
  /** The amount in the smallest unit. */
  readonly amount: Amount;
  /** The customer's document without punctuation, which identifies operations for counting; null when none was sent. */
  readonly document: string | null;
  /**
   * The receiver's document of a refund or payout without punctuation. Null for the payer's own key, for a refund's key
   * that is no document, and for a payout whose receiver's tax id is not known.
   */
  readonly destination?: string | null;
  /** A request repeated under its key counts once. */
  readonly request: IdempotentRequest;
}

interface Refusal {
  readonly code: FraudCode;
  readonly message: string;
  readonly retryAfterSeconds?: number;
}

const WINDOW_SECONDS = 60;
const NOTHING_COUNTED: Admission = { undo: async () => undefined };

/**
 * Checks everything that makes a charge, payment or refund (docs/contract.md#fraud-guard). The rules are settings of
 * the account; in shadow mode a hit is recorded and the request continues.
 *
 * Charges and payments of one document are counted together, over all processes if Redis is available. Refunds are
 * counted separately, and only by the document of the customer. Payouts are counted by the receiver's document.
 */
@Injectable()
export class FraudGuard {
  constructor(
    private readonly accounts: AccountsService,
    private readonly limiter: RateLimiter,
    private readonly hits: FraudHits,
    private readonly secrets: SecretBox,
  ) {}

  /**
   * Call it for new requests only (`IdempotencyService.begin`), and keep what it returns as the claim's `admission`.
   * @throws ApiError 403 `fraud.document_blocked`, `fraud.amount_limit_exceeded`, `fraud.velocity_exceeded`
   */
  async check(scope: Scope, account: Account, asked: GuardedOperation): Promise<Admission> {
    if (account.fraudMode === 'off') return NOTHING_COUNTED;
    // Rules for new sales do not hold for money that goes out: it goes back to its payer, or is the merchant's own.
    const isOutgoing = asked.operation === 'refund' || asked.operation === 'payout';
    const blockable = isOutgoing ? asked.destination : asked.document;
    if (account.blocksDocuments && blockable && (await this.accounts.blocksDocument(account.id, blockable))) {
      this.#hit(scope, account, asked, {
        code: 'fraud.document_blocked',
        message: `The document ${isOutgoing ? `to which this ${asked.operation} goes` : 'of this customer'} is on the block list of the account.`,
      });
    }
    if (!isOutgoing && account.fraudMaxAmount !== null && asked.amount > account.fraudMaxAmount) {
      this.#hit(scope, account, asked, {
        code: 'fraud.amount_limit_exceeded',
        message: `The amount is above the account's limit of ${account.fraudMaxAmount}.`,
      });
    }
    return asked.document === null ? NOTHING_COUNTED : this.#count(scope, account, asked, asked.document);
  }

  /** Runs last: requests refused by another rule are not counted. */
  async #count(scope: Scope, account: Account, asked: GuardedOperation, document: string): Promise<Admission> {
    const family = asked.operation === 'payment' ? 'charge' : asked.operation;
    // Redis gets neither documents, which could be guessed by trying all, nor idempotency keys.
    const key = `fraud:${family}:${this.#nameOf(scope.accountId, scope.mode, document)}`;
    const { operation, key: idempotencyKey, fingerprint } = asked.request;
    const member = this.#nameOf(operation, idempotencyKey, fingerprint.toString('base64'));
    const { fraudVelocity: limit } = account;
    const taken = this.limiter.takeInWindow(key, member, { limit, windowSeconds: WINDOW_SECONDS });
    const { allowed, counted, retryAfterSeconds } = taken instanceof Promise ? await taken : taken;
    if (!allowed) {
      this.#hit(scope, account, asked, {
        code: 'fraud.velocity_exceeded',
        message: `More than ${limit} a minute for the document of this ${operation === 'payout' ? 'receiver' : 'customer'}; try again in ${retryAfterSeconds} s.`,
        retryAfterSeconds,
      });
    }
    return counted ? { undo: async () => this.limiter.giveBack(key, member) } : NOTHING_COUNTED;
  }

  #nameOf(...parts: string[]): string {
    return this.secrets.mac('fraud window', JSON.stringify(parts)).toString('base64url').slice(0, 22);
  }

  /** @throws ApiError 403, unless the account is in shadow mode */
  #hit(scope: Scope, account: Account, asked: GuardedOperation, refusal: Refusal): void {
    const enforced = account.fraudMode === 'enforce';
    this.hits.record({
      accountId: scope.accountId,
      mode: scope.mode,
      code: refusal.code,
      enforced,
      operation: asked.operation,
      amount: asked.amount,
      maskedDocument: asked.document === null ? null : maskTaxId(asked.document),
    });
    if (!enforced) return;
    const { retryAfterSeconds } = refusal;
    throw new ApiError(
      403,
      'fraud_error',
      refusal.code,
      refusal.message,
      retryAfterSeconds === undefined ? {} : { headers: { 'Retry-After': String(retryAfterSeconds) } },
    );
  }
}
