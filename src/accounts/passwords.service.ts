import { availableParallelism } from 'node:os';
import { Inject, Injectable, Optional } from '@nestjs/common';
import argon2 from 'argon2';
import type { Violation } from '../core/errors/index.js';
import { serviceUnavailable } from '../core/errors/index.js';
import { addressBucket, networkOf } from '../core/rate-limit/index.js';
import { Turnstile } from '../core/turnstile.js';

/** Cost of one hash: memory in KiB, passes over it, and lanes. */
export interface PasswordCost {
  readonly memoryCost: number;
  readonly timeCost: number;
  readonly parallelism: number;
}

/** Injection token of a `PasswordCost` other than the default. */
export const PASSWORD_COST = Symbol('PasswordCost');

/** Cost by OWASP's Password Storage Cheat Sheet: 19 MiB, two passes, one lane, so a login takes one core. */
const DEFAULT_COST: PasswordCost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/**
 * At most half of the threads that Node.js has for files, DNS and hashes, and one less than the processors: a flood of
 * logins must not take the rest.
 */
const COMPARED_AT_ONCE = availableParallelism() > 2 ? 2 : 1;
/** New passwords hashed at once. Only callers with a token or a login get here, so strangers cannot use it up. */
const MADE_AT_ONCE = 1;
/**
 * Places for some seconds' wait. When all are taken, a newcomer gets the place of a caller whose network has most
 * waiting.
 */
const MAX_WAITING = 100;
/** Largest number of requests that wait for an earlier one from the same address. */
const MAX_CALLERS = 1_000;

const MIN_LENGTH = 10;
const MAX_LENGTH = 256;

/** Least length of a part of an e-mail or name to check: shorter parts are in many good passwords. */
const MIN_PERSONAL = 4;

/** Hashes of passwords (docs/contract.md#login): argon2id, computed off the event loop. */
@Injectable()
export class Passwords {
  readonly #addresses = new Turnstile(MAX_CALLERS, MAX_CALLERS, 1);
  readonly #comparing = new Turnstile(COMPARED_AT_ONCE, MAX_WAITING);
  /** Places for users who have logged in from the same device before. Strangers take none of these. */
  readonly #comparingKnown = new Turnstile(1, MAX_WAITING);
  readonly #making = new Turnstile(MADE_AT_ONCE, MAX_WAITING);
  readonly #cost: PasswordCost;
  /** Hash compared when a user has none, so that it takes the same time; no password matches it. */
  readonly #nobodys: string;

  constructor(@Optional() @Inject(PASSWORD_COST) cost: PasswordCost = DEFAULT_COST) {
    this.#cost = cost;
    this.#nobodys =
      `$argon2id$v=19$m=${cost.memoryCost},t=${cost.timeCost},p=${cost.parallelism}` +
      '$bm9ib2R5J3Mgc2FsdC4uLg$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA';
  }

  /** @throws ApiError 503 when too many wait already */
  hash(password: string): Promise<string> {
    return this.#making.pass(() => argon2.hash(password, { type: argon2.argon2id, ...this.#cost }), serviceUnavailable);
  }

  /**
   * @param hash null for a user that does not exist or has no password yet: takes as long as any other
   * @param from `stranger`: the address of the request. Networks take turns, and each address has one comparison at a
   *   time, so a flood from one network delays no other. `known`: the e-mail of a user who is logged in or has logged
   *   in from the same device before. Known users have turns of their own, by e-mail, however many devices each has.
   * @throws ApiError 503 when too many wait already
   */
  async verify(
    hash: string | null,
    password: string,
    from: { readonly stranger: string | null } | { readonly known: string },
  ): Promise<boolean> {
    const compare = (): Promise<boolean> => argon2.verify(hash ?? this.#nobodys, password);
    if ('known' in from) {
      return (await this.#comparingKnown.pass(compare, serviceUnavailable, from.known)) && hash !== null;
    }
    const address = from.stranger ?? '';
    const inTurn = (): Promise<boolean> => this.#comparing.pass(compare, serviceUnavailable, networkOf(address));
    const matches = await this.#addresses.pass(inTurn, serviceUnavailable, addressBucket(address));
    return matches && hash !== null;
  }

  /** Returns whether the hash was made at another cost than today's. */
  isOutdated(hash: string): boolean {
    return argon2.needsRehash(hash, this.#cost);
  }

  /**
   * @param person the owner of the password
   * @param param the field that contains it
   */
  async check(
    password: string,
    person: { email?: string; name?: string } = {},
    param = 'password',
  ): Promise<Violation[]> {
    const length = [...password].length;
    if (length < MIN_LENGTH) {
      return [{ param, code: 'too_short', message: `must have at least ${MIN_LENGTH} characters` }];
    }
    if (length > MAX_LENGTH) {
      return [{ param, code: 'too_long', message: `must have at most ${MAX_LENGTH} characters` }];
    }
    const text = password.normalize('NFKC').toLowerCase();
    // Loaded only when a password is chosen: a start and most processes never need the list.
    const { COMMON_PASSWORDS } = await import('./common-passwords.js');
    if (COMMON_PASSWORDS.has(text) || new Set(text).size < 3) {
      return [{ param, code: 'too_common', message: 'is one of the passwords that are tried first; choose another' }];
    }
    const { email = '', name = '' } = person;
    const own = [email, email.slice(0, email.lastIndexOf('@')), name].map((part) => part.trim().toLowerCase());
    if (own.some((part) => part.length >= MIN_PERSONAL && text.includes(part))) {
      return [{ param, code: 'personal', message: 'must not contain your e-mail or name' }];
    }
    return [];
  }
}
