import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AccountsService, MembersService } from '../../src/accounts/index.js';
import { ApiKeysService } from '../../src/api-keys/index.js';
import { SYSTEM } from '../../src/audit/index.js';
import { anUpload } from '../support/evidence.js';
import { aDisputedCharge } from '../support/med.js';
import { type Merchant, PASSWORD, TestService } from '../support/service.js';
import { aPaymentLink, pathOf } from '../support/payment-links.js';
import { aFundedMerchant, aPayout, CPF, payoutOf, simulatePayout } from '../support/payouts.js';
import { describeWith } from '../support/needs.js';
import { startRedis, type TestRedis } from '../support/redis.js';
import { byAnotherKey, claimsOf, expired, forge, JWT_SECRET, withoutSignature } from '../support/tokens.js';
import { atDoor, type Caller, CALLERS, DOOR_CALLERS, type Row, ROUTES, UNAUDITED, type World } from './route-table.js';

type Credentials = Record<string, string>;

const bearer = (token: string): Credentials => ({ authorization: `Bearer ${token}` });

describe('access to every route by every kind of caller', () => {
  const service = TestService.forSpec({ env: { JWT_SECRET, CHARGE_LIST_ENABLED: 'true' } });
  let merchant: Merchant;
  let world: World;
  let credentials: (caller: Caller) => Promise<Credentials>;

  beforeAll(async () => {
    merchant = await service.merchant({ payout_approval_above: '0', fraud_mode: 'off' });
    const { accountId } = merchant;
    const stranger = await service.merchant();
    const owner = await service.login(merchant.ownerEmail);
    const admin = await service.member(accountId, 'ADMIN');
    const logins: Partial<Record<Caller, string>> = {
      MEMBER: (await service.member(accountId, 'MEMBER')).token,
      ADMIN: admin.token,
      OWNER: owner,
      'foreign OWNER': await service.login(stranger.ownerEmail),
      OPERATOR: (await service.operator()).token,
    };
    const keys = service.get(ApiKeysService);
    const revoked = await keys.issue(accountId, { mode: 'test', label: null }, SYSTEM);
    await keys.revoke(accountId, revoked.id, SYSTEM);
    const loggedOut = await service.login(merchant.ownerEmail);
    await service.call('POST', '/v1/auth/logout', { token: loggedOut });
    const removed = await service.member(accountId, 'OWNER');
    await service.call('DELETE', `/v1/members/${removed.userId}`, { token: owner });
    const fixed: Partial<Record<Caller, Credentials>> = {
      nobody: {},
      garbage: { apikey: 'garbage', authorization: 'garbage' },
      'revoked key': { apikey: revoked.apiKey },
      'foreign key': { apikey: stranger.testKey },
      'live key': { apikey: merchant.liveKey },
      'test key': { apikey: merchant.testKey },
      'logged out': bearer(loggedOut),
      removed: bearer(removed.token),
      expired: bearer(expired(owner)),
      'alg none': bearer(withoutSignature(owner)),
      'signed by another key': bearer(byAnotherKey(owner)),
    };
    credentials = async (caller) => {
      const login = logins[caller];
      if (login === undefined) return fixed[caller] ?? {};
      // Uses a fresh login each time: one of the routes ends the login.
      const [claims, jti] = [claimsOf(login), randomUUID()];
      await service.sql(
        `INSERT INTO sessions (id, user_id, account_id, created_at, used_at, expires_at)
         VALUES ($1, $2, $3, now(), now(), now() + interval '1 hour')`,
        [jti, claims['sub'], claims['account_id']],
      );
      return bearer(forge({ ...claims, jti }));
    };
    const actor = { ...SYSTEM, type: 'member' as const, id: merchant.ownerId };
    const account = await service.get(AccountsService).get(accountId);
    const invite = (email: string) =>
      service.get(MembersService).invite(account, { email, name: null, role: 'MEMBER' }, actor, async () => undefined);
    const paymentId = async (): Promise<string> => {
      const { status, body } = await service.createCharge(merchant.testKey);
      expect(status).toBe(201);
      return body.id.slice(3);
    };
    const endpointId = async (): Promise<string> => {
      const body = { url: 'https://merchant.example/hooks', events: ['charge.failed'] };
      const { status, body: made } = await service.call<{ id: string }>('POST', '/v1/webhooks/endpoints', {
        key: merchant.testKey,
        body,
      });
      expect(status).toBe(201);
      return made.id;
    };
    // All deliveries share one endpoint: an account has at most 100 endpoints.
    const deliveriesTo = await endpointId();
    let count = 0;
    const charge = await service.createCharge(merchant.testKey);
    world = {
      service,
      accountId,
      chargeId: charge.body.id,
      rawId: charge.body.id.slice(3),
      paymentId,
      paidPaymentId: async () => {
        const id = await paymentId();
        expect((await service.simulate(merchant.testKey, `ch_${id}`, { event: 'pay' })).status).toBe(200);
        return id;
      },
      apiKeyId: async () => (await keys.issue(accountId, { mode: 'test', label: null }, SYSTEM)).id,
      memberId: async () => {
        const email = `matrix-member-${++count}@example.com`;
        const added = { email, password: PASSWORD, role: 'MEMBER' as const };
        return (await service.get(AccountsService).addMember(accountId, added, SYSTEM)).userId;
      },
      invitationToken: async () => {
        const email = `matrix-guest-${++count}@example.com`;
        await invite(email);
        return service.mailedToken(email);
      },
      endpointId,
      reportId: async () => {
        const body = { type: 'statement', format: 'csv', from: '2026-11-01', to: '2026-11-30' };
        const answer = await service.call<{ id: string }>('POST', '/v1/reports', { key: merchant.testKey, body });
        return answer.body.id;
      },
      deliveryId: async () => {
        const id = randomUUID();
        await service.sql(
          `WITH message AS (
             INSERT INTO webhook_messages (id, account_id, mode, event_id, event_type, manual, payload, delivery_ids)
             VALUES ($1, $2, 'test', $1, 'charge.paid', false, '{}', ARRAY[$1::uuid]))
           INSERT INTO webhook_deliveries (id, account_id, mode, endpoint_id, message_id, subject_id, event_type,
             status, attempts, max_attempts, created_at, updated_at)
           VALUES ($1, $2, 'test', $3, $1, $1, 'charge.paid', 'FAILED', 15, 15, now(), now())`,
          [id, accountId, deliveriesTo],
        );
        return id;
      },
      medCaseId: async () => (await aDisputedCharge(service, merchant.testKey)).medCase.id,
      payoutId: async () => {
        await world.paidPaymentId();
        return (await aPayout(service, merchant.testKey, { amount: 100, allow_duplicate: true })).id;
      },
      destinationId: async () => {
        const body = { type: 'pix_key', key: `matrix-${++count}@example.com`, tax_id: CPF };
        const answer = await service.call<{ id: string }>('POST', '/v1/payout-destinations', {
          key: merchant.testKey,
          body,
        });
        return answer.body.id;
      },
      customerId: async () => {
        const email = `matrix-customer-${++count}@example.com`;
        const { body } = await service.createCharge(merchant.testKey, { customer: { email } });
        expect((await service.simulate(merchant.testKey, body.id, { event: 'pay' })).status).toBe(200);
        return `cus_${body.id.slice(3)}`;
      },
      linkPath: async () => pathOf(await aPaymentLink(service, merchant.testKey)),
      linkId: async () => (await aPaymentLink(service, merchant.testKey)).id,
      uncertainPayoutId: async () => {
        const other = await aFundedMerchant(service, { payout_new_destination_hours: 1 });
        const { id } = await aPayout(service, other.testKey);
        await simulatePayout(service, other.testKey, id, { event: 'unknown' });
        await service.sql(`UPDATE payouts SET send_after = now() WHERE id = $1`, [id.slice(3)]);
        await service.sql(`UPDATE work SET due_at = now() WHERE subject_id = $1`, [id.slice(3)]);
        await payoutOf(service, other.testKey, id, 'processing');
        return id.slice(3);
      },
      notePath: async () => {
        const path = `/v1/payments/${await paymentId()}/notes`;
        const door = path.replace('/v1/', '/v1/dashboard/test/');
        const body = { text: 'Called back.' };
        const answer = await service.call<{ id: string }>('POST', door, { token: admin.token, body });
        return `${path}/${answer.body.id}`;
      },
      uploadId: (caseId) => anUpload(service, merchant.testKey, caseId),
    };
  });

  interface Request {
    readonly path: string;
    readonly body?: object;
  }
  async function requestOf(route: string, row: Row): Promise<Request> {
    const path = row.path ? await row.path(world) : (route.split(' ')[1] ?? '');
    return row.body ? { path, body: await row.body(world) } : { path };
  }

  async function auditedOfOwner(): Promise<number> {
    const count = 'SELECT count(*)::int AS n FROM audit_events WHERE actor_id = $1';
    return (await service.sql<{ n: number }>(count, [merchant.ownerId]))[0]?.n ?? 0;
  }

  async function ask(
    [method = '']: string[],
    row: Row,
    caller: Caller,
    { path, ...body }: Request,
  ): Promise<{ status: number; code: string | undefined }> {
    const shown = await credentials(caller);
    const answer = await service.call<{ error?: { code: string } }>(method, path, {
      headers: { ...row.headers?.(), ...shown },
      ...body,
    });
    if (method === 'GET') {
      const head = await service.call('HEAD', path, { headers: shown });
      expect({ caller, head: head.status, text: head.text }).toEqual({ caller, head: answer.status, text: '' });
    }
    return { status: answer.status, code: answer.body.error?.code };
  }

  it.each(Object.entries(ROUTES))(
    'is as the table says for %s',
    async (route, row) => {
      // Refused callers change nothing, so all of them send the same request; an allowed caller may use its object
      // up.
      const refused = requestOf(route, row);
      const answers = await Promise.all(
        CALLERS.map(async (caller) => {
          const request = row.expected[caller] < 400 ? await requestOf(route, row) : await refused;
          return ask(route.split(' '), row, caller, request);
        }),
      );
      expect(Object.fromEntries(CALLERS.map((caller, index) => [caller, answers[index]?.status]))).toEqual(
        row.expected,
      );
      if (row.access === 'public') return;
      // The refusal must not reveal its reason or the data of others.
      const codes = (status: number): unknown[] => [
        ...new Set(answers.filter((answer) => answer.status === status).map(({ code }) => code)),
      ];
      expect(codes(401)).toEqual(['unauthorized']);
      expect(codes(404).filter((code) => code !== 'not_found')).toEqual([]);
    },
    60_000,
  );

  /** Routes whose rows put an id that exists into the path. */
  const ofIds = Object.entries(ROUTES).filter(([route, { path, expected }]) => {
    // The short id of a payment link has letters of both cases.
    const hasUuid = /:(?!event\b)/.test(route) && !route.includes(' /pay/');
    return path !== undefined && hasUuid && Object.values(expected).some((status) => status < 400);
  });

  it.each(ofIds)('is as the table says for %s, with its ids in capitals', async (route, row) => {
    const { path, ...body } = await requestOf(route, row);
    const id = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
    expect(path).toMatch(id);
    const caller = CALLERS.find((one) => row.expected[one] < 400) ?? 'nobody';
    const request = { path: path.replaceAll(id, (uuid) => uuid.toUpperCase()), ...body };
    // A case that another row has decided is a conflict.
    const { status } = await ask(route.split(' '), row, caller, request);
    expect([row.expected[caller], 409]).toContain(status);
  });

  const ofKeys = Object.entries(ROUTES).filter(([, { access }]) => access === 'api-key');
  const atBothDoors = (['test', 'live'] as const).flatMap((mode) =>
    ofKeys.map(([route, row]) => ({ mode, route, row })),
  );

  it.each(atBothDoors)(
    "is as the table says for $route, through the dashboard's door to $mode mode",
    async ({ mode, route, row }) => {
      const expected = atDoor(route, mode, row);
      const isWrite = !route.startsWith('GET ');
      const request = async (): Promise<Request> => {
        const { path, ...body } = await requestOf(route, row);
        return { path: path.replace('/v1/', `/v1/dashboard/${mode}/`), ...body };
      };
      const before = await auditedOfOwner();
      const refused = request();
      const answers = await Promise.all(
        DOOR_CALLERS.map(async (caller) =>
          ask(
            route.split(' '),
            row,
            caller,
            isWrite && (expected[caller] ?? 0) < 400 ? await request() : await refused,
          ),
        ),
      );
      expect(Object.fromEntries(DOOR_CALLERS.map((caller, index) => [caller, answers[index]?.status]))).toEqual(
        expected,
      );
      const isAudited = isWrite && (expected.OWNER ?? 0) < 400 && !UNAUDITED.includes(route);
      expect((await auditedOfOwner()) > before).toBe(isAudited);
    },
    60_000,
  );

  it.each(Object.entries(ROUTES).filter(([, { access }]) => access !== 'api-key'))(
    'is impossible through the dashboard’s door for %s',
    async (route, row) => {
      const { path, ...body } = await requestOf(route, row);
      const [method = ''] = route.split(' ');
      for (const mode of ['test', 'live']) {
        const door = `/v1/dashboard/${mode}${path.replace(/^\/v1(?=\/)/, '')}`;
        expect((await ask([method], row, 'OWNER', { path: door, ...body })).status).toBe(404);
      }
    },
  );
});

describeWith('redis')(
  'a write of keys through the dashboard’s door in production by an OWNER without a second factor',
  () => {
    let redis: TestRedis;
    let service: TestService;
    let token: string;

    beforeAll(async () => {
      redis = await startRedis();
      const env = { JWT_SECRET, NODE_ENV: 'production', REDIS_URL: redis.url, ENCRYPTION_KEY: 'ab'.repeat(32) };
      service = await TestService.start({ env });
      token = await service.login((await service.merchant()).ownerEmail);
    });
    afterAll(async () => {
      await service.stop();
      await redis.stop();
    });

    // A stream would be open for a minute.
    const ofKeys = Object.entries(ROUTES).filter(
      ([route, { access }]) => access === 'api-key' && !route.endsWith('/stream'),
    );

    it.each(ofKeys)(
      'requires the factor in live mode only, and not for reads: %s',
      async (route, { isOpenToMembers = false }) => {
        const [method = '', path = ''] = route.split(' ');
        const codeAt = async (mode: string): Promise<string | undefined> => {
          const door = path.replace('/v1/', `/v1/dashboard/${mode}/`).replaceAll(/:\w+/g, randomUUID());
          const { body } = await service.call<{ error?: { code: string } }>(method, door, { token });
          return body.error?.code;
        };
        const needsFactor = method !== 'GET' && !isOpenToMembers && !path.includes('/sandbox/');
        expect([await codeAt('live'), await codeAt('test')].map((code) => code === 'totp_setup_required')).toEqual([
          needsFactor,
          false,
        ]);
      },
    );

    it.each(['POST /v1/members', 'PATCH /v1/members/:id', 'DELETE /v1/members/:id', 'PATCH /v1/account'])(
      'is refused for %s too, since it decides about members, who can have a live key issued',
      async (route) => {
        const [method = '', path = ''] = route.split(' ');
        const answer = await service.call<{ error?: { code: string } }>(method, path.replace(':id', randomUUID()), {
          token,
        });
        expect([answer.status, answer.body.error?.code]).toEqual([403, 'totp_setup_required']);
      },
    );
  },
);
