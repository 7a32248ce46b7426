import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Clock } from '../clock.js';
import { Database, isLockTimeout, type Membership, type Tx, uniqueViolation } from '../database/index.js';
import { ApiError } from '../errors/index.js';
import { IdempotencyRepository, type IdempotentRequest, REPLAY_MS } from './idempotency.repository.js';

export interface Answer<T = unknown> {
  readonly status: number;
  readonly body: T;
}

export interface IdempotentAnswer<T> extends Answer<T> {
  readonly replayed: boolean;
}

/** The key row of the request under way. Its methods write in the caller's transaction. */
export interface Claim<T> {
  /** Keeps twins out of one group, where requests are written together. */
  readonly membership: Membership;
  /** Whether `take` was called: what fails before it has refused the request. */
  readonly isTaken: boolean;
  /**
   * Takes the key together with the business row: both commit or neither, so a crash at any point leaves either
   * nothing or one resource. A twin that was first fails the transaction; `run` then replays or waits.
   * @param answer null when the outcome needs an acquirer first
   */
  take(tx: Tx, resourceId: string, answer: Answer<T> | null): void;
  /**
   * Locks the key row if it still waits for the answer about this resource. Everything below needs it: a worker that
   * was taken for dead must not answer, or free the key, in place of its successor.
   */
  hold(tx: Tx, resourceId: string): Promise<boolean>;
  complete(tx: Tx, answer: Answer<T>): void;
  /** The outcome is not known: the next repetition of the request may go on at once. */
  handOn(tx: Tx): void;
  /** Frees the key for a corrected request: a refusal is not stored. */
  release(tx: Tx, resourceId: string): void;
}

/**
 * Makes what is asked for, or goes on with it. Null when the key is no longer this request's to answer: what it has
 * become is looked up again.
 * @param resourceId null for a new request, which must call `claim.take` in the transaction that inserts the resource;
 *   otherwise the resource whose maker has no answer or, of a permanent key, whose answer is older than a day
 */
export type Make<T> = (claim: Claim<T>, resourceId: string | null) => Promise<Answer<T> | null>;

/** A request that was let in; twins of one key and body share one. */
export interface Admission {
  /** Takes back what was counted for it: it came to nothing, or repeats one that is over. Never rejects. */
  undo(): Promise<void>;
}

/** A twin waits this long (docs/contract.md#idempotency); the connection's lock_timeout is the same. */
const WAIT_MS = 10_000;
/** A worker that has not answered after this long is taken for dead. Longer than any acquirer call. */
const LEASE_MS = 40_000;

/** A request that is made twice has one effect and one answer, even when both come at once or the first one crashed. */
@Injectable()
export class IdempotencyService {
  constructor(
    private readonly database: Database,
    private readonly keys: IdempotencyRepository,
    private readonly clock: Clock,
  ) {}

  /**
   * @param admit fails with the ApiError that refuses a new request. Under its key nothing is then stored, as when `make`
   *   fails before it has taken the key. A repetition of a request that was let in is not refused, whatever has changed
   *   since.
   * @throws ApiError 409 `idempotency_key_reused` (another body under the key), `idempotency_key_in_use` (a twin is
   *   still at work after 10 s)
   */
  async run<T>(
    request: IdempotentRequest,
    admit: () => Promise<Admission>,
    make: Make<T>,
  ): Promise<IdempotentAnswer<T>> {
    const started = performance.now();
    while (performance.now() - started < WAIT_MS) {
      const claim = this.#claim<T>(request);
      let admitted: Admission | undefined;
      try {
        admitted = await admit();
        const answer = await make(claim, null);
        if (answer) return { ...answer, replayed: false };
      } catch (error) {
        // A lock of anything else is no twin's: what failed with it answers 503.
        if (claim.isTaken && isLockTimeout(error, 'idempotency_keys')) break;
        const isRepetition = claim.isTaken
          ? uniqueViolation(error) === 'idempotency_keys_pkey'
          : error instanceof ApiError && (await this.keys.find(request)) !== null;
        if (!isRepetition) {
          await admitted?.undo();
          throw error;
        }
      }
      const answer = await this.#prior(request, claim, make, started, admitted);
      if (answer) return answer;
    }
    throw new ApiError(
      409,
      'idempotency_error',
      'idempotency_key_in_use',
      'A request with this Idempotency-Key is still being processed; repeat it in a moment.',
      { headers: { 'Retry-After': '1' } },
    );
  }

  /** What the earlier request with this key came to; null when the key is free again. */
  async #prior<T>(
    request: IdempotentRequest,
    claim: Claim<T>,
    make: Make<T>,
    started: number,
    admission: Admission | undefined,
  ): Promise<IdempotentAnswer<T> | null> {
    while (performance.now() - started < WAIT_MS) {
      const now = this.clock.now();
      const row = await this.keys.find(request);
      if (!row) return null;
      if (row.expiresAt !== null && row.expiresAt.getTime() <= now.getTime()) {
        await this.database.transaction(async (tx) => this.keys.deleteExpired(tx, request, now));
        return null;
      }
      // A permanent key is answered in the commit that takes it: its first lease is its only one.
      const takenAt = row.expiresAt ? row.expiresAt.getTime() - REPLAY_MS : row.leasedUntil.getTime() - LEASE_MS;
      const isTwin = takenAt > now.getTime() - WAIT_MS;
      // An empty one is of a request that was forgotten with its customer.
      const isForgotten = row.fingerprint.length === 0;
      const isSame = isForgotten || row.fingerprint.equals(request.fingerprint);
      // A twin's admission stands for what the twin makes.
      if (!isTwin || !isSame) await admission?.undo();
      if (!isSame) throw keyReused();
      // Of a forgotten one the answer is made anew: whoever makes it sees whether the request may be the same.
      const isKept = request.permanent !== true || !isForgotten;
      if (row.responseStatus !== null && row.responseBody !== null && isKept) {
        return { status: row.responseStatus, body: JSON.parse(row.responseBody) as T, replayed: true };
      }
      if (row.responseStatus !== null) {
        const answer = await make(claim, row.resourceId);
        return answer && { ...answer, replayed: true };
      }
      if (row.leasedUntil.getTime() <= now.getTime()) {
        const leasedUntil = new Date(now.getTime() + LEASE_MS);
        const ours = await this.database.transaction((tx) => this.keys.takeOver(tx, request, now, leasedUntil));
        if (ours) {
          const answer = await make(claim, row.resourceId);
          if (answer) return { ...answer, replayed: true };
          continue;
        }
      }
      await delay(50);
    }
    return null;
  }

  #claim<T>(request: IdempotentRequest): Claim<T> {
    let isTaken = false;
    return {
      get isTaken() {
        return isTaken;
      },
      membership: { owner: request.accountId, about: `${request.accountId} ${request.mode} ${request.key}` },
      take: (tx, resourceId, answer) => {
        isTaken = true;
        const now = this.clock.now().getTime();
        this.keys.insert(tx, request, {
          resourceId,
          responseStatus: answer?.status ?? null,
          responseBody: answer ? JSON.stringify(answer.body) : null,
          leasedUntil: new Date(now + LEASE_MS),
          expiresAt: request.permanent === true ? null : new Date(now + REPLAY_MS),
        });
      },
      complete: (tx, answer) => this.keys.complete(tx, request, answer.status, JSON.stringify(answer.body)),
      handOn: (tx) => this.keys.handOn(tx, request, this.clock.now()),
      hold: (tx, resourceId) => this.keys.hold(tx, request, resourceId),
      release: (tx, resourceId) => this.keys.release(tx, request, resourceId),
    };
  }
}

export function keyReused(): ApiError {
  return new ApiError(
    409,
    'idempotency_error',
    'idempotency_key_reused',
    'This Idempotency-Key was used with another body; send a new key for a new request.',
  );
}
