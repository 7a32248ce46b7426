import { beforeAll, describe, expect, it } from '@jest/globals';
import type { NoticesBody } from '../../../src/auth/dto/notices.dto.js';
import { type Merchant, TestService } from '../../support/service.js';

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
    const defaults = { mail: ['payout', 'approval'], dashboard: ['dispute', 'payout', 'approval'] };
    expect((await notices()).body).toEqual(defaults);
    expect((await notices({ mail: [] })).body).toEqual({ ...defaults, mail: [] });
    expect((await notices({ dashboard: ['paid'] })).body).toEqual({ mail: [], dashboard: ['paid'] });
  });

  it.each([{ mail: ['paid'] }, { mail: 'dispute' }, { dashboard: ['paid', 'paid'] }, { dashboard: ['webhook'] }])(
    'refuse %j',
    async (body) => {
      expect((await notices(body)).status).toBe(400);
    },
  );
});
