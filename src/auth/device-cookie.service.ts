import { createHmac, randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { CookieOptions, Response } from 'express';
import { type Config, CONFIG } from '../core/config/index.js';
import { isSame } from '../core/crypto/index.js';
import { JWT_SECRET } from './login-throttle.service.js';
import { cookieNamed } from './session-cookie.service.js';

const NAME = 'recebe_device';
const SEEN_FOR_MS = 180 * 24 * 3_600_000;

/**
 * Shows that this e-mail has logged in from this browser before (OWASP, "Slow Down Online Guessing Attacks with Device
 * Cookies"). The cookie opens nothing: such a login only has places and limits of its own. Strangers who guess from
 * thousands of addresses cannot use these up.
 */
@Injectable()
export class DeviceCookie {
  readonly #options: CookieOptions;

  constructor(
    @Inject(CONFIG) config: Config,
    @Inject(JWT_SECRET) private readonly secret: string,
  ) {
    const secure = config.publicBaseUrl.startsWith('https:');
    this.#options = { httpOnly: true, sameSite: 'strict', secure, path: '/v1/auth/login', maxAge: SEEN_FOR_MS };
  }

  /**
   * @param header the header `Cookie`, unchanged
   * @param email normalised
   * @returns the device's id; null where this e-mail has not logged in from there
   */
  read(header: string | undefined, email: string): string | null {
    const [device = '', mark = ''] = (cookieNamed(header, NAME) ?? '').split('.', 2);
    return isSame(mark, this.#mark(device, email)) ? device : null;
  }

  /**
   * @param email normalised, of the user who has just logged in
   * @param known the device's id for this e-mail, if there is one: a repeated login adds no device
   */
  set(response: Response, email: string, known: string | null): void {
    const device = known ?? randomBytes(16).toString('base64url');
    response.cookie(NAME, `${device}.${this.#mark(device, email)}`, this.#options);
  }

  #mark(device: string, email: string): string {
    return createHmac('sha256', this.secret).update(`device:${device}:${email}`).digest('base64url');
  }
}
