import { isIP } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Agent, type Dispatcher, request } from 'undici';
import type { Mode } from '../core/mode.js';
import { type AddressRules, allowsPrivate, checkUrl } from '../core/net/index.js';
import { failureText } from './failure-text.js';
import {
  AddressNotAllowedError,
  allowedAddresses,
  createResolver,
  guardedConnect,
  type ResolveHost,
} from './guarded-connect.js';
import { MAX_RESPONSE_BYTES, toStorableText } from './stored-text.js';

export interface WebhookAnswer {
  /** Null when no answer came; `error` then says why. */
  readonly statusCode: number | null;
  /** Null for a 2xx. */
  readonly error: string | null;
  readonly retryAfter: string | null;
  /** The start of the answer's body, fit for PostgreSQL; null when no answer came. */
  readonly responseBody: string | null;
  readonly durationMs: number;
}

/** Interim answers (1xx) before the answer. A receiver that sends them without end would keep this process busy. */
const MAX_INTERIM = 32;
/** How long a registration waits for name servers. */
const RESOLVE_MS = 1_000;

/** Where to: a delivery, or what an endpoint is tested with. */
export interface WebhookTarget {
  readonly url: string;
  readonly mode: Mode;
}

/**
 * The one way out to merchants: checked addresses, no redirects, limits on time and size. What the receiver does is an
 * answer, no error.
 */
@Injectable()
export class WebhookClient implements OnApplicationShutdown {
  /** One pool for each set of address rules: a connection is never used by a delivery under stricter ones. */
  readonly #agents: { readonly public: Agent; readonly private: Agent };
  readonly #resolvers: { readonly public: ResolveHost; readonly private: ResolveHost };
  readonly #limits: { connectMs: number; totalMs: number };
  #closed = false;

  /** @param resolve for tests: the names of the world outside */
  constructor(
    private readonly rules: AddressRules,
    resolve?: ResolveHost,
  ) {
    const { connectTimeoutMs, timeoutMs } = rules.webhooks;
    this.#limits = { connectMs: connectTimeoutMs, totalMs: timeoutMs };
    this.#resolvers = { public: resolve ?? createResolver(false), private: resolve ?? createResolver(true) };
    const agent = (mayBePrivate: boolean): Agent =>
      new Agent({
        connect: guardedConnect({
          mayBePrivate,
          timeoutMs: connectTimeoutMs,
          resolve: this.#resolvers[mayBePrivate ? 'private' : 'public'],
        }),
        // Shorter than what common servers keep idle connections for (2 s and more): a POST on a connection that the
        // receiver is just closing is lost and would cost the merchant a failed attempt.
        keepAliveTimeout: 1_500,
      });
    this.#agents = { public: agent(false), private: agent(true) };
  }

  /** Posts under way come to their end and are recorded; no new one starts. */
  onApplicationShutdown(): void {
    this.#closed = true;
    for (const agent of Object.values(this.#agents)) agent.close().catch(() => undefined);
  }

  /**
   * Whether somebody may register this URL: its text, and where its host leads today. A name that does not resolve yet,
   * or not at once, is taken: every connection is checked again.
   * @returns what the URL must be, for the caller to read; null when it may be registered
   */
  async checkTarget({ url, mode }: WebhookTarget): Promise<string | null> {
    const problem = checkUrl(url, mode, this.rules);
    const { hostname } = problem === null ? new URL(url) : { hostname: '' };
    if (problem !== null || isIP(hostname.replace(/^\[|\]$/g, '')) !== 0) return problem;
    const mayBePrivate = allowsPrivate(mode, this.rules);
    const resolve = this.#resolvers[mayBePrivate ? 'private' : 'public'];
    const found = allowedAddresses(hostname, { mayBePrivate, resolve }).then(
      () => null,
      (error: unknown) =>
        error instanceof AddressNotAllowedError ? `must not lead to a ${error.addressClass} address` : null,
    );
    return Promise.race([found, delay(RESOLVE_MS, null, { ref: false })]);
  }

  /** @throws Error only when this process is shutting down: that attempt says nothing about the receiver */
  async post({ url, mode }: WebhookTarget, headers: Record<string, string>, body: string): Promise<WebhookAnswer> {
    const started = performance.now();
    const problem = checkUrl(url, mode, this.rules);
    if (problem !== null) return noAnswer(`the URL ${problem}`, started);
    // One clock for connecting, headers and body; undici's own would start anew for each. Not AbortSignal.timeout,
    // whose timer outlives the post: at thousands of posts a second they would fill the memory.
    const end = new AbortController();
    const timer = setTimeout(() => end.abort(new DOMException('too slow', 'TimeoutError')), this.#limits.totalMs);
    let interim = 0;
    try {
      const response = await request(url, {
        method: 'POST',
        headers,
        body,
        dispatcher: allowsPrivate(mode, this.rules) ? this.#agents.private : this.#agents.public,
        signal: end.signal,
        onInfo: () => {
          if (++interim > MAX_INTERIM) end.abort(new TooManyInterimError('too many'));
        },
        headersTimeout: 0,
        bodyTimeout: 0,
      });
      const { statusCode } = response;
      const responseBody = toStorableText(await readStart(response.body));
      return {
        statusCode,
        error: statusText(statusCode),
        retryAfter: first(response.headers['retry-after']),
        responseBody,
        durationMs: since(started),
      };
    } catch (error) {
      if (this.#closed) throw error;
      return noAnswer(failureText(error, this.#limits), started);
    } finally {
      clearTimeout(timer);
    }
  }
}

class TooManyInterimError extends Error {
  readonly code = 'ERR_TOO_MANY_INTERIM';
}

function noAnswer(error: string, started: number): WebhookAnswer {
  return { statusCode: null, error, retryAfter: null, responseBody: null, durationMs: since(started) };
}

/**
 * The first bytes of a body. One that breaks off or never ends is no failure: the status has come, and a receiver that
 * answered 200 in time must not get the event again because of its body.
 */
async function readStart(body: Dispatcher.ResponseData['body']): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= MAX_RESPONSE_BYTES) break; // leaving the loop destroys the body and its connection
    }
  } catch {
    // what has come is kept
  }
  return Buffer.concat(chunks);
}

function statusText(statusCode: number): string | null {
  if (statusCode >= 200 && statusCode < 300) return null;
  if (statusCode >= 300 && statusCode < 400) return `HTTP ${statusCode}: redirects are not followed`;
  return `HTTP ${statusCode}`;
}

function first(header: string | string[] | undefined): string | null {
  return (Array.isArray(header) ? header[0] : header) ?? null;
}

function since(started: number): number {
  return Math.round(performance.now() - started);
}
