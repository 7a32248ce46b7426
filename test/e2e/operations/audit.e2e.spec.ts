import { createHash, randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { AccountsService } from '../../../src/accounts/index.js';
import { ApiKeysService } from '../../../src/api-keys/index.js';
import { CLI } from '../../../src/audit/index.js';
import { aDisputedCharge } from '../../support/med.js';
import { aPaidCharge, paymentIdOf } from '../../support/refunds.js';
import { type Answer, type Merchant, PASSWORD, TestService } from '../../support/service.js';
import { JWT_SECRET } from '../../support/tokens.js';
import { waitFor } from '../../support/wait.js';

interface AuditEvent {
  id: string;
  type: string;
  actor: { type: string; id: string | null; email: string | null };
  api_key_fingerprint: string | null;
  ip: string | null;
  request_id: string | null;
  data: Record<string, unknown>;
  created_at: string;
}
interface Page extends Record<string, unknown> {
  data: AuditEvent[];
  has_more: boolean;
  next_cursor: string | null;
}

const service = TestService.forSpec({ env: { JWT_SECRET } });

function page(token: string, query = ''): Promise<Answer<Page>> {
  return service.call<Page>('GET', `/v1/audit-events${query}`, { token });
}
/** Oldest first, in the order of events */
async function story(token: string, query = '?limit=100'): Promise<AuditEvent[]> {
  return (await page(token, query)).body.data.reverse();
}

/** Keeps all later events of the test within one minute of the clock. */
function atTheBeginningOfAMinute(): void {
  service.clock.advance(60 - (Math.floor(service.clock.now().getTime() / 1000) % 60));
}
/** Failed logins are written once their minute is over. */
async function failuresTold(): Promise<void> {
  service.clock.advance(61);
  await waitFor('failed logins to be told', async () => {
    service.clock.advance(1);
    return (await service.sql('SELECT 1 FROM login_failures')).length === 0;
  });
}

describe('the audit trail', () => {
  let merchant: Merchant;
  let token: string;

  beforeAll(async () => {
    merchant = await service.merchant();
    token = await service.login(merchant.ownerEmail);
  });

  it('records who made each change, from which address and by which request', async () => {
    const call = async (method: string, path: string, body?: object, as = token): Promise<Record<string, string>> => {
      const headers = { 'X-Request-Id': `story-${method}-${path}`.replace(/[^A-Za-z0-9_-]/g, '-').slice(0, 128) };
      const answer = await service.call<Record<string, string>>(method, path, {
        token: as,
        headers,
        ...(body && { body }),
      });
      expect(answer.status).toBeLessThan(300);
      return answer.body;
    };
    const key = await call('POST', '/v1/api-keys', { test: true });
    const rotated = await call('POST', `/v1/api-keys/${key['id']}/rotate`);
    await call('DELETE', `/v1/api-keys/${rotated['id']}`);
    const invited = await call('POST', '/v1/members', { email: `ana-${randomUUID()}@example.com`, role: 'ADMIN' });
    const invitation = await service.mailedToken(String(invited['email']));
    await call('POST', '/v1/auth/accept-invitation', { token: invitation, password: PASSWORD });
    const { data } = (await call('GET', '/v1/members')) as unknown as { data: { id: string; email: string }[] };
    const anaId = data.find(({ email }) => email === invited['email'])?.id ?? '';
    await call('PATCH', `/v1/members/${anaId}`, { role: 'MEMBER' });
    await call('PATCH', `/v1/members/${anaId}`, { role: 'MEMBER' });
    await call('DELETE', `/v1/members/${anaId}`);
    atTheBeginningOfAMinute();
    for (const password of ['wrong', 'wrong too']) {
      await service.call('POST', '/v1/auth/login', { body: { email: merchant.ownerEmail, password } });
    }
    await service.get(AccountsService).set(merchant.accountId, { fee_bps: '150', city: 'Recife' }, CLI);
    await service.get(AccountsService).set(merchant.accountId, { city: 'Recife' }, CLI);
    await service.get(ApiKeysService).issue(merchant.accountId, { mode: 'live', label: null }, CLI);
    const added = { email: `rui-${randomUUID()}@example.com`, password: PASSWORD, role: 'MEMBER' as const };
    await service.get(AccountsService).addMember(merchant.accountId, added, CLI);
    const operator = await service.operator();
    await service
      .get(AccountsService)
      .set(merchant.accountId, { city: 'Natal' }, { ...CLI, type: 'operator', id: operator.userId });
    const other = await service.login(merchant.ownerEmail);
    await call('POST', '/v1/auth/logout', undefined, other);

    await failuresTold();
    const events = await story(token);
    expect(events.map(({ type }) => type)).toEqual([
      'account.created',
      'api_key.issued',
      'api_key.issued',
      'login.succeeded',
      'api_key.issued',
      'api_key.rotated',
      'api_key.revoked',
      'member.invited',
      'member.joined',
      'member.role_changed',
      'member.removed',
      'account.settings_changed',
      'api_key.issued',
      'member.added',
      'account.settings_changed',
      'login.succeeded',
      'logout',
      'login.failed',
    ]);
    const owner = { type: 'member', id: merchant.ownerId, email: merchant.ownerEmail };
    const system = { type: 'system', id: null, email: null };
    const cli = { type: 'cli', id: null, email: null };
    const ana = { type: 'member', id: anaId, email: invited['email'] };
    const anonymous = { type: 'anonymous', id: null, email: null };
    // The merchant must not see e-mail addresses of the platform's staff.
    const staff = { type: 'operator', id: operator.userId, email: null };
    expect(events.map(({ actor }) => actor)).toEqual([
      ...[system, system, system, owner, owner, owner, owner, owner, ana, owner, owner],
      ...[cli, cli, cli, staff, owner, owner, anonymous],
    ]);
    expect(events[4]).toStrictEqual({
      id: expect.any(String),
      object: 'audit_event',
      type: 'api_key.issued',
      actor: owner,
      api_key_fingerprint: key['fingerprint'],
      ip: '127.0.0.1',
      request_id: 'story-POST--v1-api-keys',
      data: { api_key_id: key['id'], mode: 'test' },
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
    expect(events[5]).toMatchObject({
      api_key_fingerprint: rotated['fingerprint'],
      data: { replaced_api_key_id: key['id'], replaced_fingerprint: key['fingerprint'], api_key_id: rotated['id'] },
    });
    expect(events[6]).toMatchObject({ api_key_fingerprint: rotated['fingerprint'] });
    expect(events[7]?.data).toEqual({ invitation_id: invited['id'], role: 'ADMIN' });
    expect(events[8]?.data).toEqual({ invitation_id: invited['id'] });
    expect(events[9]?.data).toEqual({ user_id: anaId, from: 'ADMIN', to: 'MEMBER' });
    expect(events[17]).toMatchObject({
      data: { user_id: merchant.ownerId, count: 2, minute: expect.stringMatching(/:00\.000Z$/) },
      ip: '127.0.0.1',
    });
    expect(events[11]).toMatchObject({
      ip: null,
      request_id: null,
      data: { changes: { fee_bps: { from: 0, to: 150 }, city: { from: 'SAO PAULO', to: 'Recife' } } },
    });
    expect(events[16]?.request_id).toBe('story-POST--v1-auth-logout');
  });

  it('records what a program did under its key', async () => {
    const other = await service.merchant();
    const login = await service.login(other.ownerEmail);
    const key = other.testKey;
    const call = async <T = Record<string, string>>(method: string, path: string, body?: object): Promise<T> => {
      const answer = await service.call<T>(method, path, { key, ...(body && { body }) });
      expect(answer.status).toBeLessThan(300);
      return answer.body;
    };
    const secret = 'path-that-is-a-secret';
    const { id } = await call('POST', '/v1/webhooks/endpoints', {
      url: `https://shop.example/${secret}`,
      events: ['charge.paid'],
    });
    await call('PATCH', `/v1/webhooks/endpoints/${id}`, { url: `https://other.example/${secret}`, status: 'INACTIVE' });
    // A request without a change writes no audit event.
    await call('PATCH', `/v1/webhooks/endpoints/${id}`, {});
    await call('POST', `/v1/webhooks/endpoints/${id}/rotate-secret`);
    await call('DELETE', `/v1/webhooks/endpoints/${id}`);
    expect((await service.call('DELETE', `/v1/webhooks/endpoints/${id}`, { key })).status).toBe(404);
    await call('POST', '/v1/webhooks/default-secret/rotate');
    const paid = await aPaidCharge(service, key, 1000);
    const order = { amount: 300, idempotencyKey: randomUUID() };
    const refund = await call('POST', `/v1/payments/${paymentIdOf(paid)}/refund`, order);
    expect((await call('POST', `/v1/payments/${paymentIdOf(paid)}/refund`, order))['id']).toBe(refund['id']);
    const cases = [await aDisputedCharge(service, key), await aDisputedCharge(service, key)];
    await call('POST', `/v1/med/cases/${cases[0]?.medCase.id}/accept`);
    await call('POST', `/v1/med/cases/${cases[1]?.medCase.id}/appeal`, { reason: 'It was delivered.' });
    expect((await service.call('POST', `/v1/med/cases/${cases[1]?.medCase.id}/accept`, { key })).status).toBe(400);

    const events = (await story(login, '?limit=100&actor=api_key')).map(({ type, data }) => ({ type, data }));
    expect(events).toEqual([
      {
        type: 'webhook_endpoint.registered',
        data: { mode: 'test', endpoint_id: id, host: 'shop.example', events: ['charge.paid'] },
      },
      {
        type: 'webhook_endpoint.changed',
        data: { mode: 'test', endpoint_id: id, host: 'other.example', status: 'INACTIVE' },
      },
      { type: 'webhook_endpoint.secret_rotated', data: { mode: 'test', endpoint_id: id } },
      { type: 'webhook_endpoint.deleted', data: { mode: 'test', endpoint_id: id } },
      { type: 'default_secret.rotated', data: { mode: 'test' } },
      { type: 'refund.requested', data: expect.objectContaining({ mode: 'test', amount: 300 }) },
      { type: 'med_case.accepted', data: { mode: 'test', case_id: cases[0]?.medCase.id.slice(4) } },
      { type: 'med_case.appealed', data: { mode: 'test', case_id: cases[1]?.medCase.id.slice(4) } },
    ]);
    const [first] = await story(login, '?limit=100&actor=api_key');
    expect(first).toMatchObject({
      actor: { type: 'api_key', id: null, email: null },
      api_key_fingerprint: `sha256:${createHash('sha256').update(key).digest('hex').slice(0, 16)}`,
      ip: '127.0.0.1',
      request_id: expect.any(String),
    });
    expect(JSON.stringify(events)).not.toContain(secret);
  });

  it('records repeated tries for an unknown e-mail without the e-mail', async () => {
    const email = `stranger-${randomUUID()}@example.com`;
    for (const password of ['one', 'two', 'three']) {
      atTheBeginningOfAMinute();
      await service.call('POST', '/v1/auth/login', { body: { email, password } });
    }
    await failuresTold();
    const rows = await service.sql<{ text: string; data: { email_hash: string }; account_id: null }>(
      `SELECT a::text AS text, a.data, a.account_id FROM audit_events a
       WHERE type = 'login.failed' ORDER BY id DESC LIMIT 2`,
    );
    expect(rows.map((row) => row.account_id)).toEqual([null, null]);
    expect(rows[0]?.data).toEqual({
      email_hash: expect.stringMatching(/^[0-9a-f]{16}$/),
      count: 1,
      minute: expect.stringMatching(/:00\.000Z$/),
    });
    expect(rows[1]?.data.email_hash).toBe(rows[0]?.data.email_hash);
    expect(rows.filter(({ text }) => text.includes('stranger'))).toEqual([]);
  });

  it('accepts new events and no other change', async () => {
    for (const statement of [
      `UPDATE audit_events SET type = 'logout'`,
      'DELETE FROM audit_events',
      'TRUNCATE audit_events',
      `INSERT INTO audit_events SELECT * FROM audit_events ON CONFLICT (id) DO UPDATE SET type = 'logout'`,
    ]) {
      await expect(service.sql(statement)).rejects.toThrow('append-only');
    }
  });

  it('is written together with its change, or both are not', async () => {
    const keys = async (): Promise<unknown[]> => service.sql('SELECT id FROM api_keys WHERE revoked_at IS NULL');
    const before = await keys();
    const [{ id } = { id: '' }] = await service.sql<{ id: string }>(
      'SELECT id FROM api_keys WHERE account_id = $1 AND revoked_at IS NULL LIMIT 1',
      [merchant.accountId],
    );
    await service.sql(`ALTER TABLE audit_events ADD CONSTRAINT audit_events_closed_check CHECK (false) NOT VALID`);
    try {
      const post = (path: string): Promise<Answer> => service.call('POST', path, { token });
      expect((await post('/v1/api-keys')).status).toBe(500);
      expect((await post(`/v1/api-keys/${id}/rotate`)).status).toBe(500);
      expect((await service.call('DELETE', `/v1/api-keys/${id}`, { token })).status).toBe(500);
      expect((await post('/v1/auth/logout')).status).toBe(500);
      const email = `nobody-${randomUUID()}@example.com`;
      const invited = await service.call('POST', '/v1/members', { token, body: { email, role: 'MEMBER' } });
      expect(invited.status).toBe(500);
      expect(await service.sql('SELECT 1 FROM users WHERE email = $1', [email])).toEqual([]);
      await expect(service.get(AccountsService).set(merchant.accountId, { city: 'Olinda' }, CLI)).rejects.toThrow();
      expect((await service.get(AccountsService).get(merchant.accountId)).city).toBe('Natal');
    } finally {
      await service.sql('ALTER TABLE audit_events DROP CONSTRAINT audit_events_closed_check');
    }
    expect(await keys()).toEqual(before);
    expect((await page(token)).status).toBe(200);
  });
});

describe('GET /v1/audit-events', () => {
  let merchant: Merchant;
  let token: string;

  beforeAll(async () => {
    merchant = await service.merchant();
    token = await service.login(merchant.ownerEmail);
    for (let index = 0; index < 4; index++) await service.call('POST', '/v1/api-keys', { token });
  });

  it('pages newest first without gaps or repetitions', async () => {
    const all = (await page(token)).body;
    expect(all).toMatchObject({ object: 'list', has_more: false, next_cursor: null });
    expect(all.data).toHaveLength(8);
    const seen: string[] = [];
    let cursor = '';
    for (let turn = 0; turn < 3; turn++) {
      const { body } = await page(token, `?limit=3${cursor}`);
      seen.push(...body.data.map(({ id }) => id));
      expect(body.has_more).toBe(turn < 2);
      expect(body.next_cursor).toBe(turn < 2 ? body.data.at(-1)?.id : null);
      cursor = `&starting_after=${body.next_cursor}`;
    }
    expect(seen).toEqual(all.data.map(({ id }) => id));
  });

  it('filters by type, actor and time', async () => {
    const types = async (query: string): Promise<string[]> => [
      ...new Set((await page(token, query)).body.data.map(({ type }) => type)),
    ];
    expect(await types('?type=account.created')).toEqual(['account.created']);
    expect(await types('?type=logout')).toEqual([]);
    expect(await types(`?actor=${merchant.ownerId}`)).toEqual(['api_key.issued', 'login.succeeded']);
    expect(await types('?actor=system')).toEqual(['api_key.issued', 'account.created']);
    expect(await types(`?actor=${randomUUID()}`)).toEqual([]);
    const { data } = (await page(token)).body;
    const third = data[2]?.created_at ?? '';
    const after = (await page(token, `?created_after=${third}`)).body.data;
    const before = (await page(token, `?created_before=${third}`)).body.data;
    expect(after.every((event) => event.created_at >= third) && after.some(({ id }) => id === data[2]?.id)).toBe(true);
    expect(before.every((event) => event.created_at <= third) && before.some(({ id }) => id === data[2]?.id)).toBe(
      true,
    );
  });

  it.each([
    'limit=0',
    'limit=101',
    'limit=1e1',
    'type=everything',
    'actor=nobody',
    'created_after=yesterday',
    'created_before=2026-01-01T00:00',
    'starting_after=1',
    `starting_after=${randomUUID()}`,
    'page=2',
  ])('answers %s with a 400', async (query) => {
    const answer = await page(token, `?${query}`);
    expect(answer.status).toBe(400);
    expect(answer.body['error']).toMatchObject({ code: 'invalid_request' });
  });

  it('is open to OWNERs and ADMINs, each for their own account', async () => {
    const stranger = await service.merchant();
    const theirs = await service.login(stranger.ownerEmail);
    const mine = (await page(token)).body.data.map(({ id }) => id);
    expect((await page(theirs)).body.data.filter(({ id }) => mine.includes(id))).toEqual([]);
    expect((await page(theirs, `?starting_after=${mine[0]}`)).status).toBe(400);
    expect((await page((await service.member(merchant.accountId, 'ADMIN')).token)).status).toBe(200);
    expect((await page((await service.member(merchant.accountId, 'MEMBER')).token)).status).toBe(403);
    expect((await page((await service.operator()).token)).status).toBe(403);
  });
});
