import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { AccountsService } from '../../../src/accounts/index.js';
import { SYSTEM } from '../../../src/audit/index.js';
import { Database } from '../../../src/core/database/index.js';
import type { Mode } from '../../../src/core/mode.js';
import { NegativeBalances } from '../../../src/operations/index.js';
import { CorrectionsService } from '../../../src/transactions/index.js';
import { expectLedgerCoherent } from '../../support/coherence.js';
import { MedWorld } from '../../support/med-world.js';
import { requestRefund } from '../../support/refunds.js';
import { TestService } from '../../support/service.js';

const DAY = 86_400;

interface Negative {
  account_id: string;
  mode: Mode;
  currency: string;
  available: number;
  negative_since: string;
  next_notice_at: string | null;
}

describe('an available balance below zero', () => {
  const world = new MedWorld();
  let accountId: string;

  beforeAll(async () => {
    await world.begin();
    const { token } = await world.service.operator();
    const { body } = await world.service.call<{ data: { id: string }[] }>('GET', '/v1/operations/accounts', { token });
    accountId = body.data[0]?.id ?? '';
  });
  afterEach(() => world.end());

  const list = async (): Promise<Negative[]> => {
    const { token } = await world.service.operator();
    const { body } = await world.service.call<{ data: Negative[] }>('GET', '/v1/operations/negative-balances', {
      token,
    });
    return body.data;
  };
  const mails = (): Promise<{ subject: string; text_body: string }[]> =>
    world.service.sql(
      `SELECT subject, text_body FROM emails WHERE account_id = $1 AND subject LIKE '%Saldo negativo%' ORDER BY id`,
      [accountId],
    );
  /** Three workers at once. */
  const sweep = (): Promise<boolean[]> => Promise.all([1, 2, 3].map(() => world.service.get(NegativeBalances).sweep()));

  /** A sale whose money was given back by a Pix of the merchant's own, and which is disputed then. */
  async function overdraw(): Promise<void> {
    const paid = await world.told.paid(world.key, 1990);
    await world.told.refund(world.key, paid, 1990, 'cashout');
    await world.told.finish();
    await world.told.disputed(paid);
  }

  it('is reported to the merchant at once, and to operators with its age', async () => {
    expect(await list()).toEqual([]);
    await overdraw();
    await world.expectBalance(-1990, 1990);
    await sweep();
    const [mail, ...others] = await mails();
    expect(others).toEqual([]);
    expect(mail?.subject).toMatch(/^TESTE: Saldo negativo: R\$ -19,90/);
    expect(mail?.text_body).toContain('nenhuma devolução pode ser feita');
    expect(await list()).toEqual([
      {
        object: 'negative_balance',
        account_id: accountId,
        mode: 'test',
        currency: 'BRL',
        available: -1990,
        negative_since: expect.any(String),
        next_notice_at: expect.any(String),
      },
    ]);
  });

  it('refuses refunds, and keeps its age while the amount changes', async () => {
    const [before] = await list();
    const paid = await world.told.paid(world.key, 500);
    const refused = await requestRefund(world.service, world.key, paid.id);
    expect([refused.status, refused.body.error.code]).toEqual([422, 'insufficient_balance']);
    expect(await list()).toEqual([{ ...before, available: -1490 }]);
  });

  it('is reported again after seven days, or after the days that the account is set to', async () => {
    world.service.clock.advance(7 * DAY - 60);
    await sweep();
    expect(await mails()).toHaveLength(1);
    await world.service.get(AccountsService).set(accountId, { negative_notice_days: '0' }, SYSTEM);
    world.service.clock.advance(120);
    await sweep();
    expect(await mails()).toHaveLength(2);
    expect((await list())[0]?.next_notice_at).toBeNull();
    world.service.clock.advance(30 * DAY);
    await sweep();
    expect(await mails()).toHaveLength(2);
  });

  it('ends with the sales that make up for it, and a later one counts as new', async () => {
    await world.told.paid(world.key, 1490);
    await world.expectBalance(0, 1990);
    expect(await list()).toEqual([]);
    await world.told.disputed(await world.told.paid(world.key, 700));
    expect(await list()).toEqual([]);
    await overdraw();
    await sweep();
    expect(await list()).toMatchObject([{ available: -1990, next_notice_at: null }]);
    expect(await mails()).toHaveLength(3);
  });
});

describe('operators’ list of wallets below zero', () => {
  const service = TestService.forSpec();

  afterEach(() => expectLedgerCoherent(service.database.url));

  interface Page {
    data: Negative[];
    has_more: boolean;
    next_cursor: string | null;
  }

  /** A bank's fees that the account has no money for. */
  async function charge(accountId: string, ...wallets: readonly (readonly [Mode, string])[]): Promise<void> {
    await service.get(Database).transaction(async (tx) => {
      for (const [mode, currency] of wallets) {
        const fee = { kind: 'bank_fee', amount: 100, borneBy: 'merchant', currency, mode, accountId } as const;
        const why = { reason: 'Of the month', idempotencyKey: randomUUID(), bankReference: null, transactionId: null };
        await service
          .get(CorrectionsService)
          .request(tx, { ...fee, ...why, acquirer: null, invoiceMonth: null }, randomUUID());
      }
    });
  }

  it('goes page by page, also for wallets that went below zero at one instant, and can show one account', async () => {
    const [first, second] = [await service.merchant(), await service.merchant()];
    await charge(second.accountId, ['live', 'BRL']);
    service.clock.advance(DAY);
    await charge(first.accountId, ['test', 'USD'], ['live', 'BRL'], ['test', 'BRL']);
    await service.sql(
      `UPDATE balances SET negative_since = (SELECT min(negative_since) FROM balances WHERE account_id = $1)
       WHERE account_id = $1 AND negative_since IS NOT NULL`,
      [first.accountId],
    );
    service.clock.advance(DAY);
    await charge(second.accountId, ['test', 'BRL']);

    const { token } = await service.operator();
    const page = (query: Record<string, string>): Promise<{ status: number; body: Page }> =>
      service.call<Page>('GET', `/v1/operations/negative-balances?${new URLSearchParams(query).toString()}`, { token });
    const told = ({ data }: Page): string[] =>
      data.map((one) => `${one.account_id === first.accountId ? 'first' : 'second'} ${one.mode} ${one.currency}`);

    const all = ['second live BRL', 'first live BRL', 'first test BRL', 'first test USD', 'second test BRL'];
    for (const limit of ['1', '2', '3']) {
      const seen: string[] = [];
      for (let after: string | null = ''; after !== null;) {
        const { body } = await page({ limit, ...(after === '' ? {} : { starting_after: after }) });
        seen.push(...told(body));
        expect(body.has_more).toBe(body.next_cursor !== null);
        after = body.next_cursor;
      }
      expect(seen).toEqual(all);
    }
    expect(told((await page({ account_id: second.accountId })).body)).toEqual(['second live BRL', 'second test BRL']);
    expect((await page({ starting_after: first.accountId })).status).toBe(400);
  });
});
