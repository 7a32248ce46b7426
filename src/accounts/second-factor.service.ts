import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Secret, TOTP } from 'otpauth';
import { type Actor } from '../audit/index.js';
import { drawQr } from '../brazil/index.js';
import { Clock } from '../core/clock.js';
import { SecretBox } from '../core/crypto/index.js';
import { Database, type Tx } from '../core/database/index.js';
import { type ApiError, badRequest, business, notFound } from '../core/errors/index.js';
import type { UserEntity } from './user.entity.js';
import { normalizeEmail } from './email-address.js';
import { PersonMails } from './person-mails.service.js';
import { type SecondFactorState, UsersRepository } from './users.repository.js';
import { tokenHashOf, UsersService } from './users.service.js';

const STEP_MS = 30_000;
const RECOVERY_CODES = 10;
const NONE: SecondFactorState = {
  totpSecretSealed: null,
  totpConfirmedAt: null,
  totpStep: null,
  recoveryCodeHashes: [],
};

/** One-time codes (TOTP, RFC 6238), and ten recovery codes for a user who has lost the device. */
@Injectable()
export class SecondFactor {
  constructor(
    private readonly database: Database,
    private readonly users: UsersRepository,
    private readonly people: UsersService,
    private readonly secrets: SecretBox,
    private readonly mails: PersonMails,
    private readonly clock: Clock,
  ) {}

  /**
   * Makes a secret, which counts once it is confirmed by a code; a repetition makes another one.
   * @returns the secret in base32, the same as a URI, and that as a QR code (PNG, `data:` URL)
   * @throws ApiError 422 `totp_already_set`
   */
  async begin(userId: string): Promise<{ secret: string; uri: string; qr: string }> {
    return this.database.transaction(async (tx) => {
      const user = await this.#lockWithout(tx, userId);
      const totp = totpOf(user.email, new Secret({ size: 20 }));
      const { base32 } = totp.secret;
      const totpSecretSealed = this.secrets.seal(base32, contextOf(userId));
      this.users.setSecondFactor(tx, userId, { ...NONE, totpSecretSealed });
      const uri = totp.toString();
      return { secret: base32, uri, qr: `data:image/png;base64,${drawQr(uri).toString('base64')}` };
    });
  }

  /**
   * From now on a login needs a code, and the logins before it end.
   * @param sessionId the one that stays
   * @returns the recovery codes, which are nowhere else
   * @throws ApiError 400 for a wrong code; 422 `totp_already_set`, `totp_not_begun`
   */
  async confirm(userId: string, sessionId: string, code: string, actor: Actor): Promise<string[]> {
    return this.database.transaction(async (tx) => {
      const user = await this.#lockWithout(tx, userId);
      if (user.totpSecretSealed === null) {
        throw business('totp_not_begun', 'There is no secret to confirm: begin with POST /v1/auth/totp.');
      }
      const totpStep = this.#stepOf(user, code);
      if (totpStep === null) throw wrongCode();
      const codes = Array.from({ length: RECOVERY_CODES }, newRecoveryCode);
      this.users.setSecondFactor(tx, userId, {
        totpSecretSealed: user.totpSecretSealed,
        totpConfirmedAt: this.clock.now(),
        totpStep,
        recoveryCodeHashes: codes.map((each) => recoveryHash(userId, each)),
      });
      this.people.endSessions(tx, userId, sessionId);
      this.mails.news(tx, user.email, 'totp_set');
      await this.people.recordFor(tx, user, 'user.totp_set', actor);
      return codes;
    });
  }

  /** The password was compared before. @throws ApiError 400 for a wrong code; 404 when there is none */
  async remove(userId: string, code: string, actor: Actor): Promise<void> {
    await this.database.transaction(async (tx) => {
      const user = await this.users.lock(tx, userId);
      if (!user || user.totpConfirmedAt === null) throw notFound('second factor');
      if (!this.use(tx, user, code)) throw wrongCode();
      this.users.setSecondFactor(tx, userId, NONE);
      this.mails.news(tx, user.email, 'totp_removed');
      await this.people.recordFor(tx, user, 'user.totp_removed', actor);
    });
  }

  /** Lets a user log in by the password alone again who has lost device and recovery codes. @throws ApiError 404 */
  async reset(email: string, actor: Actor): Promise<{ userId: string }> {
    return this.database.transaction(async (tx) => {
      const user = await this.users.lockByEmail(tx, normalizeEmail(email));
      if (!user || user.totpConfirmedAt === null) throw notFound('user with a second factor');
      this.users.setSecondFactor(tx, user.id, NONE);
      this.people.endSessions(tx, user.id, null);
      this.mails.news(tx, user.email, 'totp_removed');
      await this.people.recordFor(tx, user, 'user.totp_reset', actor);
      return { userId: user.id };
    });
  }

  /**
   * Takes a one-time code or a recovery code, each once.
   * @param user as locked by `tx`
   * @returns whether it was right
   */
  use(tx: Tx, user: UserEntity, code: string): boolean {
    const totpStep = this.#stepOf(user, code);
    const hash = recoveryHash(user.id, code);
    const left = user.recoveryCodeHashes.filter((each) => !each.equals(hash));
    if (totpStep === null && left.length === user.recoveryCodeHashes.length) return false;
    this.users.setSecondFactor(tx, user.id, { ...user, totpStep: totpStep ?? user.totpStep, recoveryCodeHashes: left });
    return true;
  }

  /**
   * Asks a person for a code again before a decision about money. People without a second factor pass.
   * @returns false for people without a second factor
   * @throws ApiError 400 for a missing or wrong code
   */
  async prove(tx: Tx, userId: string, code: string | null): Promise<boolean> {
    const user = await this.users.lock(tx, userId);
    if (!user) throw notFound('user');
    if (user.totpConfirmedAt === null) return false;
    if (code === null)
      throw badRequest('second_factor_required', 'Send the one-time code of your second factor.', 'code');
    if (!this.use(tx, user, code)) throw wrongCode();
    return true;
  }

  async #lockWithout(tx: Tx, userId: string): Promise<UserEntity> {
    const user = await this.users.lock(tx, userId);
    if (!user) throw notFound('user');
    if (user.totpConfirmedAt !== null) {
      throw business('totp_already_set', 'A second factor is set: remove it first, with DELETE /v1/auth/totp.');
    }
    return user;
  }

  /** @returns the step of a code of now, one before or one after, which is later than the last one taken; or null */
  #stepOf({ id, email, totpSecretSealed, totpStep }: UserEntity, code: string): number | null {
    const token = code.replaceAll(/\s/g, '');
    if (totpSecretSealed === null || !/^\d{6}$/.test(token)) return null;
    const secret = Secret.fromBase32(this.secrets.open(totpSecretSealed, contextOf(id)));
    const timestamp = this.clock.now().getTime();
    const delta = totpOf(email, secret).validate({ token, timestamp, window: 1 });
    if (delta === null) return null;
    const step = Math.floor(timestamp / STEP_MS) + delta;
    return totpStep !== null && step <= totpStep ? null : step;
  }
}

function totpOf(email: string, secret: Secret): TOTP {
  return new TOTP({ issuer: 'Recebe', label: email, secret, algorithm: 'SHA1', digits: 6, period: STEP_MS / 1000 });
}

function contextOf(userId: string): string {
  return `totp:${userId}`;
}

/** 80 random bits in base32: a hash of it is not undone by trying. */
function newRecoveryCode(): string {
  const { base32 } = new Secret({ buffer: Uint8Array.from(randomBytes(10)).buffer });
  return (base32.toLowerCase().match(/.{4}/g) ?? []).join('-');
}

function recoveryHash(userId: string, code: string): Buffer {
  return tokenHashOf(`${userId} ${code.toLowerCase().replaceAll(/[\s-]/g, '')}`);
}

function wrongCode(): ApiError {
  return badRequest('invalid_request', 'This code is wrong, was used already, or its time is over.', 'code');
}
