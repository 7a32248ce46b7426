import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { type LoginUser, normalizeEmail, Passwords, SecondFactor, UsersService } from '../accounts/index.js';
import type { Origin } from '../audit/index.js';
import { Database } from '../core/database/index.js';
import { ApiError } from '../core/errors/index.js';
import { FIRST_ID } from '../core/ids.js';
import { LoginFailures } from './login-failures.service.js';
import { LoginThrottle } from './login-throttle.service.js';
import { type SessionKind, Sessions } from './sessions.service.js';

interface LoginInput {
  readonly email: string;
  readonly password: string;
  /** One-time or recovery code, of who has a second factor. */
  readonly code?: string;
  readonly session?: SessionKind;
  /** The device, if this e-mail has logged in from it before. */
  readonly device: string | null;
}

export interface Login {
  readonly token: string;
  readonly user: LoginUser;
}

/** An id that no user has: what is done for it takes as long as for one of them. */
const NOBODY = FIRST_ID;
/** How long the answer is delayed to a login that finds no place. */
const TURNED_AWAY_MS = 1_000;

@Injectable()
export class LoginService {
  constructor(
    private readonly database: Database,
    private readonly users: UsersService,
    private readonly passwords: Passwords,
    private readonly secondFactor: SecondFactor,
    private readonly throttle: LoginThrottle,
    private readonly sessions: Sessions,
    private readonly failures: LoginFailures,
  ) {}

  /**
   * A wrong password and an unknown e-mail take the same steps: one look-up, one hash, one recorded event. So the
   * time of the answer tells nothing.
   * @throws ApiError 401 `invalid_credentials`, `totp_required`, `totp_invalid`; 429 after too many tries for an e-mail
   *   from an address, or of codes
   */
  async login(input: LoginInput, origin: Origin, userAgent: string | undefined): Promise<Login> {
    const email = normalizeEmail(input.email);
    const isKnown = input.device !== null && (await this.throttle.takeKnown(email, input.device));
    if (!isKnown) await this.throttle.take(email, origin.ip ?? '');
    const attempt = await this.throttle.attempt(email, isKnown);
    const user = await this.users.findLogin(email);
    const matches = await this.passwords
      .verify(user?.passwordHash ?? null, input.password, isKnown ? { known: email } : { stranger: origin.ip })
      .catch(async (error: unknown) => {
        // The password was not compared, and a caller who repeats at once would keep others out.
        await attempt.forget();
        await delay(TURNED_AWAY_MS);
        throw error;
      });
    if (!user || !matches || !(user.operator || user.membership)) {
      await this.failures.record(email, user?.id ?? null, origin);
      if (attempt.isSlow) await this.failures.warn(user?.id ?? NOBODY, 'logins_failed');
      throw invalidCredentials();
    }
    await attempt.forget();
    if (user.totpConfirmedAt !== null) {
      if (input.code === undefined) {
        throw unauthenticated('totp_required', 'This login needs a one-time code too: send it as `code`.');
      }
      await this.throttle.takeCode(user.id).catch(async (error: unknown) => {
        await this.failures.warn(user.id, 'codes_failed');
        throw error;
      });
    }
    const token = await this.#open(user, input, origin, userAgent);
    if (token !== null) return { token, user };
    await this.failures.record(email, user.id, origin);
    throw unauthenticated('totp_invalid', 'The code is wrong, was used already, or its time is over.');
  }

  /** @returns null for a wrong code */
  async #open(
    user: LoginUser,
    input: LoginInput,
    origin: Origin,
    userAgent: string | undefined,
  ): Promise<string | null> {
    const { passwordHash } = user;
    const outdated = passwordHash !== null && this.passwords.isOutdated(passwordHash) ? passwordHash : null;
    const renewed = outdated === null ? null : await this.passwords.hash(input.password);
    const { accountId, role } = user.membership ?? { accountId: null, role: 'OPERATOR' as const };
    return this.database.transaction(async (tx) => {
      const now = await this.users.confirmLogin(tx, user);
      // Changed while the password was compared.
      if (!now) throw invalidCredentials();
      if (now.totpConfirmedAt !== null && !this.secondFactor.use(tx, now, input.code ?? '')) return null;
      if (outdated !== null && renewed !== null) this.users.rehash(tx, user.id, outdated, renewed);
      return this.sessions.open(tx, { userId: user.id, accountId, role }, origin, userAgent, input.session ?? 'token');
    });
  }
}

function invalidCredentials(): ApiError {
  return unauthenticated('invalid_credentials', 'The e-mail or the password is wrong.');
}

function unauthenticated(code: string, message: string): ApiError {
  return new ApiError(401, 'authentication_error', code, message);
}
