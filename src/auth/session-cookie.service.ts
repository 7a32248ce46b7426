import { Inject, Injectable } from '@nestjs/common';
import type { CookieOptions, Request, Response } from 'express';
import { type Config, CONFIG } from '../core/config/index.js';
import { forbidden } from '../core/errors/index.js';
import { isOwnPage } from '../core/http/index.js';
import { SESSION_SECONDS } from './sessions.service.js';

/** A header that our pages send with every write, and that a form on another site's page cannot send. */
const OWN_PAGE = 'x-requested-with';

/** @param header the header `Cookie`, unchanged @returns null without such a cookie */
export function cookieNamed(header: string | undefined, name: string): string | null {
  for (const pair of (header ?? '').split(';')) {
    const [key, value] = pair.trim().split('=', 2);
    if (key === name && value !== undefined && value !== '') return value;
  }
  return null;
}

/** The login of a browser: no script can read it, and no other site's page can send it. */
@Injectable()
export class SessionCookie {
  readonly #name: string;
  readonly #options: CookieOptions;
  readonly #origin: string;

  constructor(@Inject(CONFIG) config: Config) {
    this.#origin = new URL(config.publicBaseUrl).origin;
    const secure = config.publicBaseUrl.startsWith('https:');
    // A browser accepts a name with this prefix only from this host over TLS.
    this.#name = secure ? '__Host-recebe_session' : 'recebe_session';
    this.#options = { httpOnly: true, sameSite: 'strict', secure, path: '/' };
  }

  /** @param header unchanged @returns null without a cookie */
  read(header: string | undefined): string | null {
    return cookieNamed(header, this.#name);
  }

  set(response: Response, token: string): void {
    response.cookie(this.#name, token, { ...this.#options, maxAge: SESSION_SECONDS * 1000 });
  }

  clear(response: Response): void {
    response.clearCookie(this.#name, this.#options);
  }

  /** @throws ApiError 403 `foreign_page` for a write that a page of ours has not sent */
  assertOwnPage({ headers }: Pick<Request, 'headers'>): void {
    if (headers[OWN_PAGE] === 'dashboard' && isOwnPage(headers, this.#origin)) return;
    throw forbidden(
      'A write with the cookie of a login comes from a page of this service, with the header X-Requested-With: dashboard.',
      'foreign_page',
    );
  }
}
