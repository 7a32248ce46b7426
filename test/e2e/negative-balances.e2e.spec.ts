import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { AccountsService } from '../../src/accounts/index.js';
import { SYSTEM } from '../../src/audit/index.js';
import { NegativeBalances } from '../../src/operations/index.js';
import { MedWorld } from '../support/med-world.js';
import { requestRefund } from '../support/refunds.js';

const DAY = 86_400;

interface Negative {
  account_id: string;
  available: number;
  negative_since: string;
  next_notice_at: string | null;
}

describe('an available balance below zero', () => {
  let world: MedWorld;
  let accountId: string;

  beforeAll(async () => {
    world = await MedWorld.start();
    await world.begin();
    const { token } = await world.service.operator();
    const { body } = await world.service.call<{ data: { id: string }[] }>('GET', '/v1/operations/accounts', { token });
    accountId = body.data[0]?.id ?? '';
  });
  afterEach(() => world.end());
  afterAll(() => world.service.stop());

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

  it('is told to the merchant at once, and to operators with its age', async () => {
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

  it('refuses refunds, and keeps its age while it changes', async () => {
    const [before] = await list();
    const paid = await world.told.paid(world.key, 500);
    const refused = await requestRefund(world.service, world.key, paid.id);
    expect([refused.status, refused.body.error.code]).toEqual([422, 'insufficient_balance']);
    expect(await list()).toEqual([{ ...before, available: -1490 }]);
  });

  it('is told again after seven days, or as the account is set', async () => {
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

  it('ends with the sales that make up for it, and the next one is another', async () => {
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
