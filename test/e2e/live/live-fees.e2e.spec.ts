import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { saoPauloDay } from '../../../src/brazil/index.js';
import type { ReportBody } from '../../../src/reports/dto/report.body.js';
import { DAY_MS } from '../../../src/core/clock.js';
import { type Ended, runCli } from '../../support/cli.js';
import { reach } from '../../support/evidence.js';
import { LiveStory } from '../../support/live-story.js';
import { paymentIdOf, refundEnd, requestRefund } from '../../support/refunds.js';
import { type ChargeAnswer, type Person, TestService } from '../../support/service.js';
import { waitFor } from '../../support/wait.js';

const ENCRYPTION_KEY = '6e'.repeat(32);
const PAYER = '12345678909';
/** Fees of a sale of R$ 50,00: the PSP's 1 % and 10 cents, the service's 2 %. */
const [AMOUNT, PIX_FEE, PLATFORM_FEE, RETURN_FEE] = [5_000, 60, 100, 7];

type Books = Record<'available' | 'platform_fees' | 'provider_fees' | 'suspense', number>;

interface FeesAnswer {
  operations: { operation: string; count: number; amount: number; fee: number }[];
  corrections: { count: number; amount: number };
  here: number;
  difference: number;
}

describe('fees of a PSP', () => {
  const service = TestService.forSpec({ env: { ENCRYPTION_KEY } });
  const story = LiveStory.forSpec(service, { payer_lock: 'true', fee_bps: '200', fee_fixed: '0' });
  let operator: Person;

  const run = (...args: string[]): Promise<Ended> =>
    runCli(args, { DATABASE_URL: service.database.url, ENCRYPTION_KEY });
  const setFee = (operation: string, from: string, ...more: string[]): Promise<Ended> => {
    const about = ['--account', story.merchant.accountId, '--operation', operation, '--from', from];
    return run('acquirer', 'fees', 'set', ...about, ...more);
  };
  const day = (days = 0): string => saoPauloDay(new Date(service.clock.now().getTime() + days * DAY_MS));

  beforeAll(async () => {
    operator = await service.operator();
    const price = ['--bps', '100', '--fixed', '10', '--minimum', '25', '--maximum', '300'];
    expect(await setFee('PIX', day(), ...price)).toMatchObject({ code: 0, stderr: '' });
    expect(await setFee('devolution', day(), '--fixed', String(RETURN_FEE))).toMatchObject({ code: 0, stderr: '' });
    // A client made earlier has no schedule: it reloads after ten seconds.
    service.clock.advance(11);
  });
  afterEach(() => story.expectSameBooks());

  async function books(): Promise<Books> {
    const rows = await service.sql<{ bucket: string; amount: string }>(
      `SELECT bucket, amount FROM balances WHERE account_id = $1 AND mode = 'live'`,
      [story.merchant.accountId],
    );
    const of = (bucket: string): number => Number(rows.find((row) => row.bucket === bucket)?.amount ?? 0);
    return {
      ...{ available: of('available'), suspense: of('suspense') },
      ...{ platform_fees: of('platform_fees'), provider_fees: of('provider_fees') },
    };
  }

  /** Waits until the books have moved by the expected amounts. */
  async function moved(before: Books, expected: Partial<Books>): Promise<void> {
    const wanted = { available: 0, platform_fees: 0, provider_fees: 0, suspense: 0, ...expected };
    let difference = {};
    await waitFor(`the books to have moved by ${JSON.stringify(wanted)}`, async () => {
      const now = await books();
      difference = Object.fromEntries(
        Object.keys(wanted).map((key) => [key, now[key as keyof Books] - before[key as keyof Books]]),
      );
      return JSON.stringify(Object.entries(difference).sort()) === JSON.stringify(Object.entries(wanted).sort());
    }).catch(() => undefined);
    expect(difference).toEqual(wanted);
  }

  const act = async (path: string, body: Record<string, unknown> = {}): Promise<void> => {
    const answer = await service.call('POST', `/v1/operations/${path}`, { token: operator.token, body });
    expect([answer.status, answer.text]).toEqual([200, answer.text]);
  };
  async function idIn(list: 'reviews' | 'unmatched', is: (one: Record<string, unknown>) => boolean): Promise<string> {
    return waitFor(list, async () => {
      const { body } = await service.call<{ data: { id: string }[] }>('GET', `/v1/operations/${list}?limit=100`, {
        token: operator.token,
      });
      return body.data.find(is)?.id;
    });
  }
  const feesOf = async (charge: Pick<ChargeAnswer, 'id'>): Promise<unknown[]> => {
    const { body } = await service.call<Record<string, unknown>>('GET', `/v1/payments/${paymentIdOf(charge)}`, {
      key: story.key,
    });
    return [body['providerFee'], body['platformFee'], body['netAmount']];
  };
  const SALE = { available: AMOUNT - PIX_FEE - PLATFORM_FEE, platform_fees: PLATFORM_FEE, provider_fees: PIX_FEE };

  it('are paid by the merchant for a sale', async () => {
    const before = await books();
    const { charge } = await story.paid({ amount: AMOUNT });
    expect(await feesOf(charge)).toEqual([PIX_FEE, PLATFORM_FEE, AMOUNT - PIX_FEE - PLATFORM_FEE]);
    await moved(before, SALE);
  });

  it('never exceed the sale, since the platform pays the rest', async () => {
    const before = await books();
    const { charge } = await story.paid({ amount: 20 });
    expect(await feesOf(charge)).toEqual([20, 0, 0]);
    await moved(before, { platform_fees: -5, provider_fees: 25 });
  });

  it('are paid by the platform for a payment that goes back, both ways', async () => {
    const { charge } = await story.paid({ amount: AMOUNT });
    const before = await books();
    story.bank.change({ returnDelayMs: 20 });
    const { endToEndId } = story.pay(charge, { force: true });
    await waitFor('the return', () => story.returned(endToEndId).join() === '50.00 DEVOLVIDO');
    await moved(before, { platform_fees: -(PIX_FEE + RETURN_FEE), provider_fees: PIX_FEE + RETURN_FEE });
  });

  it('for a held payment are paid by the platform, and by the merchant once it is accepted', async () => {
    const payer = { customer: { name: 'Maria' }, expected_payer_tax_id: PAYER };
    const charge = await story.charge({ amount: AMOUNT, ...payer });
    const before = await books();
    story.pay(charge, { payer: null });
    await story.becomes(charge, 'processing');
    const borne = { platform_fees: -PIX_FEE, provider_fees: PIX_FEE };
    await moved(before, { suspense: AMOUNT, ...borne });
    await act(`reviews/${await idIn('reviews', (one) => one['charge_id'] === charge.id)}/accept`);
    await story.becomes(charge, 'paid');
    expect(await feesOf(charge)).toEqual([PIX_FEE, PLATFORM_FEE, AMOUNT - PIX_FEE - PLATFORM_FEE]);
    await moved(before, SALE);
  });

  it('for a Pix without a charge are paid by the platform, and up to the sale by the merchant once it is assigned', async () => {
    const charge = await story.charge({ amount: 20 });
    const before = await books();
    const { endToEndId } = story.bank.pay({ key: story.live.pixKey, amount: 20 });
    await story.sweepStatement();
    const id = await idIn('unmatched', (one) => one['end_to_end_id'] === endToEndId);
    await moved(before, { suspense: 20, platform_fees: -25, provider_fees: 25 });
    const why = { reason: 'The payer has called', idempotency_key: randomUUID() };
    await act(`unmatched/${id}/correct`, { kind: 'assign', charge_id: charge.id, ...why });
    await story.becomes(charge, 'paid');
    expect(await feesOf(charge)).toEqual([20, 0, 0]);
    await moved(before, { platform_fees: -5, provider_fees: 25 });
  });

  it('for a refund are paid by the platform once the refund has arrived', async () => {
    const { charge } = await story.paid({ amount: AMOUNT });
    const before = await books();
    story.bank.change({ returnDelayMs: 20 });
    const { body } = await requestRefund(service, story.key, charge.id, { amount: 1_250 });
    expect(await refundEnd(service, story.key, body)).toMatchObject({ status: 'REFUNDED' });
    await moved(before, { available: -1_250, platform_fees: -RETURN_FEE, provider_fees: RETURN_FEE });
  });

  it('for a refund that the bank could not carry out are zero', async () => {
    const { charge } = await story.paid({ amount: AMOUNT });
    const before = await books();
    story.bank.change({ returnDelayMs: 20, returnOutcome: 'NAO_REALIZADO' });
    const { body } = await requestRefund(service, story.key, charge.id);
    expect(await refundEnd(service, story.key, body)).toMatchObject({ status: 'FAILED' });
    story.bank.change({ returnOutcome: 'DEVOLVIDO' });
    await moved(before, {});
  });

  it('are compared with the invoice of a month, and the suggested command settles the difference', async () => {
    const month = day().slice(0, 7);
    const compare = async (invoice: number): Promise<Ended & { printed: FeesAnswer }> => {
      const about = ['--account', story.merchant.accountId, '--month', month, '--invoice', String(invoice)];
      const ended = await run('reconcile', '--fees', ...about);
      return { ...ended, printed: JSON.parse(ended.stdout) as FeesAnswer };
    };
    const charged = (await books()).provider_fees;
    const same = await compare(charged);
    expect(same).toMatchObject({ code: 0, stderr: '', printed: { here: charged, difference: 0 } });
    // Five sales (one of cents), a double Pix, a stray Pix, a refused refund, a return and a refund.
    const [pix, back] = same.printed.operations;
    expect(pix).toEqual({ operation: 'PIX', count: 8, amount: 6 * AMOUNT + 40, fee: 6 * PIX_FEE + 50 });
    expect(back).toEqual({ operation: 'devolution', count: 2, amount: AMOUNT + 1_250, fee: 2 * RETURN_FEE });

    const more = await compare(charged + 41);
    expect(more).toMatchObject({ code: 1, printed: { difference: 41 } });
    expect(more.stderr).toContain('R$ 0,41 more');
    const remedy = JSON.parse(more.stderr.trim().split('\n').at(-1) ?? '') as Record<string, unknown>;
    await act('corrections', { ...remedy, reason: `Invoice of ${month}`, idempotency_key: randomUUID() });
    expect(await compare(charged + 41)).toMatchObject({
      ...{ code: 0, stderr: '' },
      printed: { corrections: { count: 1, amount: 41 }, here: charged + 41, difference: 0 },
    });
    const less = await compare(charged);
    expect([less.code, less.printed.difference]).toEqual([1, -41]);
    expect(less.stderr).toContain('R$ 0,41 less');
  });

  it('on an invoice need both month and connection of the account, or neither', async () => {
    const { accountId } = story.merchant;
    const fee = { kind: 'bank_fee', account_id: accountId, mode: 'live', amount: 5, borne_by: 'platform' };
    const [invoice_month, acquirer] = ['2026-11', story.live.acquirer];
    const wrong: [Record<string, unknown>, string][] = [
      [{ invoice_month }, 'acquirer'],
      [{ acquirer }, 'acquirer'],
      [{ invoice_month: '2026-13', acquirer }, 'invoice_month'],
      [{ invoice_month, acquirer: `pix-api:${randomUUID()}` }, 'acquirer'],
      [{ invoice_month, acquirer, kind: 'loss' }, 'invoice_month'],
      [{ invoice_month, acquirer, mode: 'test' }, 'invoice_month'],
      [{ invoice_month, acquirer, currency: 'USD' }, 'invoice_month'],
    ];
    for (const [body, param] of wrong) {
      const why = { reason: 'The invoice', idempotency_key: randomUUID() };
      const answer = await service.call<{ error: { param: string } }>('POST', '/v1/operations/corrections', {
        token: operator.token,
        body: { ...fee, ...why, ...body },
      });
      expect([body, answer.status, answer.body.error.param]).toEqual([body, 400, param]);
    }
  });

  it('are left out of a journal when the merchant does not pay them, as is a returned Pix', async () => {
    const about = { type: 'statement', format: 'journal', from: day(-1), to: day() };
    const { body: asked } = await service.call<ReportBody>('POST', '/v1/reports', { key: story.key, body: about });
    const url = await waitFor('the journal', async () => {
      const { body } = await service.call<ReportBody>('GET', `/v1/reports/${asked.id}`, { key: story.key });
      return body.download_url ?? undefined;
    });
    const journal = await (await fetch(reach(service, url))).text();
    const sum = (account: string): number =>
      [...journal.matchAll(new RegExp(`^  ${account}  (-?\\d+)\\.(\\d\\d) BRL$`, 'gm'))].reduce(
        (total, [, whole, cents]) => total + Number(`${String(whole)}${String(cents)}`),
        0,
      );
    const [paid] = await service.sql<{ sales: string; fees: string }>(
      `SELECT sum(amount) AS sales, sum(provider_fee) AS fees FROM transactions
       WHERE account_id = $1 AND mode = 'live' AND paid_at IS NOT NULL`,
      [story.merchant.accountId],
    );
    expect(sum('Assets:Recebe:Available')).toBe((await books()).available);
    expect(sum('Income:Recebe:Sales')).toBe(-Number(paid?.sales));
    expect(sum('Expenses:Recebe:Fees:Acquirer')).toBe(Number(paid?.fees));
  });

  it('begin tomorrow at the earliest when there is a schedule, and the later schedule of a day wins', async () => {
    const early = await setFee('PIX', day(), '--bps', '1');
    expect([early.code, early.stderr]).toEqual([1, expect.stringMatching(/^from: is \d{4}-\d\d-\d\d at the earliest/)]);
    expect(await setFee('PIX', day(2), '--bps', '9900')).toMatchObject({ code: 0 });
    expect(await setFee('PIX', day(2), '--fixed', '99')).toMatchObject({ code: 0 });
    const before = await books();
    await story.paid({ amount: AMOUNT });
    await moved(before, SALE);

    const { stdout } = await run('acquirer', 'fees', 'list', '--account', story.merchant.accountId);
    const [connection] = (JSON.parse(stdout) as { connections: { fees: Record<string, unknown>[] }[] }).connections;
    const first = { operation: 'PIX', valid_from: expect.any(String), bps: 100, fixed: 10, minimum: 25, maximum: 300 };
    const none = { minimum: 0, maximum: null };
    expect(connection?.fees).toEqual([
      first,
      { operation: 'devolution', valid_from: expect.any(String), bps: 0, fixed: RETURN_FEE, ...none },
      { operation: 'PIX', valid_from: day(2), bps: 9_900, fixed: 0, ...none },
      { operation: 'PIX', valid_from: day(2), bps: 0, fixed: 99, ...none },
    ]);
    const { body } = await service.call<{ data: { fees: unknown }[] }>(
      'GET',
      `/v1/operations/connections?account_id=${story.merchant.accountId}`,
      { token: operator.token },
    );
    expect(body.data.map(({ fees }) => fees)).toEqual([connection?.fees]);
    const audited = await service.sql(
      `SELECT actor_type, data FROM audit_events WHERE account_id = $1 AND type = 'acquirer.fee_set' ORDER BY id`,
      [story.merchant.accountId],
    );
    expect(audited).toHaveLength(4);
    expect(audited[3]).toMatchObject({ actor_type: 'cli', data: { operation: 'PIX', valid_from: day(2), fixed: 99 } });
  });

  it('change at midnight when another schedule begins', async () => {
    service.clock.advance(2 * 86_400);
    const before = await books();
    await story.paid({ amount: AMOUNT });
    await moved(before, { ...SALE, available: AMOUNT - PLATFORM_FEE - 99, provider_fees: 99 });
  });

  it.each([
    [['reconcile'], '--day'],
    [['reconcile', '--fees'], '--month, --invoice'],
    [['reconcile', '--fees', '--month', '2026-11', '--invoice', '5', '--day', '2026-11-01'], '--day is not for --fees'],
    [['reconcile', '--day', '2026-11-01', '--invoice', '5'], '--invoice is for --fees'],
    [['reconcile', '--fees', '--month', '2026-13', '--invoice', '5'], 'It must be a month'],
    [['reconcile', '--fees', '--month', '2026-11', '--invoice', '5.5'], 'a whole number of cents'],
    [['acquirer', 'fees', 'set', '--operation', 'PIX', '--from', '2026-12-01', '--bps', '10001'], 'from 0 to 10000'],
    [['acquirer', 'fees', 'set', '--operation', 'BOLETO', '--from', '2026-12-01'], 'PIX, devolution'],
    [
      [
        'acquirer',
        'fees',
        'set',
        '--operation',
        'PIX',
        ...['--from', '2099-12-01', '--bps', '1', '--minimum', '9', '--maximum', '8'],
      ],
      '--maximum is less than --minimum',
    ],
    [
      ['acquirer', 'fees', 'set', '--operation', 'PIX', '--from', '2099-12-01'],
      'Name the price with --bps, --fixed or both',
    ],
  ])('refuse the command line %j: %s', async (args, message) => {
    const ended = await run(...args, '--account', story.merchant.accountId);
    expect([ended.code, ended.stdout]).toEqual([2, '']);
    expect(ended.stderr).toContain(message);
  });

  it('can be set for existing accounts and connections only', async () => {
    const nobody = randomUUID();
    const fee = ['--operation', 'PIX', '--from', day(3), '--bps', '1'];
    const account = ['--account', story.merchant.accountId];
    const { accountId: unconnected } = await service.merchant();
    for (const [args, message] of [
      [['--account', nobody], 'No such account'],
      [['--account', unconnected], 'This account has no live acquirer'],
      [[...account, '--connection', nobody], 'No such connection of the account'],
    ] as const) {
      const ended = await run('acquirer', 'fees', 'set', ...fee, ...args);
      expect([ended.code, ended.stderr]).toEqual([1, expect.stringContaining(message)]);
    }
  });
});
