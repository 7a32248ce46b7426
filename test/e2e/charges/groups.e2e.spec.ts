import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { expectLedgerCoherent } from '../../support/coherence.js';
import { balance } from '../../support/med.js';
import { type ChargeAnswer, type Merchant, TestService } from '../../support/service.js';

const CHARGES = 60;
const endToEndId = (): string => `E00000000202611211530${randomUUID().replaceAll('-', '').slice(0, 11)}`;

/** In groups of any size, and without groups. */
describe.each(['64', '2', '1'])('simultaneous work with DATABASE_GROUP=%s', (size) => {
  const service = TestService.forSpec({ env: { DATABASE_GROUP: size, RATE_LIMIT: 'off' } });
  let merchants: Merchant[];

  beforeAll(async () => {
    merchants = await Promise.all([
      service.merchant(),
      service.merchant({ fee_bps: '100' }),
      service.merchant({ release_days: '1' }),
    ]);
  });
  afterEach(() => expectLedgerCoherent(service.database.url));

  const merchantOf = (index: number): Merchant => {
    const merchant = merchants[index % merchants.length];
    if (!merchant) throw new Error('There are three merchants');
    return merchant;
  };
  /** @returns how many transactions of the database have written these rows */
  const commits = async (rows: string): Promise<number> => {
    const [row] = await service.sql<{ count: number }>(`SELECT count(DISTINCT xmin::text)::int AS count FROM ${rows}`);
    return row?.count ?? 0;
  };
  const expectCommits = (made: number, rows: number): void => {
    if (size === '1') expect(made).toBe(rows);
    else expect(made).toBeLessThan(rows);
  };

  async function create(count: number, withTwins = true): Promise<ChargeAnswer[]> {
    const asked = Array.from({ length: count }, (_, index) => {
      const key = `group-${randomUUID()}`;
      const { testKey } = merchantOf(index);
      const body = { amount: 1_000 + index, metadata: { order: `"${index}"\\` }, description: `Nº ${index}, {ação}` };
      const first = service.createCharge(testKey, body, key);
      return [first, withTwins ? service.createCharge(testKey, body, key) : first] as const;
    });
    return Promise.all(
      asked.map(async ([first, second]) => {
        const [one, twin] = [await first, await second];
        expect([one.status, twin.status, twin.body.id]).toEqual([201, 201, one.body.id]);
        return one.body;
      }),
    );
  }

  it('creates each charge once as requested, including repeated requests', async () => {
    // The first round has no twins: they would fail their group, and a busy machine may then run all of them alone.
    await create(CHARGES, false);
    expectCommits(await commits('transactions'), CHARGES);
    const charges = await create(CHARGES);
    expect(new Set(charges.map(({ id }) => id)).size).toBe(CHARGES);
    for (const [index, { id, amount }] of charges.entries()) {
      expect(amount).toBe(1_000 + index);
      const { body } = await service.getCharge(merchantOf(index).testKey, id);
      expect(body).toMatchObject({ amount, metadata: { order: `"${index}"\\` } });
    }
    expect(await service.sql('SELECT 1 FROM transactions')).toHaveLength(2 * CHARGES);
  });

  it('pays each charge once, with double, wrong and late notifications among them', async () => {
    const before = await Promise.all(merchants.map(({ testKey }) => balance(service, testKey)));
    const charges = await create(CHARGES);
    const net = [0, 0, 0];
    const told = charges.map(async ({ id, amount }, index) => {
      const { testKey } = merchantOf(index);
      const pay = (body: object): ReturnType<TestService['simulate']> =>
        service.simulate(testKey, id, { event: 'pay', end_to_end_id: endToEndId(), ...body });
      switch (index % 10) {
        case 7:
          return pay({ amount: amount + 1 });
        case 8: {
          // Two Pix of one charge: one pays it, the other goes back.
          const [one] = await Promise.all([pay({}), pay({})]);
          net[index % 3]! += amount;
          return one;
        }
        case 9:
          await service.simulate(testKey, id, { event: 'expire' });
          return pay({});
        default: {
          const reference = endToEndId();
          const [one] = await Promise.all([pay({ end_to_end_id: reference }), pay({ end_to_end_id: reference })]);
          net[index % 3]! += amount;
          return one;
        }
      }
    });
    for (const answer of await Promise.all(told)) expect(answer.status).toBe(200);
    const outcomes = await service.sql<{ outcome: string; reason: string | null; count: number }>(
      'SELECT outcome, reason, count(*)::int AS count FROM settlements GROUP BY 1, 2 ORDER BY 1, 2',
    );
    expect(outcomes).toEqual([
      { outcome: 'credited', reason: null, count: (CHARGES / 10) * 8 },
      { outcome: 'returned', reason: 'duplicate', count: CHARGES / 10 },
      { outcome: 'returned', reason: 'late', count: CHARGES / 10 },
      { outcome: 'returned', reason: 'wrong_amount', count: CHARGES / 10 },
    ]);
    for (const [index, { testKey }] of merchants.entries()) {
      const { available, pending } = await balance(service, testKey);
      const credited = await service.sql<{ net: number }>(
        `SELECT sum(net_amount)::int AS net FROM transactions WHERE account_id = $1 AND paid_at IS NOT NULL`,
        [merchants[index]?.accountId],
      );
      const gained = available + pending - (before[index]?.available ?? 0) - (before[index]?.pending ?? 0);
      expect(gained).toBe(credited[0]?.net);
      if (index !== 1) expect(gained).toBe(net[index]);
    }
    expectCommits(await commits(`settlements WHERE outcome = 'credited'`), (CHARGES / 10) * 8);
  });

  it('commits each payment once, together with its notification as applied', async () => {
    const charges = await create(5, false);
    const paid = charges.map(({ id }, index) => service.simulate(merchantOf(index).testKey, id, { event: 'pay' }));
    for (const { status } of await Promise.all(paid)) expect(status).toBe(200);
    const rows = await service.sql<{ together: boolean }>(
      `SELECT n.status = 'applied' AND n.xmin = s.xmin AS together FROM settlements s
       JOIN acquirer_notifications n ON strpos(n.reference, s.end_to_end_id) > 0
       ORDER BY s.id DESC LIMIT 5`,
    );
    expect(rows).toEqual(charges.map(() => ({ together: true })));
  });
});
