import { beforeAll, describe, expect, it } from '@jest/globals';
import type { NoticesBody } from '../../../src/auth/dto/notices.dto.js';
import { aDisputedCharge } from '../../support/med.js';
import { type Merchant, type Person, TestService } from '../../support/service.js';

describe('the notices of a person', () => {
  const service = TestService.forSpec();
  let merchant: Merchant;
  let token: string;

  beforeAll(async () => {
    merchant = await service.merchant();
    token = await service.login(merchant.ownerEmail);
  });

  const notices = async (body?: object): Promise<{ status: number; body: NoticesBody }> =>
    service.call<NoticesBody>(body ? 'PATCH' : 'GET', '/v1/auth/notices', { token, ...(body ? { body } : {}) });

  it('begin with the defaults of the role, and change one list at a time', async () => {
    const defaults = { mail: ['payout', 'approval'], dashboard: ['dispute', 'webhook', 'payout', 'approval'] };
    expect((await notices()).body).toMatchObject(defaults);
    expect((await notices({ mail: [] })).body).toMatchObject({ ...defaults, mail: [] });
    expect((await notices({ dashboard: ['paid'] })).body).toMatchObject({ mail: [], dashboard: ['paid'] });
  });

  it.each([{ mail: ['refund'] }, { mail: 'dispute' }, { dashboard: ['paid', 'paid'] }, { dashboard: ['refund'] }])(
    'refuse %j',
    async (body) => {
      expect((await notices(body)).status).toBe(400);
    },
  );

  it('mail a dispute to the contact and to people of the account who chose it, whatever their role', async () => {
    const choose = async (person: Person): Promise<void> => {
      const body = { mail: ['dispute'] };
      expect((await service.call('PATCH', '/v1/auth/notices', { token: person.token, body })).status).toBe(200);
    };
    const shop = await service.merchant();
    const admin = await service.member(shop.accountId, 'ADMIN');
    const reader = await service.member(shop.accountId, 'MEMBER');
    const indifferent = await service.member(shop.accountId, 'ADMIN');
    const stranger = await service.member(merchant.accountId, 'ADMIN');
    for (const person of [admin, reader, stranger]) await choose(person);
    await aDisputedCharge(service, shop.testKey);
    const people = [shop.ownerEmail, admin.email, reader.email, indifferent.email, stranger.email, merchant.ownerEmail];
    const mails = await service.sql<{ recipient: string }>(
      `SELECT recipient FROM emails WHERE recipient = ANY($1) AND account_id = $2`,
      [people, shop.accountId],
    );
    expect(mails.map(({ recipient }) => recipient).sort()).toEqual([shop.ownerEmail, admin.email, reader.email].sort());
    // No mail of another account's dispute reaches the stranger.
    expect(await service.sql('SELECT id FROM emails WHERE recipient = $1', [stranger.email])).toEqual([]);
  });
});
