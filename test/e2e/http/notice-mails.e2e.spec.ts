import { beforeAll, describe, expect, it } from '@jest/globals';
import type { MailNotice, Role } from '../../../src/accounts/index.js';
import { WorkService } from '../../../src/core/work/index.js';
import { aDisputedCharge } from '../../support/med.js';
import { aFundedMerchant, aPayout } from '../../support/payouts.js';
import { type Merchant, type Person, TestService } from '../../support/service.js';

describe('mails by the choice of each person', () => {
  const service = TestService.forSpec();
  let stranger: Person;

  const choose = async ({ token }: Pick<Person, 'token'>, mail: readonly MailNotice[]): Promise<void> => {
    expect((await service.call('PATCH', '/v1/auth/notices', { token, body: { mail } })).status).toBe(200);
  };
  const pay = async (key: string, amount = 1000): Promise<string> => {
    const { id } = (await service.createCharge(key, { amount })).body;
    await service.simulate(key, id, { event: 'pay' });
    return id;
  };
  const run = ({ userId }: Person): Promise<Error | null> => service.get(WorkService).runNow('paid_mail', userId);
  const mailsTo = ({ email }: Person): Promise<{ subject: string; text: string; account: string }[]> =>
    service.sql(
      'SELECT subject, text_body AS text, account_id AS account FROM emails WHERE recipient = $1 ORDER BY id',
      [email],
    );

  beforeAll(async () => {
    const other = await service.merchant();
    stranger = await service.member(other.accountId, 'OWNER');
    await choose(stranger, ['paid', 'dispute', 'webhook', 'payout', 'approval']);
  });

  const causes: Readonly<Record<Exclude<MailNotice, 'webhook'>, (shop: Merchant) => Promise<unknown>>> = {
    paid: ({ testKey }) => pay(testKey),
    dispute: ({ testKey }) => aDisputedCharge(service, testKey),
    payout: async ({ testKey, accountId }) => {
      const { id } = await aPayout(service, testKey, { amount: 2_000 });
      const path = `/v1/dashboard/test/payouts/${id}/refuse`;
      const approver = await service.member(accountId, 'ADMIN');
      expect((await service.call('POST', path, { token: approver.token, body: {} })).status).toBe(200);
    },
    approval: ({ testKey }) => aPayout(service, testKey, { amount: 2_000 }),
  };

  const ROLES: readonly Role[] = ['OWNER', 'ADMIN', 'MEMBER'];
  const kinds = ['paid', 'dispute', 'payout', 'approval'] as const;
  const cases = kinds.flatMap((kind) =>
    ROLES.flatMap((role) => [true, false].map((isChosen) => ({ kind, role, isChosen }))),
  );

  it.each(cases)('$kind, $role, chosen $isChosen: one mail if chosen, else none', async ({ kind, role, isChosen }) => {
    const shop = await aFundedMerchant(service, { payout_approval_above: 1_000 });
    const person = await service.member(shop.accountId, role);
    await choose(person, isChosen ? [kind] : []);
    await causes[kind](shop);
    await run(person);
    await run(person);
    const isMailed = isChosen && !(kind === 'approval' && role === 'MEMBER');
    const mails = await mailsTo(person);
    expect(mails).toHaveLength(isMailed ? 1 : 0);
    for (const { subject, account } of mails) {
      expect(subject).toMatch(/^TESTE: /);
      expect(account).toBe(shop.accountId);
    }
    await run(stranger);
    expect(await mailsTo(stranger)).toEqual([]);
  });

  it('gather sales that were paid since the last mail, without names, and none from before the choice', async () => {
    const shop = await service.merchant();
    const person = await service.member(shop.accountId, 'MEMBER');
    await pay(shop.testKey, 77_700);
    await choose(person, ['paid']);
    const ids = [await pay(shop.testKey, 1_000), await pay(shop.testKey, 2_500)];
    await Promise.all([run(person), run(person), run(person)]);
    const [mail, ...more] = await mailsTo(person);
    expect(more).toEqual([]);
    expect(mail?.subject).toBe('TESTE: 2 vendas pagas: R$ 35,00 / 2 sales paid');
    for (const id of ids) expect(mail?.text).toContain(`/dashboard/test/sales/${id.replace(/^[a-z]+_/, '')}`);
    expect(mail?.text).not.toContain('777,00');
    await pay(shop.testKey, 4_000);
    await run(person);
    const [, last] = await mailsTo(person);
    expect(last?.subject).toBe('TESTE: Venda paga: R$ 40,00 / Sale paid');
    await choose(person, []);
    await pay(shop.testKey);
    await run(person);
    expect(await mailsTo(person)).toHaveLength(2);
    expect(
      await service.sql(`SELECT 1 FROM work WHERE kind = 'paid_mail' AND subject_id = $1`, [person.userId]),
    ).toEqual([]);
  });

  it('keep what is read for each mode, never backwards and never in the future', async () => {
    const shop = await service.merchant();
    const { token } = await service.member(shop.accountId, 'MEMBER');
    const read = async (body: object): Promise<Record<string, unknown>> =>
      (await service.call('PATCH', '/v1/auth/notices', { token, body })).body;
    const first = await read({});
    const until = new Date(service.clock.now().getTime() - 1).toISOString();
    expect(await read({ read_test: until })).toMatchObject({ read_test: until, read_live: first['read_live'] });
    expect(await read({ read_test: '2020-01-01T00:00:00Z' })).toMatchObject({ read_test: until });
    const future = await read({ read_live: '2999-01-01T00:00:00Z' });
    expect(Date.parse(String(future['read_live']))).toBeLessThanOrEqual(service.clock.now().getTime());
    expect((await service.call('PATCH', '/v1/auth/notices', { token, body: { read_live: 'soon' } })).status).toBe(400);
  });
});
