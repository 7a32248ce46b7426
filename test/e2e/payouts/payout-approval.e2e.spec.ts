import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Secret, TOTP } from 'otpauth';
import { expectLedgerCoherent } from '../../support/coherence.js';
import {
  aFundedMerchant,
  aPayout,
  CPF,
  OTHER_CPF,
  payoutOf,
  readPayout,
  type PayoutOrError,
  requestPayout,
  wallet,
} from '../../support/payouts.js';
import { type Answer, type Merchant, PASSWORD, type Person, TestClock, TestService } from '../../support/service.js';

interface Destination extends Record<string, unknown> {
  id: string;
  approved_at: string | null;
}

describe('approval of payouts by a second person', () => {
  const service = TestService.forSpec();
  let merchant: Merchant;
  let owner: Person;
  let admin: Person;
  let member: Person;

  beforeEach(async () => {
    merchant = await aFundedMerchant(service, { payout_approval_above: 1_000 });
    owner = await service.member(merchant.accountId, 'OWNER');
    admin = await service.member(merchant.accountId, 'ADMIN');
    member = await service.member(merchant.accountId, 'MEMBER');
  });
  afterEach(async () => {
    await expectLedgerCoherent(service.database.url);
  });

  const at = (
    person: Person,
    method: string,
    path: string,
    body?: Record<string, unknown>,
    headers: Record<string, string> = {},
  ): Promise<Answer<PayoutOrError>> =>
    service.call<PayoutOrError>(method, `/v1/dashboard/test/${path}`, {
      token: person.token,
      ...(body === undefined ? {} : { body }),
      headers,
    });
  const decide = (person: Person, id: string, what: 'approve' | 'refuse'): Promise<Answer<PayoutOrError>> =>
    at(person, 'POST', `payouts/${id}/${what}`, {});
  const codeOf = ({ status, body }: Answer<PayoutOrError>): string => `${status} ${body.error?.code}`;
  const ask = async (person: Person, amount = 2_000): Promise<string> => {
    const body = { amount, destination: { type: 'pix_key', key: CPF } };
    const answer = await at(person, 'POST', 'payouts', body, { 'Idempotency-Key': `ask-${person.userId}-${amount}` });
    if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
    return answer.body.id;
  };

  it('is needed above the amount of the account, and not at it', async () => {
    expect((await aPayout(service, merchant.testKey, { amount: 1_000 })).approval).toBeUndefined();
    const payout = await aPayout(service, merchant.testKey, { amount: 1_001 });
    expect(payout).toMatchObject({ status: 'pending', approval: { status: 'waiting' } });
    expect(await wallet(service, merchant.accountId)).toMatchObject({ available: 10_000 - 2_001 });
  });

  it('sends the payout when another OWNER or ADMIN approves it', async () => {
    const id = await ask(admin);
    expect(codeOf(await decide(admin, id, 'approve'))).toBe('403 approval_not_allowed');
    expect(codeOf(await decide(member, id, 'approve'))).toBe('403 forbidden');
    expect((await decide(owner, id, 'approve')).status).toBe(200);
    await payoutOf(service, merchant.testKey, id, 'paid');
    const audited = await service.sql<{ type: string }>(
      `SELECT type FROM audit_events WHERE account_id = $1 AND data ->> 'payout_id' = $2 ORDER BY id`,
      [merchant.accountId, id.slice(3)],
    );
    expect(audited.map(({ type }) => type)).toEqual(['payout.requested', 'payout.approved']);
  });

  it('is one when two approve at once, and none after a cancellation or refusal', async () => {
    const id = await ask(admin);
    const both = await Promise.all([decide(owner, id, 'approve'), decide(owner, id, 'approve')]);
    expect(both.map(({ status }) => status)).toEqual([200, 200]);
    await payoutOf(service, merchant.testKey, id, 'paid');

    const cancelled = await ask(admin, 2_001);
    await service.call('POST', `/v1/payouts/${cancelled}/cancel`, { key: merchant.testKey });
    expect(codeOf(await decide(owner, cancelled, 'approve'))).toBe('409 payout_not_waiting');

    const refused = await ask(admin, 2_002);
    const { body } = await decide(owner, refused, 'refuse');
    expect([body.status, body.failure?.reason]).toEqual(['cancelled', 'approval_refused']);
    expect(codeOf(await decide(owner, refused, 'approve'))).toBe('409 payout_not_waiting');
  });

  it('has no route for API keys', async () => {
    const id = await ask(admin);
    for (const what of ['approve', 'refuse']) {
      const answer = await service.call('POST', `/v1/payouts/${id}/${what}`, { key: merchant.testKey, body: {} });
      expect(answer.status).toBe(404);
    }
  });

  it('needs a fresh code of people with a second factor, and takes each code once', async () => {
    const call = (path: string, body: object): Promise<Answer<{ secret: string; recovery_codes: string[] }>> =>
      service.call('POST', `/v1/auth/totp${path}`, { token: owner.token, body });
    const codeAt = (secret: string): string =>
      new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: service.clock.now().getTime() });
    const { secret } = (await call('', { password: PASSWORD })).body;
    const used = codeAt(secret);
    const { recovery_codes: recovery } = (await call('/confirm', { code: used })).body;
    const ids = [await ask(admin), await ask(admin, 2_001), await ask(admin, 2_002)];
    const decideWith = async (id: string | undefined, what: string, body: object): Promise<string> => {
      const answer = await at(owner, 'POST', `payouts/${id}/${what}`, { ...body });
      return answer.status === 200 ? '200' : codeOf(answer);
    };
    const wrong = codeAt(secret) === '000000' ? '000001' : '000000';
    for (const what of ['approve', 'refuse']) {
      expect(await decideWith(ids[0], what, {})).toBe('400 second_factor_required');
      expect(await decideWith(ids[0], what, { code: wrong })).toBe('400 invalid_request');
      expect(await decideWith(ids[0], what, { code: used })).toBe('400 invalid_request');
    }
    expect((await readPayout(service, merchant.testKey, String(ids[0]))).approval).toEqual({ status: 'waiting' });
    service.clock.advance(30);
    const code = codeAt(secret);
    expect(await decideWith(ids[0], 'approve', { code })).toBe('200');
    await payoutOf(service, merchant.testKey, String(ids[0]), 'paid');
    expect(await decideWith(ids[1], 'approve', { code })).toBe('400 invalid_request');
    service.clock.advance(30);
    expect(await decideWith(ids[1], 'refuse', { code: codeAt(secret) })).toBe('200');
    expect(await decideWith(ids[2], 'approve', { code: recovery[0] })).toBe('200');
    const { body: destination } = await service.call<Destination>('POST', '/v1/payout-destinations', {
      key: merchant.testKey,
      body: { type: 'pix_key', key: OTHER_CPF },
    });
    const path = `payout-destinations/${destination.id}/approve`;
    expect(codeOf(await at(owner, 'POST', path, {}))).toBe('400 second_factor_required');
    expect(codeOf(await at(owner, 'POST', path, { code: recovery[0] }))).toBe('400 invalid_request');
    expect((await at(owner, 'POST', path, { code: recovery[1] })).status).toBe(200);
  });

  it('leaves a right code unused when the decision is refused', async () => {
    const mine = await ask(owner, 2_001);
    const begun = await service.call<{ secret: string }>('POST', '/v1/auth/totp', {
      token: owner.token,
      body: { password: PASSWORD },
    });
    const codeNow = (): string =>
      new TOTP({ secret: Secret.fromBase32(begun.body.secret) }).generate({ timestamp: service.clock.now().getTime() });
    await service.call('POST', '/v1/auth/totp/confirm', { token: owner.token, body: { code: codeNow() } });
    service.clock.advance(30);
    const code = codeNow();
    expect(codeOf(await at(owner, 'POST', `payouts/${mine}/approve`, { code }))).toBe('403 approval_not_allowed');
    const theirs = await ask(admin);
    expect((await at(owner, 'POST', `payouts/${theirs}/approve`, { code })).status).toBe(200);
  });

  it('is refused to the person who issued the key of the request', async () => {
    const { body: issued } = await service.call<{ apiKey: string }>('POST', '/v1/api-keys', {
      token: owner.token,
      body: { test: true, label: 'Payouts' },
    });
    const payout = await aPayout(service, issued.apiKey, { amount: 2_000 });
    expect(codeOf(await decide(owner, payout.id, 'approve'))).toBe('403 approval_not_allowed');
    expect((await decide(admin, payout.id, 'approve')).status).toBe(200);
  });

  it('is refused to the person who approved the destination', async () => {
    const { body: destination } = await service.call<Destination>('POST', '/v1/payout-destinations', {
      key: merchant.testKey,
      body: { type: 'pix_key', key: OTHER_CPF, label: 'Principal' },
    });
    expect(codeOf(await at(admin, 'POST', `payout-destinations/${destination.id}/approve`, {}))).toBe('403 forbidden');
    const approved = await at(owner, 'POST', `payout-destinations/${destination.id}/approve`, {});
    expect((approved.body as unknown as Destination).approved_at).not.toBeNull();
    const payout = await aPayout(service, merchant.testKey, { amount: 2_000, destination: destination.id });
    expect(codeOf(await decide(owner, payout.id, 'approve'))).toBe('403 approval_not_allowed');
    expect((await decide(admin, payout.id, 'approve')).status).toBe(200);
    await payoutOf(service, merchant.testKey, payout.id, 'paid');
  });

  it('by an OWNER ends the wait for a new destination', async () => {
    const slow = await aFundedMerchant(service, { payout_new_destination_hours: 24 });
    const boss = await service.member(slow.accountId, 'OWNER');
    const helper = await service.member(slow.accountId, 'ADMIN');
    const payout = await aPayout(service, slow.testKey);
    expect(payout.send_after).toBeDefined();
    expect(codeOf(await decide(helper, payout.id, 'approve'))).toBe('409 payout_not_waiting');
    expect((await decide(boss, payout.id, 'approve')).status).toBe(200);
    await payoutOf(service, slow.testKey, payout.id, 'paid');
  });

  it('ends the wait of an own payout for an OWNER with a second factor, and tells one without to set it up', async () => {
    const slow = await aFundedMerchant(service, { payout_new_destination_hours: 24, payout_approval_above: 1_000 });
    const boss = await service.member(slow.accountId, 'OWNER');
    const helper = await service.member(slow.accountId, 'ADMIN');
    const mine = async (person: Person, amount: number): Promise<string> => {
      const body = { amount, destination: { type: 'pix_key', key: CPF } };
      const key = { 'Idempotency-Key': `own-${person.userId}-${amount}` };
      return (await at(person, 'POST', 'payouts', body, key)).body.id;
    };
    const [id, large, theirs] = [await mine(boss, 500), await mine(boss, 1_001), await mine(helper, 501)];
    const refused = await decide(boss, id, 'approve');
    expect([codeOf(refused), refused.body.error.message]).toEqual([
      '403 approval_not_allowed',
      expect.stringContaining('set up a second factor'),
    ]);
    const begun = await service.call<{ secret: string }>('POST', '/v1/auth/totp', {
      token: boss.token,
      body: { password: PASSWORD },
    });
    const codeNow = (): string =>
      new TOTP({ secret: Secret.fromBase32(begun.body.secret) }).generate({ timestamp: service.clock.now().getTime() });
    await service.call('POST', '/v1/auth/totp/confirm', { token: boss.token, body: { code: codeNow() } });
    expect(codeOf(await decide(boss, id, 'approve'))).toBe('400 second_factor_required');
    service.clock.advance(30);
    const code = codeNow();
    const withCode = (payout: string, what: string): Promise<Answer<PayoutOrError>> =>
      at(boss, 'POST', `payouts/${payout}/${what}`, { code });
    // A second person is due above the approval amount, and for a refusal.
    expect(codeOf(await withCode(large, 'approve'))).toBe('403 approval_not_allowed');
    expect(codeOf(await withCode(id, 'refuse'))).toBe('403 approval_not_allowed');
    expect(codeOf(await decide(helper, theirs, 'approve'))).toBe('403 approval_not_allowed');
    expect((await withCode(id, 'approve')).status).toBe(200);
    await payoutOf(service, slow.testKey, id, 'paid');
  });

  it('releases all waiting payouts to a receiver when an OWNER approves its saved destination', async () => {
    const slow = await aFundedMerchant(service, { payout_new_destination_hours: 24, payout_approval_above: 1_000 });
    const boss = await service.member(slow.accountId, 'OWNER');
    const helper = await service.member(slow.accountId, 'ADMIN');
    const { body: destination } = await service.call<Destination>('POST', '/v1/payout-destinations', {
      key: slow.testKey,
      body: { type: 'pix_key', key: OTHER_CPF },
    });
    const inline = { type: 'pix_key', key: OTHER_CPF };
    const saved = await aPayout(service, slow.testKey, { amount: 501, destination: destination.id });
    const named = await aPayout(service, slow.testKey, { amount: 502, destination: inline });
    const large = await aPayout(service, slow.testKey, { amount: 1_001, destination: inline });
    const other = await aPayout(service, slow.testKey, { amount: 503 });
    expect((await at(boss, 'POST', `payout-destinations/${destination.id}/approve`, {})).status).toBe(200);
    await payoutOf(service, slow.testKey, saved.id, 'paid');
    await payoutOf(service, slow.testKey, named.id, 'paid');
    expect((await readPayout(service, slow.testKey, large.id)).approval).toEqual({ status: 'waiting' });
    expect((await decide(helper, large.id, 'approve')).status).toBe(200);
    await payoutOf(service, slow.testKey, large.id, 'paid');
    expect(await readPayout(service, slow.testKey, other.id)).toMatchObject({
      status: 'pending',
      send_after: other.send_after,
    });
  });

  it('lets an inline payout to an approved destination go at once, until the destination is deleted', async () => {
    const slow = await aFundedMerchant(service, { payout_new_destination_hours: 24 });
    const boss = await service.member(slow.accountId, 'OWNER');
    const inline = { type: 'pix_key', key: OTHER_CPF };
    const approved = async (): Promise<string> => {
      const { body } = await service.call<Destination>('POST', '/v1/payout-destinations', {
        key: slow.testKey,
        body: inline,
      });
      expect((await at(boss, 'POST', `payout-destinations/${body.id}/approve`, {})).status).toBe(200);
      return body.id;
    };
    await service.call('DELETE', `/v1/payout-destinations/${await approved()}`, { key: slow.testKey });
    expect((await aPayout(service, slow.testKey, { amount: 501, destination: inline })).send_after).toBeDefined();
    await approved();
    expect((await aPayout(service, slow.testKey, { amount: 502, destination: inline })).send_after).toBeUndefined();
  });

  it('saves a destination once, masked, and deletes it', async () => {
    const save = (): Promise<Answer<Destination>> =>
      service.call<Destination>('POST', '/v1/payout-destinations', {
        key: merchant.testKey,
        body: { type: 'pix_key', key: 'ana@example.com', tax_id: CPF },
      });
    const { status, body } = await save();
    expect([status, body]).toEqual([
      201,
      {
        id: expect.stringMatching(/^pd_/),
        object: 'payout_destination',
        type: 'pix_key',
        key: 'a***@example.com',
        key_type: 'email',
        tax_id: '***.982.247-**',
        approved_at: null,
        created_at: expect.any(String),
      },
    ]);
    expect((await save()).body.id).toBe(body.id);
    const path = `/v1/payout-destinations/${body.id}`;
    expect((await service.call('GET', path, { key: merchant.testKey })).body).toEqual(body);
    const stranger = await service.merchant();
    expect((await service.call('GET', path, { key: stranger.testKey })).status).toBe(404);
    expect((await service.call('DELETE', path, { key: stranger.testKey })).status).toBe(404);
    const asked = [{ destination: body.id }, 'before-the-deletion'] as const;
    const payout = await requestPayout(service, merchant.testKey, ...asked);
    expect(payout.status).toBe(201);
    expect((await service.call('DELETE', path, { key: merchant.testKey })).status).toBe(204);
    // The key is permanent: its repetition gets the first answer.
    expect(await requestPayout(service, merchant.testKey, ...asked)).toMatchObject({ status: 201, body: payout.body });
    expect((await service.call('GET', path, { key: merchant.testKey })).status).toBe(404);
    expect((await requestPayout(service, merchant.testKey, { destination: body.id })).status).toBe(422);
  });
});

describe('guessing the codes of decisions in a stolen session', () => {
  const clock = new TestClock().stand();
  const service = TestService.forSpec({ clock, env: { RATE_LIMIT: 'on' }, clockLimits: true });
  let merchant: Merchant;
  let owner: Person;
  let secret: string;
  let ids: string[];

  beforeEach(async () => {
    merchant = await aFundedMerchant(service, { payout_approval_above: 1_000 });
    owner = await service.member(merchant.accountId, 'OWNER');
    const call = (path: string, body: object): Promise<Answer<{ secret: string }>> =>
      service.call('POST', `/v1/auth/totp${path}`, { token: owner.token, body });
    ({ secret } = (await call('', { password: PASSWORD })).body);
    await call('/confirm', { code: codeAt(0) });
    clock.advance(30);
    ids = [];
    for (const amount of [2_000, 2_001]) ids.push((await aPayout(service, merchant.testKey, { amount })).id);
  });

  /** Returns the code of this half minute, or one that is wrong for the next hour. */
  const codeAt = (wrong: 0 | 1): string => {
    const totp = new TOTP({ secret: Secret.fromBase32(secret) });
    const at = (step: number): string => totp.generate({ timestamp: clock.now().getTime() + step * 30_000 });
    if (wrong === 0) return at(0);
    const right = new Set(Array.from({ length: 122 }, (_, step) => at(step - 1)));
    return ['000000', '000001', '000002', '000003'].find((code) => !right.has(code)) ?? '000004';
  };
  const decide = (path: string, code: string): Promise<Answer<PayoutOrError>> =>
    service.call<PayoutOrError>('POST', `/v1/dashboard/test/${path}`, { token: owner.token, body: { code } });
  const guess = async (path: string, times: number): Promise<number[]> => {
    const answers = await Promise.all(Array.from({ length: times }, () => decide(path, codeAt(1))));
    return answers.map(({ status }) => status).sort((a, b) => a - b);
  };

  it('tries 10 of 64 codes sent at once, and refuses the right code for 15 minutes', async () => {
    const path = `payouts/${ids[0]}/approve`;
    expect(await guess(path, 64)).toEqual([...Array<number>(10).fill(400), ...Array<number>(54).fill(429)]);
    expect(await service.mailTo(owner.email)).toContain('Somebody logged in as');
    clock.advance(890);
    const refused = await decide(path, codeAt(0));
    expect(refused.status).toBe(429);
    expect(refused.body.error).toMatchObject({ type: 'rate_limit_error', code: 'rate_limited' });
    expect(refused.headers.get('retry-after')).toBe('10');
    expect((await readPayout(service, merchant.testKey, String(ids[0]))).approval).toEqual({ status: 'waiting' });
    clock.advance(11);
    expect((await decide(path, codeAt(0))).status).toBe(200);
  });

  it('counts approvals, refusals and destinations together, and logins apart', async () => {
    const { body: destination } = await service.call<Destination>('POST', '/v1/payout-destinations', {
      key: merchant.testKey,
      body: { type: 'pix_key', key: OTHER_CPF },
    });
    const paths = [
      `payouts/${ids[0]}/approve`,
      `payouts/${ids[0]}/refuse`,
      `payout-destinations/${destination.id}/approve`,
    ];
    expect((await Promise.all(paths.map((path) => guess(path, 3)))).flat()).toEqual(Array<number>(9).fill(400));
    expect(await guess(String(paths[0]), 1)).toEqual([400]);
    for (const path of paths) expect((await decide(path, codeAt(0))).status).toBe(429);
    const login = { email: owner.email, password: PASSWORD, code: codeAt(0) };
    expect((await service.call('POST', '/v1/auth/login', { body: login })).status).toBe(200);
  });

  it('counts no right code, also when the decision is refused', async () => {
    expect(await guess(`payouts/${ids[0]}/approve`, 9)).toEqual(Array<number>(9).fill(400));
    for (const status of [200, 200, 200]) {
      expect((await decide(`payouts/${ids[0]}/approve`, codeAt(0))).status).toBe(status);
      clock.advance(30);
    }
    for (const _ of [1, 2]) expect((await decide(`payouts/${ids[0]}/refuse`, codeAt(0))).status).toBe(409);
    expect((await decide(`payouts/${ids[1]}/approve`, codeAt(0))).status).toBe(200);
  });
});
