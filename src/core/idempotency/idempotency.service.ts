import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Clock } from '../clock.js';
import { Database, isLockTimeout, type Membership, type Tx, uniqueViolation } from '../database/index.js';
import { ApiError } from '../errors/index.js';
import {
  IdempotencyRepository,
  type IdempotencyRow,
  type IdempotentRequest,
  REPLAY_MS,
} from './idempotency.repository.js';

export interface Answer<T = unknown> {
  readonly status: number;
  readonly body: T;
}

export interface IdempotentAnswer<T> extends Answer<T> {
  readonly replayed: boolean;
}

/** A new request that was counted. Twins of one key and body share one count. */
export interface Admission {
  /** Takes the count back. Never rejects. */
  undo(): Promise<void>;
}

/**
 * State of a request's key:
 * - `replay`: an earlier request was answered. Here is its answer.
 * - `resume`: an earlier request has made `resourceId`, but its answer is missing or was deleted. This request answers.
 * - `new`: the key is free. Take it in the transaction that makes the resource.
 */
export type Begun<T> =
  | { readonly kind: 'replay'; readonly answer: IdempotentAnswer<T> }
  | { readonly kind: 'resume'; readonly resourceId: string; readonly claim: Claim }
  | { readonly kind: 'new'; readonly claim: Claim };

/** Thrown when the key went to another request meanwhile. `IdempotencyInterceptor` begins the request again. */
export class KeyChanged extends Error {
  override readonly name = 'KeyChanged';
  constructor() {
    super('The Idempotency-Key went to another request meanwhile: begin again');
  }
}

/** Time for which a twin waits (docs/contract.md#idempotency); the connection's lock_timeout is the same. */
export const WAIT_MS = 10_000;
/** If a worker has not answered after this time, it counts as dead. Longer than any acquirer call. */
const LEASE_MS = 40_000;

/**
 * Ensures that a repeated request has one effect and one answer, even if both arrive at once or the first one crashed.
 */
@Injectable()
export class IdempotencyService {
  constructor(
    private readonly database: Database,
    private readonly keys: IdempotencyRepository,
    private readonly clock: Clock,
  ) {}

  /**
   * Looks the key up, and waits for a twin under way. Call the fraud guard for a `new` request only: a repetition of an
   * accepted request is never refused, whatever has changed since.
   * @throws ApiError 409 `idempotency_key_reused` (another body under the key), `idempotency_key_in_use` (a twin is
   *   still at work after 10 s)
   */
  async begin<T>(request: IdempotentRequest): Promise<Begun<T>> {
    const claim = new Claim(request, this.keys, this.clock);
    const started = performance.now();
    while (performance.now() - started < WAIT_MS) {
      const now = this.clock.now();
      const row = await this.keys.find(request);
      if (!row) return { kind: 'new', claim };
      if (row.expiresAt !== null && row.expiresAt.getTime() <= now.getTime()) {
        await this.database.transaction(async (tx) => this.keys.deleteExpired(tx, request, now));
        return { kind: 'new', claim };
      }
      if (!this.#isSame(row, request)) throw keyReused();
      const { resourceId, responseStatus: status, responseBody: body } = row;
      // If the customer was erased, the caller rebuilds the answer and checks whether the request may be the same.
      const isKept = request.permanent !== true || !isForgotten(row);
      if (status !== null && body !== null && isKept) {
        return { kind: 'replay', answer: { status, body: JSON.parse(body) as T, replayed: true } };
      }
      if (status !== null) return { kind: 'resume', resourceId, claim };
      if (row.leasedUntil.getTime() <= now.getTime()) {
        const leasedUntil = new Date(now.getTime() + LEASE_MS);
        const isOurs = await this.database.transaction((tx) => this.keys.takeOver(tx, request, now, leasedUntil));
        if (isOurs) return { kind: 'resume', resourceId, claim };
      }
      await delay(50);
    }
    throw keyInUse();
  }

  /**
   * Call this when a new request has failed. The fraud guard's count is taken back, unless the key has a row, whose
   * request is counted.
   * @returns the error to throw: `error` itself, or a `KeyChanged` if another request was first with the key
   */
  async failed(error: unknown, claim: Claim): Promise<unknown> {
    const { request, isTaken } = claim;
    // A lock of anything else is no twin's: a request that failed with it is answered by 503.
    if (isTaken && isLockTimeout(error, 'idempotency_keys')) return keyInUse();
    const isOvertaken = isTaken && uniqueViolation(error) === 'idempotency_keys_pkey';
    const isRefused = !isTaken && error instanceof ApiError;
    const row = isTaken || isRefused ? await this.keys.find(request) : null;
    if (!row || !this.#isSame(row, request)) await claim.admission?.undo();
    // A twin was accepted meanwhile. This request is now a repetition, which is not refused.
    return isOvertaken || (isRefused && row) ? new KeyChanged() : error;
  }

  #isSame(row: IdempotencyRow, request: IdempotentRequest): boolean {
    return isForgotten(row) || this.keys.hasBodyOf(row, request);
  }
}

/** Key row of a request. The methods write in the caller's transaction. */
export class Claim {
  /** The count of a new request, by the fraud guard. */
  admission: Admission | null = null;
  #isTaken = false;

  constructor(
    readonly request: IdempotentRequest,
    private readonly keys: IdempotencyRepository,
    private readonly clock: Clock,
  ) {}

  /** Whether `take` was called. An error before it has refused the request. */
  get isTaken(): boolean {
    return this.#isTaken;
  }

  /** Keeps twins out of one group, where requests are written together. */
  get membership(): Membership {
    const { accountId, mode, key } = this.request;
    return { owner: accountId, conflictKey: `${accountId} ${mode} ${key}` };
  }

  /**
   * Takes the key together with the resource: both commit or neither. A crash at any point leaves nothing or one
   * resource. If another request was first with the key, the transaction fails.
   * @param answer null if an acquirer must be called first
   */
  take(tx: Tx, resourceId: string, answer: Answer | null): void {
    this.#isTaken = true;
    const now = this.clock.now().getTime();
    this.keys.insert(tx, this.request, {
      resourceId,
      responseStatus: answer?.status ?? null,
      responseBody: answer ? JSON.stringify(answer.body) : null,
      leasedUntil: new Date(now + LEASE_MS),
      expiresAt: this.request.permanent === true ? null : new Date(now + REPLAY_MS),
    });
  }

  /**
   * Locks the key row. The methods below need the lock: a worker that counts as dead must not answer, or free the key,
   * in place of its successor.
   * @throws KeyChanged if the key no longer waits for the answer about this resource
   */
  async hold(tx: Tx, resourceId: string): Promise<void> {
    if (!(await this.keys.hold(tx, this.request, resourceId))) throw new KeyChanged();
  }

  complete(tx: Tx, answer: Answer): void {
    this.keys.complete(tx, this.request, answer.status, JSON.stringify(answer.body));
  }

  /** Ends the lease when the outcome is unknown: the next repetition of the request may continue at once. */
  handOn(tx: Tx): void {
    this.keys.handOn(tx, this.request, this.clock.now());
  }

  /** Frees the key for a corrected request: a refusal is not stored. */
  release(tx: Tx, resourceId: string): void {
    this.keys.release(tx, this.request, resourceId);
  }
}

/** Returns whether the customer of a request was erased: then its fingerprint is empty. */
function isForgotten({ fingerprint }: Pick<IdempotencyRow, 'fingerprint'>): boolean {
  return fingerprint.length === 0;
}

export function keyReused(): ApiError {
  return new ApiError(
    409,
    'idempotency_error',
    'idempotency_key_reused',
    'This Idempotency-Key was used with another body; send a new key for a new request.',
  );
}

export function keyInUse(): ApiError {
  return new ApiError(
    409,
    'idempotency_error',
    'idempotency_key_in_use',
    'A request with this Idempotency-Key is still being processed; repeat it in a moment.',
    { headers: { 'Retry-After': '1' } },
  );
}
