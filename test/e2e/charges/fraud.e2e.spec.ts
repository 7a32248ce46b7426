import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Retention } from '../../../src/core/retention.js';
import { expectLedgerCoherent } from '../../support/coherence.js';
import { refundEnd, requestRefund } from '../../support/refunds.js';
import { type Answer, type ChargeAnswer, type Merchant, type Person, TestService } from '../../support/service.js';
import { waitFor } from '../../support/wait.js';

const MARIA = '52998224725';
const JOAO = '11144477735';

interface Refusal extends ChargeAnswer {
  error: { type: string; code: string; message: string };
}
interface Hit extends Record<string, unknown> {
  code: string;
  enforced: boolean;
}

const service = TestService.forSpec();
let operator: Person;
let merchant: Merchant;

beforeAll(async () => {
  operator = await service.operator();
});
beforeEach(async () => {
  merchant = await service.merchant();
});
afterEach(() => expectLedgerCoherent(service.database.url));

function charge(
  body: Record<string, unknown> = {},
  idempotencyKey?: string,
  key = merchant.testKey,
): Promise<Answer<Refusal>> {
  return service.createCharge<Refusal>(key, body, idempotencyKey);
}
const of = (document: string): Record<string, unknown> => ({ customer: { document } });

async function set(settings: Record<string, unknown>, accountId = merchant.accountId): Promise<void> {
  const answer = await service.call('PATCH', `/v1/operations/accounts/${accountId}`, {
    token: operator.token,
    body: settings,
  });
  expect(answer.status).toBe(200);
}

async function hits(count: number, accountId = merchant.accountId): Promise<Hit[]> {
  return waitFor(`${count} hits`, async () => {
    const { body } = await service.call<{ data: Hit[] }>('GET', `/v1/operations/fraud-hits?account_id=${accountId}`, {
      token: operator.token,
    });
    return body.data.length >= count ? body.data : null;
  });
}

async function charges(): Promise<number> {
  const [row] = await service.sql<{ count: string }>('SELECT count(*) FROM transactions WHERE account_id = $1', [
    merchant.accountId,
  ]);
  return Number(row?.count);
}

function expectRefused(answer: Answer<Refusal>, code: string): void {
  expect({ status: answer.status, type: answer.body.error.type, code: answer.body.error.code }).toEqual({
    status: 403,
    type: 'fraud_error',
    code,
  });
  expect(answer.text).not.toMatch(/52998224725|11144477735/);
}

async function fill(document: string, count: number): Promise<void> {
  const answers = await Promise.all(Array.from({ length: count }, () => charge(of(document))));
  expect(answers.map(({ status }) => status)).toEqual(Array<number>(count).fill(201));
}

describe('the velocity rule of the fraud guard', () => {
  it('allows thirty charges a minute for one document, and refuses the next with the time to wait', async () => {
    await fill(MARIA, 30);
    const refused = await charge(of('529.982.247-25'));
    expectRefused(refused, 'fraud.velocity_exceeded');
    const wait = Number(refused.headers.get('retry-after'));
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(60);
    expect(await charges()).toBe(30);
  });

  it('counts each document, account and mode separately, and no charge without a document', async () => {
    await set({ fraud_velocity: 1 });
    const other = await service.merchant({ fraud_velocity: '1' });
    expect((await charge(of(MARIA))).status).toBe(201);
    expectRefused(await charge(of(MARIA)), 'fraud.velocity_exceeded');
    expect((await charge(of(JOAO))).status).toBe(201);
    expect((await charge(of(MARIA), undefined, other.testKey)).status).toBe(201);
    for (let count = 0; count < 3; count++) expect((await charge()).status).toBe(201);
    // The guard counts live charges separately and lets this one in. The 422 says that no live acquirer is set.
    expect((await charge(of(MARIA), undefined, merchant.liveKey)).status).toBe(422);
  });

  it('uses the document of the payer lock as the customer’s', async () => {
    await set({ fraud_velocity: 1 });
    const locked = { customer: { name: 'Maria' }, expected_payer_tax_id: MARIA };
    expect((await charge(of(MARIA))).status).toBe(201);
    expectRefused(await charge(locked), 'fraud.velocity_exceeded');
  });

  it('counts no repetition of a request, and refuses none', async () => {
    await set({ fraud_velocity: 3 });
    const first = await charge(of(MARIA), 'repeated-1');
    for (let count = 0; count < 10; count++) {
      const again = await charge(of(MARIA), 'repeated-1');
      expect({ status: again.status, id: again.body.id }).toEqual({ status: 201, id: first.body.id });
    }
    await fill(MARIA, 2);
    expectRefused(await charge(of(MARIA), 'repeated-2'), 'fraud.velocity_exceeded');
    const replayed = await charge(of(MARIA), 'repeated-1');
    expect(replayed.headers.get('idempotent-replayed')).toBe('true');
    expect(replayed.body).toEqual(first.body);
    // The key is refused before the guard is asked, although the document is over its limit.
    const reused = await charge({ ...of(MARIA), amount: 1 }, 'repeated-1');
    expect({ status: reused.status, code: reused.body.error.code }).toEqual({
      status: 409,
      code: 'idempotency_key_reused',
    });
  });

  it('counts simultaneous repetitions as one request', async () => {
    await set({ fraud_velocity: 2 });
    expect((await charge(of(MARIA))).status).toBe(201);
    const twins = await Promise.all(Array.from({ length: 8 }, () => charge(of(MARIA), 'twins-of-one')));
    expect(twins.map(({ status }) => status)).toEqual(Array<number>(8).fill(201));
    expect(new Set(twins.map(({ body }) => body.id)).size).toBe(1);
    expect(await charges()).toBe(2);
    expectRefused(await charge(of(MARIA)), 'fraud.velocity_exceeded');
  });

  it('counts no request that was refused, by the guard or by anything else', async () => {
    await set({ fraud_velocity: 2, fraud_max_amount: 5_000 });
    for (let count = 0; count < 3; count++) {
      expectRefused(await charge({ ...of(MARIA), amount: 5_001 }), 'fraud.amount_limit_exceeded');
      expect((await charge({ ...of(MARIA), amount: 0 })).status).toBe(400);
      const reused = `reused-${String(count)}`;
      await charge(of(JOAO), reused);
      expect((await charge(of(MARIA), reused)).status).toBe(count < 2 ? 409 : 201);
    }
    expect((await charge(of(MARIA))).status).toBe(201);
    expectRefused(await charge(of(MARIA)), 'fraud.velocity_exceeded');
  });
});

describe('the fraud guard on a refund of an earlier sale', () => {
  const DESTINATION = '529.982.247-25';

  async function paid(document: string): Promise<string> {
    const { body } = await charge({ ...of(document), amount: 10_000 });
    await service.simulate(merchant.testKey, body.id, { event: 'pay' });
    return body.id;
  }

  it('allows it, whatever the rules for new sales now say', async () => {
    const sale = await paid(JOAO);
    await set({ fraud_max_amount: 1, fraud_blocked_documents: [JOAO] });
    expectRefused(await charge(of(JOAO)), 'fraud.document_blocked');
    const accepted = await requestRefund(service, merchant.testKey, sale, { amount: 9_000 });
    expect([accepted.status, accepted.body.amount]).toEqual([201, 9_000]);
    const rest = await requestRefund(service, merchant.testKey, sale);
    expect([rest.status, rest.body.amount]).toEqual([201, 1_000]);
    await refundEnd(service, merchant.testKey, accepted.body);
    await refundEnd(service, merchant.testKey, rest.body);
  });

  it('refuses to send it to a blocked document, however the key is written', async () => {
    const sale = await paid(JOAO);
    await set({ fraud_blocked_documents: [MARIA] });
    for (const destinationKey of [MARIA, DESTINATION]) {
      const refused = await requestRefund(service, merchant.testKey, sale, { destinationKey });
      expect([refused.status, refused.body.error?.code]).toEqual([403, 'fraud.document_blocked']);
    }
    expect(await hits(2)).toMatchObject([{ operation: 'refund' }, { operation: 'refund' }]);
    const accepted = await requestRefund(service, merchant.testKey, sale, { destinationKey: JOAO });
    expect(accepted.status).toBe(201);
    await refundEnd(service, merchant.testKey, accepted.body);
  });
});

describe('a refusal by the fraud guard', () => {
  it('leaves the idempotency key free for the same request, once it is allowed', async () => {
    await set({ fraud_max_amount: 1_000, fraud_velocity: 1, fraud_blocked_documents: [JOAO] });
    expectRefused(await charge({ ...of(MARIA), amount: 1_001 }, 'refused-amount'), 'fraud.amount_limit_exceeded');
    expectRefused(await charge({ ...of(JOAO), amount: 1_000 }, 'refused-document'), 'fraud.document_blocked');
    expect((await charge({ ...of(MARIA), amount: 1_000 })).status).toBe(201);
    expectRefused(await charge({ ...of(MARIA), amount: 1_000 }, 'refused-velocity'), 'fraud.velocity_exceeded');
    const keys = `SELECT key FROM idempotency_keys WHERE account_id = $1 AND key LIKE 'refused-%'`;
    expect(await service.sql(keys, [merchant.accountId])).toEqual([]);
    expect(await charges()).toBe(1);

    await set({ fraud_max_amount: null, fraud_velocity: 30, fraud_blocked_documents: [] });
    for (const [body, key] of [
      [{ ...of(MARIA), amount: 1_001 }, 'refused-amount'],
      [{ ...of(JOAO), amount: 1_000 }, 'refused-document'],
      [{ ...of(MARIA), amount: 1_000 }, 'refused-velocity'],
    ] as const) {
      const answer = await charge(body, key);
      expect({ status: answer.status, replayed: answer.headers.get('idempotent-replayed') }).toEqual({
        status: 201,
        replayed: null,
      });
    }
  });

  it('does not undo an allowed request: a replay after the rules have changed is the same 201', async () => {
    const first = await charge({ ...of(MARIA), amount: 9_000 }, 'before-the-rules');
    await set({ fraud_max_amount: 100, fraud_blocked_documents: [MARIA] });
    expectRefused(await charge({ ...of(MARIA), amount: 9_000 }, 'after-the-rules'), 'fraud.document_blocked');
    const again = await charge({ ...of(MARIA), amount: 9_000 }, 'before-the-rules');
    expect({ status: again.status, body: again.body }).toEqual({ status: 201, body: first.body });
  });

  it('is recorded for operators, with the document masked', async () => {
    await set({ fraud_max_amount: 1_000, fraud_blocked_documents: [MARIA] });
    expectRefused(await charge({ ...of(MARIA), amount: 500 }), 'fraud.document_blocked');
    expectRefused(await charge({ amount: 1_001 }), 'fraud.amount_limit_exceeded');
    const [second, first] = await hits(2);
    expect(first).toStrictEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      object: 'fraud_hit',
      account_id: merchant.accountId,
      mode: 'test',
      code: 'fraud.document_blocked',
      enforced: true,
      operation: 'charge',
      amount: 500,
      document: '***.982.247-**',
      created_at: expect.stringMatching(/Z$/),
    });
    expect(second).toMatchObject({ code: 'fraud.amount_limit_exceeded', document: null, amount: 1_001 });
    const rows = await service.sql<{ row: string }>('SELECT h::text AS row FROM fraud_hits h');
    expect(rows.filter(({ row }) => row.includes(MARIA))).toEqual([]);
    expect((await service.call('GET', '/metrics')).text).toMatch(
      /recebe_fraud_hits_total\{code="fraud.document_blocked",enforced="true"\} \d+/,
    );
  });
});

describe('the shadow mode of the fraud guard', () => {
  it('refuses nothing and records every hit, each rule separately', async () => {
    await set({ fraud_mode: 'shadow', fraud_velocity: 1, fraud_max_amount: 10, fraud_blocked_documents: [MARIA] });
    for (let count = 0; count < 2; count++) expect((await charge({ ...of(MARIA), amount: 11 })).status).toBe(201);
    const found = await hits(5);
    expect(found.map(({ code, enforced }) => `${code} ${String(enforced)}`).sort()).toEqual([
      'fraud.amount_limit_exceeded false',
      'fraud.amount_limit_exceeded false',
      'fraud.document_blocked false',
      'fraud.document_blocked false',
      'fraud.velocity_exceeded false',
    ]);
    expect(await charges()).toBe(2);
  });

  it('differs from off, which records no hits', async () => {
    await set({ fraud_mode: 'off', fraud_velocity: 1, fraud_max_amount: 10, fraud_blocked_documents: [MARIA] });
    for (let count = 0; count < 3; count++) expect((await charge({ ...of(MARIA), amount: 11 })).status).toBe(201);
    await set({ fraud_mode: 'enforce' });
    expectRefused(await charge(of(MARIA)), 'fraud.document_blocked');
    expect(await hits(1)).toHaveLength(1);
  });
});

describe('the records of fraud hits', () => {
  it('are listed for one account when requested, and otherwise for all', async () => {
    const other = await service.merchant({ fraud_max_amount: '1' });
    await set({ fraud_max_amount: 1 });
    await charge({ amount: 2 });
    await charge({ amount: 3 }, undefined, other.testKey);
    expect((await hits(1)).map(({ amount }) => amount)).toEqual([2]);
    expect((await hits(1, other.accountId)).map(({ amount }) => amount)).toEqual([3]);
    const { body } = await service.call<{ data: Hit[] }>('GET', '/v1/operations/fraud-hits?limit=2', {
      token: operator.token,
    });
    expect(body.data.map(({ amount }) => amount)).toEqual([3, 2]);
  });

  it('are forgotten after thirty days', async () => {
    await set({ fraud_max_amount: 1 });
    await charge({ amount: 2 });
    await hits(1);
    await service.get(Retention).remove('fraud_hits');
    expect(await hits(1)).toHaveLength(1);
    service.clock.advance(30 * 86_400 + 60);
    // The service's own removal may run at the same time and lock the rows: try again.
    await waitFor('no hits', async () => {
      await service.get(Retention).remove('fraud_hits');
      return (await service.sql('SELECT 1 FROM fraud_hits')).length === 0;
    });
  });
});
