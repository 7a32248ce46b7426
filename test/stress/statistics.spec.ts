import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { StatisticsService } from '../../src/transactions/index.js';
import { expectLedgerCoherent } from '../support/coherence.js';
import { NaiveFigures } from '../support/figures.js';
import { openRefunds, requestRefund } from '../support/refunds.js';
import { trial } from '../support/scale.js';
import { type Merchant, TestService } from '../support/service.js';
import { waitFor } from '../support/wait.js';
import { Random } from '../../tools/harness/random.js';

jest.setTimeout(600_000);

const STEPS = trial(400, 160);
const COMPARE_EVERY = 20;

/** Payments that offer two methods and use one. */
const OFFERS = [
  { currency: 'BRL', paymentMethods: ['PIX', 'BOLETO'] },
  { currency: 'EUR', paymentMethods: ['MBWAY', 'MULTIBANCO'] },
  { currency: 'USD', paymentMethods: ['CREDIT_CARD', 'CRYPTO'] },
];

/** Events that payers, their banks and the issuers of cards cause on a payment */
const DISPUTES = [
  ...['chargeback', 'dispute', 'fraud', 'processing', 'med_open', 'med_open', 'med_withdraw'].map((event) => ({
    event,
  })),
  { event: 'med_open', amount: 1 },
  { event: 'med_rule', result: 'agreed' },
  { event: 'med_rule', result: 'disagreed' },
  { event: 'med_rule', result: 'disagreed' },
];

/** Payments made, paid, refunded, disputed, cancelled and left to expire over weeks, at any time of the day. */
class History {
  readonly #open: { id: string; key: string; methods: readonly string[] }[] = [];
  readonly #paid: { id: string; key: string }[] = [];

  constructor(
    private readonly service: TestService,
    private readonly random: Random,
    private readonly merchants: readonly Merchant[],
  ) {}

  async step(): Promise<void> {
    const { key } = this.#pick(this.merchants.map(({ testKey }) => ({ key: testKey })));
    switch (this.random.between(0, 12)) {
      case 0:
        return this.#pass(this.random.between(0, 3) === 0 ? 2 * 86_400 : 7_200);
      case 1:
        return this.#toMidnight();
      case 2:
      case 3:
      case 4:
      case 5:
        return this.#create(key);
      case 6:
      case 7:
      case 8:
        return this.#pay();
      case 9:
        return this.#end();
      case 10:
      case 11:
        return this.#refund();
      default:
        return this.#dispute();
    }
  }

  #pick<T>(values: readonly T[]): T {
    const value = values[this.random.between(0, values.length - 1)];
    if (value === undefined) throw new Error('Nothing to pick from');
    return value;
  }

  #pass(most: number): void {
    this.service.clock.advance(this.random.between(1, most));
  }

  /** A few seconds before or after the day changes in São Paulo, at 03:00 UTC. */
  #toMidnight(): void {
    const now = this.service.clock.now().getTime() / 1000;
    const midnight = Math.ceil((now - 3 * 3_600) / 86_400) * 86_400 + 3 * 3_600;
    this.service.clock.advance(midnight - now + this.random.between(-3, 3));
  }

  async #create(key: string): Promise<void> {
    const offer = this.#pick(OFFERS);
    const { status, body } = await this.service.call<{ id: string }>('POST', '/v1/payments', {
      key,
      body: {
        ...offer,
        amount: this.random.between(1, 50_000),
        metadata: { phone: '+351912345678' },
        idempotencyKey: randomUUID(),
      },
    });
    expect(status).toBe(201);
    this.#open.push({ id: body.id, key, methods: offer.paymentMethods });
  }

  /** Picks one of the newest payments, since most can still be paid; now and then with another merchant's key. */
  #recent<T extends { key: string }>(made: readonly T[]): T {
    const one = this.#pick(made.slice(-8));
    return this.random.between(0, 9) === 0 ? { ...one, key: this.#pick(this.merchants).testKey } : one;
  }

  async #pay(): Promise<void> {
    if (this.#open.length === 0) return;
    const { id, key, methods } = this.#recent(this.#open);
    await this.#simulate(key, id, { event: 'pay', method: this.#pick(methods) });
    this.#paid.push({ id, key });
  }

  async #end(): Promise<void> {
    if (this.#open.length === 0) return;
    const { id, key } = this.#recent(this.#open);
    if (this.random.between(0, 1) === 0) await this.#simulate(key, id, { event: this.#pick(['fail', 'expire']) });
    else await this.service.call('POST', `/v1/payments/${id}/cancel`, { key });
  }

  async #refund(): Promise<void> {
    if (this.#paid.length === 0) return;
    const { id, key } = this.#recent(this.#paid);
    if (this.random.between(0, 4) === 0) await this.#simulate(key, id, { event: 'refund_fail' });
    await requestRefund(
      this.service,
      key,
      id,
      this.random.between(0, 1) === 0 ? {} : { amount: this.random.between(1, 5_000) },
    );
  }

  async #dispute(): Promise<void> {
    if (this.#paid.length === 0) return;
    const { id, key } = this.#recent(this.#paid);
    await this.#simulate(key, id, this.#pick(DISPUTES));
  }

  async #simulate(key: string, id: string, body: Record<string, unknown>): Promise<void> {
    const { status } = await this.service.call('POST', `/v1/sandbox/payments/${id}/simulate`, { key, body });
    expect([200, 400, 404]).toContain(status);
  }
}

describe('the figures of a random history', () => {
  const random = Random.seeded();
  let service: TestService;
  let other: TestService;
  let merchants: Merchant[];

  beforeAll(async () => {
    service = await TestService.start();
    // A second worker on the same database, at the same time.
    other = await TestService.start({ database: service.database, overrides: { clock: service.clock } });
    merchants = [await service.merchant(), await service.merchant()];
  });
  afterAll(async () => {
    await other.stop();
    await service.stop();
  });

  /** Workers change things meanwhile: what the slow way gives before and after the call is the same in a quiet moment. */
  async function expectExact(
    path: string,
    naive: () => Promise<Record<string, unknown>>,
    key: string,
  ): Promise<Record<string, unknown>> {
    return waitFor(`a quiet moment for ${path}`, async () => {
      const before = await naive();
      const { status, body } = await service.call('GET', path, { key });
      expect(status).toBe(200);
      if (JSON.stringify(before) !== JSON.stringify(await naive())) return null;
      const { timeToPay: _, ...exact } = body;
      expect(exact).toEqual(before);
      return body;
    });
  }

  /** Counts the different final states: a history without events would prove nothing. */
  async function statuses(): Promise<number> {
    return (await service.sql('SELECT DISTINCT status FROM transactions')).length;
  }

  async function compare(): Promise<void> {
    for (const { accountId, testKey } of merchants) {
      const scope = { accountId, mode: 'test' } as const;
      for (const days of [1, 7, 30]) {
        await expectExact(
          `/v1/payments/stats?days=${days}`,
          async () => (await NaiveFigures.of(service, scope, days)).stats(),
          testKey,
        );
        const currency =
          random.between(0, 1) === 0 ? null : (['BRL', 'EUR', 'USD', 'USDT'][random.between(0, 3)] ?? null);
        const path = `/v1/payments/metrics?days=${days}${currency === null ? '' : `&currency=${currency}`}`;
        const body = await expectExact(
          path,
          async () => (await NaiveFigures.of(service, scope, days, currency)).metrics(),
          testKey,
        );
        const naive = await NaiveFigures.of(service, scope, days, currency);
        const given = body['timeToPay'] as Record<'p50Seconds' | 'p90Seconds', number | null>;
        for (const [seconds, exact] of [
          [given.p50Seconds, naive.timeToPay(0.5)],
          [given.p90Seconds, naive.timeToPay(0.9)],
        ] as const) {
          if (exact === null) expect(seconds).toBeNull();
          else expect(Math.abs((seconds ?? Number.NaN) - exact)).toBeLessThanOrEqual(exact <= 20 ? 0 : exact / 10);
        }
      }
    }
  }

  it(`are exact at any time, with two workers folding them (seed ${random.seed})`, async () => {
    const history = new History(service, random, merchants);
    for (let step = 1; step <= STEPS; step++) {
      await history.step();
      if (step % COMPARE_EVERY === 0) await compare();
    }
    await waitFor(
      'all refunds to end',
      async () => {
        service.clock.advance(30);
        return (await openRefunds(service)) === 0;
      },
      60_000,
    );
    await compare();
    while (await service.get(StatisticsService).fold());
    await compare();
    expect(await service.get(StatisticsService).check(null)).toEqual([]);
    expect(await statuses()).toBeGreaterThanOrEqual(trial(5, 3));
    await expectLedgerCoherent(service.database.url);
  });
});
