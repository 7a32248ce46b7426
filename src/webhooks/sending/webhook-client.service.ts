import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Agent, type Dispatcher } from 'undici';
import type { Mode } from '../../core/mode.js';
import { type AddressRules, allowsPrivate, boundAnswers, checkUrl, isStaleConnection } from '../../core/net/index.js';
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
  /** The start of the answer's body, valid for PostgreSQL; null when no answer came. */
  readonly responseBody: string | null;
  readonly durationMs: number;
}

/** Most bytes read from the socket for one attempt: far above the headers and the part of the body that are read. */
const MAX_SOCKET_BYTES = 128 * 1024;
/** How long a registration waits for name servers. */
const RESOLVE_MS = 1_000;

/** Most remembered URLs, each with its check result and target. */
const MAX_KNOWN_URLS = 1_000;

type ReceiverAnswer = Omit<WebhookAnswer, 'durationMs'>;

/** Target of a post: a delivery, or an endpoint that is tested. */
export interface WebhookTarget {
  readonly url: string;
  readonly mode: Mode;
}

/**
 * The only way out to merchants: checked addresses, no redirects, limits on time and size. A receiver's failure is
 * returned as an answer, not thrown.
 */
@Injectable()
export class WebhookClient implements OnApplicationShutdown {
  /** Separate pools for each set of address rules: a delivery under stricter rules never reuses a connection. */
  readonly #agents: { readonly public: Agents; readonly private: Agents };
  readonly #resolvers: { readonly public: ResolveHost; readonly private: ResolveHost };
  readonly #limits: { connectMs: number; totalMs: number };
  readonly #targets = new Map<string, Target | string>();
  #closed = false;

  /** @param resolve for tests: replaces look-ups of real names */
  constructor(
    private readonly rules: AddressRules,
    resolve?: ResolveHost,
  ) {
    const { connectTimeoutMs, timeoutMs } = rules.webhooks;
    this.#limits = { connectMs: connectTimeoutMs, totalMs: timeoutMs };
    this.#resolvers = { public: resolve ?? createResolver(false), private: resolve ?? createResolver(true) };
    const agents = (mayBePrivate: boolean): Agents => {
      const resolve = this.#resolvers[mayBePrivate ? 'private' : 'public'];
      const guarded = guardedConnect({ mayBePrivate, timeoutMs: connectTimeoutMs, resolve });
      const connect = boundAnswers(guarded, MAX_SOCKET_BYTES);
      // Shorter than the idle timeout of common servers (2 s and more).
      return { kept: new Agent({ connect, keepAliveTimeout: 1_500 }), fresh: new Agent({ connect, pipelining: 0 }) };
    };
    this.#agents = { public: agents(false), private: agents(true) };
  }

  /** Posts under way complete and are recorded; no new post starts. */
  onApplicationShutdown(): void {
    this.#closed = true;
    for (const agent of Object.values(this.#agents).flatMap(({ kept, fresh }) => [kept, fresh])) {
      agent.close().catch(() => undefined);
    }
  }

  /**
   * Whether a merchant may register this URL: checks its text and the current addresses of its host. A name that does
   * not resolve yet, or not quickly, is accepted: every connection is checked again.
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
    const target = this.#target(url, mode);
    if (typeof target === 'string') return noAnswer(`the URL ${target}`, started);
    const { kept, fresh } = allowsPrivate(mode, this.rules) ? this.#agents.private : this.#agents.public;
    const request: Dispatcher.DispatchOptions = {
      ...{ ...target, method: 'POST', headers, body },
      ...{ headersTimeout: 0, bodyTimeout: 0 },
    };
    const { totalMs } = this.#limits;
    let outcome = await exchange(kept, request, totalMs);
    // The receiver had closed this idle connection, as servers do: the same attempt uses a new one.
    if (isStaleConnection(outcome)) outcome = await exchange(fresh, request, totalMs - since(started));
    if (!(outcome instanceof Error)) return { ...outcome, durationMs: since(started) };
    if (this.#closed) throw outcome;
    return noAnswer(failureText(outcome, this.#limits), started);
  }

  /**
   * Caches the result: rules do not change while this process runs, and the same few URLs repeat.
   * @returns what the URL must be, when it may not be posted to
   */
  #target(url: string, mode: Mode): Target | string {
    const key = `${mode} ${url}`;
    let target = this.#targets.get(key);
    if (target === undefined) {
      target = checkUrl(url, mode, this.rules) ?? targetOf(new URL(url));
      if (this.#targets.size >= MAX_KNOWN_URLS) this.#targets.clear();
      this.#targets.set(key, target);
    }
    return target;
  }
}

interface Agents {
  /** Keeps its connections for later deliveries. */
  readonly kept: Agent;
  /** Opens a connection for each post. */
  readonly fresh: Agent;
}

interface Target {
  readonly origin: string;
  readonly path: string;
}

function targetOf({ origin, pathname, search }: URL): Target {
  return { origin, path: `${pathname}${search}` };
}

/** @returns the answer, or why there is none. @throws Error when the agent is closed */
function exchange(agent: Agent, request: Dispatcher.DispatchOptions, limitMs: number): Promise<ReceiverAnswer | Error> {
  return new Promise((resolve) => agent.dispatch(request, new Exchange(limitMs, resolve)));
}

/**
 * A single post, from its dispatch until its answer. Uses undici's lowest level: at thousands of posts a second, the
 * streams and signals of `request` cost more than the posts.
 */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #chunks: Buffer[] = [];
  /** A shared timer for connecting, headers and body; undici's own timers would restart for each. */
  readonly #timer: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | null = null;
  #stopped: Error | null = null;
  #statusCode: number | null = null;
  #retryAfter: string | null = null;
  #size = 0;
  #done = false;

  constructor(
    limitMs: number,
    private readonly resolve: (outcome: ReceiverAnswer | Error) => void,
  ) {
    this.#timer = setTimeout(() => this.#stop(new DOMException('too slow', 'TimeoutError')), limitMs);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // The time-out passed while the post waited for a connection.
    if (this.#stopped) controller.abort(this.#stopped);
  }

  onResponseStart(_controller: unknown, statusCode: number, headers: IncomingHttpHeaders): void {
    this.#statusCode = statusCode;
    this.#retryAfter = first(headers['retry-after']);
  }

  onResponseData(_controller: unknown, chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    if (this.#size >= MAX_RESPONSE_BYTES) this.#stop(new Error('this much of the answer is enough'));
  }

  onResponseEnd(): void {
    this.#end(null);
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.#end(error);
  }

  /** Closes the connection too, since nothing more is read. */
  #stop(reason: Error): void {
    this.#stopped = reason;
    this.#end(reason);
    this.#controller?.abort(reason);
  }

  /**
   * If a body breaks off or never ends, the attempt still has its status. A receiver that answered 200 in time must not
   * get the event again because of its body.
   */
  #end(reason: Error | null): void {
    if (this.#done) return;
    this.#done = true;
    clearTimeout(this.#timer);
    if (this.#statusCode === null) {
      this.resolve(reason ?? new Error('an answer without a status'));
      return;
    }
    this.resolve({
      statusCode: this.#statusCode,
      error: statusText(this.#statusCode),
      retryAfter: this.#retryAfter,
      responseBody: toStorableText(Buffer.concat(this.#chunks)),
    });
  }
}

function noAnswer(error: string, started: number): WebhookAnswer {
  return { statusCode: null, error, retryAfter: null, responseBody: null, durationMs: since(started) };
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
