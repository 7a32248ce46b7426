import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Agent, type Dispatcher, request } from 'undici';
import { failureText } from './failure-text.js';
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

/** Milliseconds (decisions §4.5). */
const LIMITS = { connectMs: 5_000, totalMs: 15_000 };

/** The one way out to merchants: no redirects, limits on time and size. What the receiver does is an answer, no error. */
@Injectable()
export class WebhookClient implements OnApplicationShutdown {
  readonly #agent: Agent;
  readonly #limits: typeof LIMITS;
  #closed = false;

  constructor(limits: typeof LIMITS = LIMITS) {
    this.#limits = limits;
    this.#agent = new Agent({
      connect: { timeout: limits.connectMs },
      // Shorter than what common servers keep idle connections for (2 s and more): a POST on a connection that the
      // receiver is just closing is lost and would cost the merchant a failed attempt.
      keepAliveTimeout: 1_500,
    });
  }

  /** Posts under way come to their end and are recorded while the queue waits for its running jobs; no new one starts. */
  onApplicationShutdown(): void {
    this.#closed = true;
    this.#agent.close().catch(() => undefined);
  }

  /** @throws Error only when this process is shutting down: that attempt says nothing about the receiver */
  async post(url: string, headers: Record<string, string>, body: string): Promise<WebhookAnswer> {
    const started = performance.now();
    try {
      const response = await request(url, {
        method: 'POST',
        headers,
        body,
        dispatcher: this.#agent,
        // One clock for connecting, headers and body; undici's own would start anew for each.
        signal: AbortSignal.timeout(this.#limits.totalMs),
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
      return {
        statusCode: null,
        error: failureText(error, this.#limits),
        retryAfter: null,
        responseBody: null,
        durationMs: since(started),
      };
    }
  }
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
