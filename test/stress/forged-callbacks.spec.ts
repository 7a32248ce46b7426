import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Random } from '../../tools/harness/random.js';
import { DEFAULT_MERCHANT } from '../../tools/psp-simulator/simulator.js';
import { callbackUrl } from '../../src/acquirers/index.js';
import { newEndToEndId, newTxid } from '../../src/brazil/index.js';
import { SecretBox } from '../../src/core/crypto/index.js';
import { goLive } from '../support/live-acquirer.js';
import { LiveStory } from '../support/live-story.js';
import { TestService } from '../support/service.js';

jest.setTimeout(300_000);

const ROUNDS = 3;
/** Bodies that are forged in a round, one after the other. */
const BODIES = 20;
const EVERY_MS = 300;
/** Fake Pix of a body: about 100 KB. */
const ENTRIES = 1_000;
/** The least of so many: a busy machine disturbs one side or the other. */
const TRIES = 3;
const LIMIT_MS = 60_000;

describe('60 bodies of forged callbacks at the address of one account', () => {
  const service = TestService.forSpec({ env: { RATE_LIMIT: 'on' } });
  const story = LiveStory.forSpec(service);
  const random = Random.seeded();
  let path: string;
  let acquirer: string;

  beforeAll(async () => {
    const pixKey = crypto.randomUUID();
    story.bank.addMerchant({ ...DEFAULT_MERCHANT, clientId: 'neighbour', pixKeys: [pixKey] });
    const { accountId } = await service.merchant();
    const made = await goLive(service, story.bank, accountId, { pixKey, clientId: 'neighbour' });
    acquirer = made.acquirer;
    path = new URL(callbackUrl(service.url, service.get(SecretBox), made.id)).pathname;
  });
  afterEach(() => story.expectSameBooks());

  const forgedBody = (): object => ({
    pix: Array.from({ length: ENTRIES }, () => ({
      endToEndId: newEndToEndId('12345678', service.clock.now()),
      txid: newTxid(),
      valor: '10.00',
    })),
  });

  /** Times from the bank to the credit, in milliseconds, of Pix that are paid one after another while a round lasts. */
  async function timesOfPix(): Promise<number[]> {
    const times: number[] = [];
    const until = performance.now() + BODIES * EVERY_MS;
    while (performance.now() < until) {
      const charge = await story.charge();
      const began = performance.now();
      story.pay(charge);
      for (let isPaid = false; !isPaid;) {
        await delay(2);
        const wanted = `SELECT 1 FROM transactions WHERE id = $1 AND status = 'PAID'`;
        isPaid = (await service.sql(wanted, [charge.id.slice(3)])).length === 1;
        if (performance.now() - began > LIMIT_MS) throw new Error('A Pix was not credited');
      }
      times.push(performance.now() - began);
    }
    return times;
  }

  /** Posts bodies as long as a round lasts. */
  async function forge(): Promise<void> {
    const began = performance.now();
    for (let body = 0; body < BODIES; body++) {
      const { status } = await service.call('POST', path, { body: forgedBody() });
      expect(status).toBe(200);
      await delay(Math.max(0, began + (body + 1) * EVERY_MS - performance.now()));
    }
  }

  const p95 = (times: number[]): number =>
    times.sort((one, other) => one - other)[Math.floor(times.length * 0.95)] ?? 0;

  it('leaves the p95 from bank to credit of another account at most twice as long', async () => {
    const ratios: number[] = [];
    for (let attempt = 0; attempt < TRIES && !ratios.some((ratio) => ratio <= 2); attempt++) {
      const [alone, beside]: [number[], number[]] = [[], []];
      for (let round = 0; round < ROUNDS; round++) {
        const sides = [
          async () => void alone.push(...(await timesOfPix())),
          async () => {
            const [times] = await Promise.all([timesOfPix(), forge()]);
            beside.push(...times);
          },
        ];
        for (const side of random.next() < 0.5 ? sides : sides.reverse()) await side();
      }
      const [one, two] = [p95(alone), p95(beside)];
      ratios.push(two / one);
      process.stderr.write(
        `seed ${String(random.seed)}: p95 alone ${one.toFixed(1)} ms, beside ${two.toFixed(1)} ms\n`,
      );
    }
    const [rows] = await service.sql<{ count: number }>(
      'SELECT count(*)::int AS count FROM acquirer_notifications WHERE acquirer = $1',
      [acquirer],
    );
    expect(rows?.count).toBeGreaterThanOrEqual(2_000);
    expect(rows?.count).toBeLessThanOrEqual(5_000);
    expect(Math.min(...ratios)).toBeLessThanOrEqual(2);
  });
});
