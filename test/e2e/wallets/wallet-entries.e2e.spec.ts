import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { LedgerChainService } from '../../../src/wallets/index.js';
import type { WalletEntryBody, WalletEntryListBody } from '../../../src/wallets/dto/wallet-entry.body.js';
import type { BalanceAtBody } from '../../../src/wallets/dto/wallet.body.js';
import { runCli } from '../../support/cli.js';
import { expectLedgerCoherent } from '../../support/coherence.js';
import { TEST_ENCRYPTION_KEY } from '../../support/process.js';
import { aPaidCharge, type ErrorAnswer, paymentIdOf, refundEnd, requestRefund } from '../../support/refunds.js';
import { type ChargeAnswer, type Merchant, TestService } from '../../support/service.js';
import { waitFor } from '../../support/wait.js';

const SECONDS_A_DAY = 86_400;

describe('the statement of a wallet', () => {
  const service = TestService.forSpec();
  let merchant: Merchant;
  let other: Merchant;
  let sale: ChargeAnswer;
  let disputed: ChargeAnswer;
  let refundId: string;
  let caseId: string;

  const list = (key: string, query = ''): Promise<{ status: number; body: WalletEntryListBody }> =>
    service.call<WalletEntryListBody>('GET', `/v1/wallets/entries${query}`, { key });
  const entries = async (key: string, query = ''): Promise<WalletEntryBody[]> => (await list(key, query)).body.data;
  const balance = async (key: string, query: string): Promise<BalanceAtBody> =>
    (await service.call<BalanceAtBody>('GET', `/v1/wallets/balance?${query}`, { key })).body;
  const told = (all: readonly WalletEntryBody[]): unknown[] =>
    all.map(({ type, bucket, amount, balance }) => [type, bucket, amount, balance]);

  beforeAll(async () => {
    merchant = await service.merchant({ fee_bps: '100' });
    other = await service.merchant({ release_days: '1' });
    const key = merchant.testKey;

    sale = await aPaidCharge(service, key, 1000);
    const { body: refund } = await requestRefund(service, key, paymentIdOf(sale), { amount: 300 });
    await refundEnd(service, key, refund);
    refundId = refund.id;
    await service.simulate(key, sale.id, { event: 'refund_fail' });
    const { body: failing } = await requestRefund(service, key, paymentIdOf(sale), { amount: 200 });
    await refundEnd(service, key, failing);

    disputed = await aPaidCharge(service, key, 500);
    await service.simulate(key, disputed.id, { event: 'med_open' });
    caseId = await waitFor('the case', async () => {
      const [row] = await service.sql<{ id: string }>('SELECT id FROM med_cases WHERE visible');
      return row?.id;
    });
    await service.simulate(key, disputed.id, { event: 'med_rule', result: 'agreed' });
    await waitFor('the loss', async () => (await entries(key, '?type=med_loss')).length === 1);

    await aPaidCharge(service, other.testKey, 700);
    service.clock.advance(2 * SECONDS_A_DAY);
    await waitFor('the release', async () => (await entries(other.testKey, '?type=release')).length === 2);
  });
  afterEach(() => expectLedgerCoherent(service.database.url));

  it('lists what will be released, day by day', async () => {
    const { testKey } = await service.merchant({ release_days: '2' });
    const planned = async (query = '', key = testKey): Promise<Record<string, unknown>[]> =>
      (await service.call<{ data: Record<string, unknown>[] }>('GET', `/v1/wallets/releases${query}`, { key })).body
        .data;
    expect(await planned()).toEqual([]);
    for (const amount of [100, 250]) await aPaidCharge(service, testKey, amount);
    service.clock.advance(SECONDS_A_DAY);
    await aPaidCharge(service, testKey, 900);
    const [first, second, ...more] = await planned();
    expect([first, second].map((one) => [one?.['currency'], one?.['amount'], one?.['count']])).toEqual([
      ['BRL', 350, 2],
      ['BRL', 900, 1],
    ]);
    expect(more).toEqual([]);
    expect(Date.parse(String(second?.['release_at'])) - Date.parse(String(first?.['release_at']))).toBe(86_400_000);
    expect(String(first?.['date'])).toBe(String(first?.['release_at']).slice(0, 10));
    expect(await planned('?currency=USD')).toEqual([]);
    expect(await planned('', merchant.liveKey)).toEqual([]);
    service.clock.advance(SECONDS_A_DAY);
    await waitFor('the first release', async () => (await planned()).length === 1);
  });

  it('has each movement with the balance after it, newest first', async () => {
    const { status, body } = await list(merchant.testKey);
    expect(status).toBe(200);
    expect(body).toMatchObject({ object: 'list', has_more: false, next_cursor: null });
    expect(told(body.data)).toEqual([
      ['med_loss', 'retained', -500, 0],
      ['med_hold', 'retained', 500, 500],
      ['med_hold', 'available', -500, 685],
      ['sale', 'available', 495, 1185],
      ['refund_failed', 'available', 200, 690],
      ['refund', 'available', -200, 490],
      ['refund', 'available', -300, 690],
      ['sale', 'available', 990, 990],
    ]);
    expect(body.data.at(-1)).toStrictEqual({
      id: expect.stringMatching(/^we_[0-9a-f-]{36}_2$/),
      object: 'wallet_entry',
      type: 'sale',
      bucket: 'available',
      amount: 990,
      balance: 990,
      currency: 'BRL',
      source: { object: 'payment', id: `tx_${paymentIdOf(sale)}` },
      payment_id: `tx_${paymentIdOf(sale)}`,
      description: 'Payment received, less its fees',
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    });
  });

  it('shows pending money and its release', async () => {
    expect(told(await entries(other.testKey))).toEqual([
      ['release', 'available', 700, 700],
      ['release', 'pending', -700, 0],
      ['sale', 'pending', 700, 700],
    ]);
  });

  it('shows a reserve with its sale, day and release, even at a past instant', async () => {
    const terms = { fee_bps: '100', release_days: '1', reserve_bps: '1000', reserve_days: '3' };
    const { testKey } = await service.merchant(terms);
    const reserved = await aPaidCharge(service, testKey, 1000);
    const planned = async (): Promise<Record<string, unknown>[]> =>
      (await service.call<{ data: Record<string, unknown>[] }>('GET', '/v1/wallets/releases', { key: testKey })).body
        .data;
    expect(await planned()).toMatchObject([
      { amount: 890, reserve: 0, count: 1 },
      { amount: 100, reserve: 100, count: 1 },
    ]);
    const released = [
      ['release', 'available', 890, 890],
      ['release', 'pending', -890, 100],
      ['sale', 'pending', 990, 990],
    ];
    service.clock.advance(SECONDS_A_DAY);
    await waitFor('the release of the rest', async () => (await planned()).length === 1);
    expect(told(await entries(testKey, `?source=${reserved.id}`))).toEqual(released);
    const before = service.clock.now();
    service.clock.advance(2 * SECONDS_A_DAY);
    await waitFor('the release of the reserve', async () => (await planned()).length === 0);
    const ofSale = await entries(testKey, `?source=${reserved.id}`);
    expect(told(ofSale)).toEqual([['release', 'available', 100, 990], ['release', 'pending', -100, 0], ...released]);
    for (const { source } of ofSale) expect(source).toEqual({ object: 'payment', id: `tx_${paymentIdOf(reserved)}` });
    expect(await entries(testKey, '?type=release')).toEqual(ofSale.slice(0, 4));
    expect(await balance(testKey, `at=${before.toISOString()}`)).toMatchObject({ available: 890, pending: 100 });
    expect(await balance(testKey, `at=${service.clock.now().toISOString()}`)).toMatchObject({
      available: 990,
      pending: 0,
    });
  });

  it('links each line to its cause, and each cause to its lines', async () => {
    const of = async (source: string): Promise<unknown[]> => told(await entries(merchant.testKey, `?source=${source}`));
    const ofSale = [
      ['refund_failed', 'available', 200, 690],
      ['refund', 'available', -200, 490],
      ['refund', 'available', -300, 690],
      ['sale', 'available', 990, 990],
    ];
    for (const id of [sale.id, paymentIdOf(sale), `tx_${paymentIdOf(sale)}`]) expect(await of(id)).toEqual(ofSale);
    expect(await of(refundId)).toEqual([['refund', 'available', -300, 690]]);
    expect(await of(`med_${caseId}`)).toEqual([
      ['med_loss', 'retained', -500, 0],
      ['med_hold', 'retained', 500, 500],
      ['med_hold', 'available', -500, 685],
    ]);
    const sources = (await entries(merchant.testKey)).map(({ source }) => source);
    expect(sources).toContainEqual({ object: 'refund', id: refundId });
    expect(sources).toContainEqual({ object: 'med_case', id: `med_${caseId}` });
  });

  it('names the loss of a card payment a chargeback', async () => {
    const card = await service.merchant();
    const { body: payment } = await service.call<{ id: string }>('POST', '/v1/payments', {
      key: card.testKey,
      body: { amount: 900, currency: 'EUR', paymentMethods: ['CREDIT_CARD'], idempotencyKey: 'card-of-the-statement' },
    });
    for (const body of [{ event: 'pay' }, { event: 'chargeback' }, { event: 'med_rule', result: 'agreed' }]) {
      const path = `/v1/sandbox/payments/${payment.id}/simulate`;
      expect((await service.call('POST', path, { key: card.testKey, body })).status).toBe(200);
    }
    await waitFor('the loss', async () => (await entries(card.testKey, '?type=chargeback')).length === 1);
    expect(told(await entries(card.testKey, '?bucket=retained&currency=EUR'))).toEqual([
      ['chargeback', 'retained', -900, 0],
      ['med_hold', 'retained', 900, 900],
    ]);
  });

  it('goes page by page', async () => {
    const whole = await entries(merchant.testKey);
    const seen: WalletEntryBody[] = [];
    let query = '?limit=3';
    for (;;) {
      const { body } = await list(merchant.testKey, query);
      seen.push(...body.data);
      expect(body.has_more).toBe(body.next_cursor !== null);
      if (body.next_cursor === null) break;
      expect(body.data).toHaveLength(3);
      query = `?limit=3&starting_after=${body.next_cursor}`;
    }
    expect(seen).toEqual(whole);
  });

  it('shows the account and mode of the key only', async () => {
    expect(await entries(merchant.liveKey)).toEqual([]);
    const foreign = await service.merchant();
    expect(await entries(foreign.testKey)).toEqual([]);
    const [newest] = await entries(merchant.testKey);
    for (const key of [merchant.liveKey, foreign.testKey]) {
      const { status, body } = await list(key, `?starting_after=${newest?.id ?? ''}`);
      expect([status, (body as unknown as ErrorAnswer).error.param]).toEqual([400, 'starting_after']);
      expect(await entries(key, `?source=${sale.id}`)).toEqual([]);
      expect(await balance(key, 'currency=BRL&at=2030-01-01')).toMatchObject({ available: 0, retained: 0 });
    }
  });

  it.each([
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['bucket=reserved', 'bucket'],
    ['bucket=available&bucket=pending', 'bucket'],
    ['type=theft', 'type'],
    ['currency=brl', 'currency'],
    ['created_after=2026-02-30', 'created_after'],
    ['created_before=now', 'created_before'],
    ['created_after=2026-11-22&created_before=2026-11-21', 'created_before'],
    ['source=x', 'source'],
    ['source=we_019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12_1', 'source'],
    ['starting_after=x', 'starting_after'],
    ['starting_after=we_019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12_1', 'starting_after'],
    ['order=asc', 'order'],
  ])('refuses the query ?%s', async (query, param) => {
    const { status, body } = await service.call<ErrorAnswer>('GET', `/v1/wallets/entries?${query}`, {
      key: merchant.testKey,
    });
    expect([status, body.error.code, body.error.param ?? body.error.details?.[0]?.param]).toEqual([
      400,
      'invalid_request',
      param,
    ]);
  });

  it('agrees with the balance at any instant', async () => {
    const key = merchant.testKey;
    const whole = await entries(key);
    for (const [index, entry] of whole.entries()) {
      // The last of several lines at one instant counts.
      if (whole[index - 1]?.created_at === entry.created_at) continue;
      const then = await balance(key, `currency=BRL&at=${entry.created_at}`);
      expect(then[entry.bucket]).toBe(entry.balance);
      const before = new Date(Date.parse(entry.created_at) - 1).toISOString();
      const opening = await balance(key, `currency=BRL&at=${before}`);
      const moved = whole.filter(
        ({ created_at, bucket }) => created_at === entry.created_at && bucket === entry.bucket,
      );
      expect(opening[entry.bucket] + moved.reduce((sum, { amount }) => sum + amount, 0)).toBe(entry.balance);
    }
    expect(await balance(key, 'at=2020-01-01')).toStrictEqual({
      at: '2020-01-02T02:59:59.999Z',
      currency: 'BRL',
      available: 0,
      pending: 0,
      total: 0,
      retained: 0,
      balances: [{ currency: 'BRL', available: 0, pending: 0, total: 0, retained: 0 }],
    });
    const now = await balance(key, `currency=BRL&at=${service.clock.now().toISOString()}`);
    expect(now).toMatchObject({ currency: 'BRL', available: 685, pending: 0, total: 685, retained: 0 });
    expect(now).not.toHaveProperty('balances');
    const { body: present } = await service.call('GET', '/v1/wallets/balance', { key });
    expect(Object.keys(present as object).sort()).toEqual(
      [
        'available',
        'pending',
        'total',
        'retained',
        'currency',
        'next_release_at',
        'next_release_amount',
        'balances',
        'primary',
      ].sort(),
    );
    for (const at of ['yesterday', '2026-02-30', '2026-11-21T12:00:00']) {
      expect((await service.call('GET', `/v1/wallets/balance?at=${at}`, { key })).status).toBe(400);
    }
  });

  it('is protected by a chain that the command line verifies: one changed byte is located', async () => {
    const verify = async (...args: string[]): Promise<{ code: number; result: Record<string, unknown> }> => {
      const ended = await runCli(['ledger', 'verify', ...args], {
        DATABASE_URL: service.database.url,
        ENCRYPTION_KEY: TEST_ENCRYPTION_KEY,
      });
      return { code: ended.code, result: JSON.parse(ended.stdout) as Record<string, unknown> };
    };
    while (await service.get(LedgerChainService).link());
    const { code, result } = await verify();
    expect([code, result]).toEqual([
      0,
      {
        ...{ intact: true, stalled: false, wallets: expect.any(Number), entries: expect.any(Number) },
        ...{ not_yet_linked: 0, broken: [] },
      },
    ]);
    const { accountId } = merchant;
    const own = await verify('--account', accountId);
    expect(own.result).toMatchObject({ wallets: 1, entries: 8, heads: [{ mode: 'test', currency: 'BRL', number: 8 }] });

    const client = await service.database.pool.connect();
    const change = (from: number, to: number): Promise<unknown> =>
      client.query(`UPDATE journal_lines SET amount = $3 WHERE account_id = $1 AND number = 1 AND amount = $2`, [
        ...[accountId, from, to],
      ]);
    try {
      await client.query('SET session_replication_role = replica');
      await change(990, 991);
      const found = await verify();
      expect(found.code).toBe(1);
      expect(found.result).toMatchObject({
        intact: false,
        broken: [
          {
            ...{ account_id: accountId, mode: 'test', currency: 'BRL', number: 1, what: 'changed' },
            cause: `charge.paid:${paymentIdOf(sale)}`,
          },
        ],
      });
      const checked = await runCli(['ledger', 'check'], {
        DATABASE_URL: service.database.url,
        ENCRYPTION_KEY: TEST_ENCRYPTION_KEY,
      });
      expect([checked.code, JSON.parse(checked.stdout)]).toMatchObject([
        1,
        {
          coherent: false,
          broken: expect.arrayContaining([
            { promise: 'the lines of every entry sum to zero', rows: [{ id: expect.any(String) }] },
          ]),
        },
      ]);
      await change(991, 990);
    } finally {
      await client.query('RESET session_replication_role');
      client.release();
    }
    expect((await verify()).code).toBe(0);
  });
});
