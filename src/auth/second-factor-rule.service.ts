import { Inject, Injectable } from '@nestjs/common';
import { type Config, CONFIG } from '../core/config/index.js';
import { forbidden } from '../core/errors/index.js';
import type { UserPrincipal } from './principal.js';

/**
 * In production operators need a second factor, and members who issue or end live keys, write in live mode, or say who
 * is a member and where the account's mail goes.
 */
@Injectable()
export class SecondFactorRule {
  constructor(@Inject(CONFIG) private readonly config: Config) {}

  /** Whether nothing but setting a second factor is open to them. */
  keepsOut(user: UserPrincipal): boolean {
    return user.kind === 'operator' && this.#isMissing(user);
  }

  /** @throws ApiError 403 `totp_setup_required` */
  check(user: UserPrincipal): void {
    if (!this.#isMissing(user)) return;
    throw forbidden(
      'This needs a second factor: set one with POST /v1/auth/totp and POST /v1/auth/totp/confirm.',
      'totp_setup_required',
    );
  }

  #isMissing(user: UserPrincipal): boolean {
    return this.config.production && !user.hasSecondFactor;
  }
}
