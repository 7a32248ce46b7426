import { setTimeout as delay } from 'node:timers/promises';
import { Agent, request } from 'undici';
import type { Cleanup } from '../harness/cleanup.js';

const ANSWER_LIMIT_MS = 150_000;
/** After this time the merchant sends the request again, while the first may still be under way. */
const PATIENCE_MS = 10_000;
const PAUSE_MS = 200;
const NOT_YET_PAUSE_MS = 500;

export interface Post {
  readonly path: string;
  readonly apiKey: string;
  /** The body as JSON text. */
  readonly body: string;
  readonly idempotencyKey?: string;
  /** Error codes that mean "not yet". */
  readonly notYet?: readonly string[];
}

/** Any answer except success and "not yet". */
export class Refused extends Error {}

/** Merchants that repeat a request, with the same key, until it is answered. */
export class InsistentClient {
  readonly #agent: Agent;
  #repetitions = 0;
  #isClosed = false;

  constructor(
    private readonly serviceUrl: string,
    connections: number,
    cleanup: Cleanup,
  ) {
    this.#agent = new Agent({ connections });
    cleanup.add(() => {
      this.#isClosed = true;
      return this.#agent.destroy();
    });
  }

  /** Number of requests that were repeated because no answer came. */
  get repetitions(): number {
    return this.#repetitions;
  }

  /** @returns the answer's body @throws Refused */
  async post({ path, apiKey, body, idempotencyKey, notYet = [] }: Post): Promise<unknown> {
    const deadline = performance.now() + ANSWER_LIMIT_MS;
    let pauseMs: number;
    for (let last = ''; ; await delay(pauseMs)) {
      if (this.#isClosed || performance.now() > deadline) throw new Error(`POST ${path} was not answered: ${last}`);
      pauseMs = PAUSE_MS;
      try {
        const response = await request(`${this.serviceUrl}${path}`, {
          method: 'POST',
          dispatcher: this.#agent,
          headersTimeout: PATIENCE_MS,
          headers: {
            apikey: apiKey,
            'content-type': 'application/json',
            ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
          },
          body,
        });
        const text = await response.body.text();
        if (response.statusCode === 200 || response.statusCode === 201) return JSON.parse(text);
        last = `${String(response.statusCode)} ${text}`;
        const isRefused = (...codes: readonly string[]): boolean => codes.some((code) => text.includes(`"${code}"`));
        if (isRefused(...notYet)) pauseMs = NOT_YET_PAUSE_MS;
        else if (response.statusCode >= 500 || isRefused('idempotency_key_in_use')) this.#repetitions += 1;
        else throw new Refused(`POST ${path} was refused: ${last}`);
      } catch (error) {
        if (error instanceof Refused) throw error;
        last = String(error);
        this.#repetitions += 1;
      }
    }
  }
}
