import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from '@jest/globals';
import pg from 'pg';
import { Agent, request } from 'undici';
import { expectLedgerCoherent } from './coherence.js';
import { waitFor } from './wait.js';

const CONNECTIONS = 40;
/** A request waits at most 10 s for a connection, and then for the answer of its statements. */
const ANSWER_MS = 30_000;
const LIMIT_MS = 60_000;

/** A charge that was confirmed to a merchant */
export interface Confirmed {
  readonly id: string;
  readonly amount: number;
  readonly endToEndId: string;
  isPaid: boolean;
}

/**
 * Merchants on forty connections, who each create a charge, have it paid, and start over. A refused request is
 * repeated under its key, at the next process.
 */
export class PaymentLoad {
  readonly confirmed: Confirmed[] = [];
  /** Answers that a merchant must never get, even from a service without its database. */
  readonly wrong: string[] = [];
  /** Requests that were answered 503. */
  refused = 0;
  #isOver = false;
  /** When a process has last confirmed a charge. */
  readonly #lastAt: number[];
  readonly #agent = new Agent({ connections: CONNECTIONS, headersTimeout: ANSWER_MS, bodyTimeout: ANSWER_MS });
  readonly #clients: Promise<void>[];

  constructor(
    private readonly urls: readonly string[],
    private readonly key: string,
  ) {
    this.#lastAt = urls.map(() => 0);
    this.#clients = Array.from({ length: CONNECTIONS }, (_, index) => this.#client(index));
  }

  /** All connections have confirmed some charges. @throws Error when that does not come about */
  async isAtWork(): Promise<void> {
    await waitFor(
      'all connections to be at work',
      () => this.wrong.length > 0 || this.confirmed.length > 3 * CONNECTIONS,
      LIMIT_MS,
    );
  }

  /** @returns whether each process has confirmed a charge after that time, or an answer was wrong */
  hasServedSince(at: number): boolean {
    return this.wrong.length > 0 || this.#lastAt.every((lastAt) => lastAt > at);
  }

  /** Every request that was begun is brought to its end first. @returns what was confirmed */
  async end(): Promise<Confirmed[]> {
    this.#isOver = true;
    await Promise.all(this.#clients);
    await this.#agent.close();
    return this.confirmed;
  }

  /** Nothing else than the right answer or a 503 was heard, each in time: a late one is an error of the agent. */
  expectRight(): void {
    expect(this.wrong).toEqual([]);
  }

  async #client(index: number): Promise<void> {
    for (let turn = index; !this.#isOver; turn++) {
      const amount = 1 + Math.floor(Math.random() * 1_000_000);
      const charge = await this.#insist<{ id: string }>(turn, 201, '/v1/charges', { amount, payment_method: 'pix' });
      if (!charge) return;
      const endToEndId = `E00000000202611211530${randomUUID().replaceAll('-', '').slice(0, 11)}`;
      const confirmed = { id: charge.id.slice('ch_'.length), amount, endToEndId, isPaid: false };
      this.confirmed.push(confirmed);
      const body = { event: 'pay', end_to_end_id: endToEndId };
      const path = `/v1/sandbox/charges/${charge.id}/simulate`;
      const paid = await this.#insist<{ charge: { status: string } }>(turn, 200, path, body);
      confirmed.isPaid = paid?.charge.status === 'paid';
    }
  }

  /** Repeats a request under its key until it is answered as it should be; null after an answer that must not be. */
  async #insist<T>(turn: number, status: number, path: string, body: object): Promise<T | null> {
    const key = randomUUID();
    for (let place = turn % this.urls.length; ; place = (place + 1) % this.urls.length) {
      try {
        const answer = await request(`${this.urls[place] ?? ''}${path}`, {
          method: 'POST',
          dispatcher: this.#agent,
          headers: { apikey: this.key, 'content-type': 'application/json', 'idempotency-key': key },
          body: JSON.stringify(body),
        });
        const text = await answer.body.text();
        if (answer.statusCode === status) {
          if (status === 201) this.#lastAt[place] = performance.now();
          return JSON.parse(text) as T;
        }
        const { error } = JSON.parse(text) as { error: { type: string; code: string } };
        const isAway = answer.statusCode === 503 && error.type === 'api_error' && error.code === 'service_unavailable';
        if (isAway) this.refused += 1;
        else if (error.code !== 'idempotency_key_in_use') {
          this.wrong.push(`${String(answer.statusCode)} ${text}`);
          return null;
        }
      } catch (error) {
        this.wrong.push(String(error));
        return null;
      }
      await delay(50);
    }
  }
}

/** Expects that every confirmed charge exists, and that every payment is credited exactly once. */
export async function expectKept(url: string, confirmed: readonly Confirmed[]): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await waitFor(
      'nothing to be pending',
      async () => {
        const { rows } = await client.query<{ pending: string }>(
          `SELECT (SELECT count(*) FROM events WHERE status = 'pending')
                + (SELECT count(*) FROM acquirer_notifications WHERE status = 'pending') AS pending`,
        );
        return rows[0]?.pending === '0';
      },
      LIMIT_MS,
    );
    const { rows } = await client.query<{ id: string; amount: string; status: string; settled: string[] }>(
      `SELECT t.id, t.amount, t.status, array_agg(s.end_to_end_id || ' ' || s.outcome) AS settled
       FROM transactions t LEFT JOIN settlements s ON s.transaction_id = t.id
       WHERE t.id = ANY ($1) GROUP BY t.id`,
      [confirmed.map(({ id }) => id)],
    );
    const kept = new Map(rows.map((row) => [row.id, row]));
    const wrong = confirmed.filter(({ id, amount, endToEndId }) => {
      const row = kept.get(id);
      const isKept = Number(row?.amount) === amount && row?.status === 'PAID';
      return !isKept || row.settled.join() !== `${endToEndId} credited`;
    });
    expect(wrong.map((one) => ({ ...one, kept: kept.get(one.id) }))).toEqual([]);
    expect(confirmed.filter(({ isPaid }) => isPaid).length).toBeGreaterThan(0);
  } finally {
    await client.end();
  }
  await expectLedgerCoherent(url);
}
