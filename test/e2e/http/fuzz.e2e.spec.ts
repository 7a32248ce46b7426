import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Pool } from 'undici';
import { expectLedgerCoherent } from '../../support/coherence.js';
import { type FuzzRequest, readBody, requests, type Verdict } from '../../support/fuzz.js';
import {
  type Body,
  chargeFields,
  chargeVerdict,
  endpointChangeFields,
  endpointChangeVerdict,
  endpointFields,
  endpointVerdict,
  isPlainObject,
  onlyKeys,
  paymentFields,
  paymentVerdict,
  refundFields,
  refundVerdict,
  saysNothing,
  simulateFields,
  simulateVerdict,
  verifyFields,
  verifyVerdict,
} from '../../support/fuzz-model.js';
import { scaled, trial } from '../../support/scale.js';
import { type ChargeAnswer, type Merchant, TestService } from '../../support/service.js';
import { waitFor } from '../../support/wait.js';

const BATCH = 25;
/** × 25 = 2000 bodies at each route in the full run. */
const RUNS = trial(80, scaled(24, 12));
/** Scales an expected count of the full run; a shorter run expects half its share, since chance weighs more. */
const atLeast = (count: number): number => (RUNS === 80 ? count : Math.floor((count * RUNS) / 80 / 2));

interface Answer {
  readonly status: number;
  readonly requestId: string | string[] | undefined;
  readonly body: Body;
}

/**
 * Lists the faults in the body of an error. @param listsViolations for a body that was read: `details` name its
 * faults
 */
function envelopeFaults(answer: Answer, listsViolations: boolean): string[] {
  const { error, request_id: requestId, ...rest } = answer.body;
  if (!isPlainObject(error) || Object.keys(rest).length > 0) return ['is not the envelope'];
  const { type, code, message, param, details, ...others } = error;
  const isDetail = (detail: unknown): boolean =>
    isPlainObject(detail) &&
    onlyKeys(detail, 'param', 'code', 'message') &&
    Object.values(detail).every((value) => typeof value === 'string');
  return [
    ...(requestId === answer.requestId ? [] : ['has another request id in its header']),
    ...(type === 'invalid_request_error' && typeof message === 'string' && message !== ''
      ? []
      : ['has no type or message']),
    ...(Object.keys(others).length > 0 ? [`has ${Object.keys(others).join()} in its error`] : []),
    ...(code === { 400: 'invalid_request', 413: 'payload_too_large', 415: 'unsupported_media_type' }[answer.status]
      ? []
      : ['has the wrong code']),
    ...(!listsViolations ||
    (Array.isArray(details) && details.length > 0 && details.every(isDetail) && typeof param === 'string')
      ? []
      : ['does not list its violations']),
  ];
}

describe('bodies of any kind', () => {
  let service: TestService;
  let merchant: Merchant;
  /** Keeps connections open, so that a connection spoilt by a bad request would spoil the next one. */
  let client: Pool;
  /** Created objects and refusals of all routes */
  let created = 0;

  beforeAll(async () => {
    service = await TestService.start();
    // The guard would soon refuse what has nothing wrong with it: there are few documents and many requests.
    merchant = await service.merchant({ payer_lock: 'true', fee_bps: '150', fee_fixed: '10', fraud_mode: 'off' });
    client = new Pool(service.url, { connections: BATCH });
  });
  afterAll(async () => {
    await client.close();
    await service.stop();
  });

  async function send(
    path: string,
    sent: FuzzRequest,
    key = merchant.testKey,
    method: 'POST' | 'PATCH' = 'POST',
  ): Promise<Answer> {
    const response = await client.request({
      method,
      path,
      headers: {
        apikey: key,
        'idempotency-key': randomBytes(12).toString('hex'),
        ...(sent.contentType === undefined ? {} : { 'content-type': sent.contentType }),
      },
      body: sent.bytes,
    });
    const requestId = response.headers['x-request-id'];
    return { status: response.statusCode, requestId, body: (await response.body.json()) as Body };
  }

  /** Expects what holds for every answer, and that the model agrees with it. */
  function check(sent: FuzzRequest, answer: Answer, success: number, verdictOf: (body: Body) => Verdict): void {
    const read = readBody(sent);
    const verdict = 'refusal' in read || !read.isExact ? 'invalid' : verdictOf(read.body);
    const expected = 'refusal' in read ? read.refusal : 400;
    const wrong = [
      ...(verdict === 'valid' && answer.status !== success ? [`should be ${success}`] : []),
      ...(verdict === 'invalid' && answer.status !== expected ? [`should be ${expected}`] : []),
      ...(answer.status !== success && answer.status !== expected ? ['is neither success nor refusal'] : []),
      ...(/^req_[0-9a-f]{32}$/.test(String(answer.requestId)) ? [] : ['has no request id']),
      ...(answer.status < 400 ? [] : envelopeFaults(answer, 'body' in read)),
    ];
    // A single expectation per request, since there are thousands; its output shows everything.
    expect(wrong.length === 0 ? null : { wrong, sent: sent[fc.toStringMethod](), answer }).toBeNull();
  }

  async function countTransactions(): Promise<number> {
    const [row] = await service.sql<{ count: string }>('SELECT count(*) AS count FROM transactions');
    return Number(row?.count);
  }

  /** Throws batches of requests at a route, each batch at once. */
  async function throwAt(
    arbitrary: fc.Arbitrary<FuzzRequest>,
    inspect: (batch: FuzzRequest[]) => Promise<void>,
  ): Promise<void> {
    await fc.assert(fc.asyncProperty(fc.array(arbitrary, { minLength: BATCH, maxLength: BATCH }), inspect), {
      numRuns: RUNS,
      endOnFailure: true,
    });
  }

  it.each([
    { path: '/v1/charges', required: ['amount', 'payment_method'] },
    { path: '/v1/pix/charges', required: ['amount'] },
  ])(
    'to POST $path make a charge if the model calls them valid, and get the error envelope otherwise',
    async ({ path, required }) => {
      let good = 0;
      let bad = 0;
      await throwAt(requests(chargeFields, required), async (batch) => {
        const answers = await Promise.all(batch.map((request) => send(path, request)));
        created += answers.filter((answer) => answer.status === 201).length;
        for (const [index, request] of batch.entries()) {
          const answer = answers[index];
          if (!answer) throw new Error('unreachable');
          check(request, answer, 201, (body) => chargeVerdict(body, required.includes('payment_method')));
          if (answer.status !== 201) {
            bad++;
            continue;
          }
          good++;
          // The stored charge equals the sent body.
          const read = readBody(request);
          const sent = 'body' in read ? read.body : {};
          expect(answer.body).toMatchObject({
            amount: sent['amount'],
            currency: 'BRL',
            status: 'pending',
            payment_method: 'pix',
          });
          expect(
            Object.keys(answer.body['metadata'] as Body).filter((key) => /^(?:_.*|med|failure)$/s.test(key)),
          ).toEqual([]);
        }
        const stored = answers.filter((answer) => answer.status === 201);
        const reads = await Promise.all(
          stored.map((answer) => service.getCharge(merchant.testKey, String(answer.body['id']))),
        );
        expect(reads.map((read) => read.body)).toEqual(stored.map((answer) => answer.body));
      });
      // The generators reach both sides; a model that calls nothing valid would prove nothing.
      expect(good).toBeGreaterThan(atLeast(50));
      expect(bad).toBeGreaterThan(atLeast(500));
      expect(await countTransactions()).toBe(created);
    },
  );

  it('to POST /v1/webhooks/endpoints are accepted or refused as the model says', async () => {
    let owner = await service.merchant({ fraud_mode: 'off' });
    let registered = 0;
    let good = 0;
    await throwAt(requests(endpointFields, ['url', 'events']), async (batch) => {
      // An account has at most 100 endpoints.
      if (registered > 100 - BATCH) {
        owner = await service.merchant({ fraud_mode: 'off' });
        registered = 0;
      }
      const key = owner.testKey;
      const answers = await Promise.all(batch.map((request) => send('/v1/webhooks/endpoints', request, key)));
      for (const [index, request] of batch.entries()) {
        const answer = answers[index];
        if (!answer) throw new Error('unreachable');
        if (answer.status === 201) {
          registered++;
          good++;
        }
        check(request, answer, 201, endpointVerdict);
      }
      const list = await service.call<{ data: { url: string }[] }>('GET', '/v1/webhooks/endpoints', { key });
      expect(list.body.data).toHaveLength(registered);
    });
    expect(good).toBeGreaterThan(atLeast(50));
    expect(await countTransactions()).toBe(created);
  });

  it('to PATCH /v1/webhooks/endpoints/{id} are accepted or refused as the model says', async () => {
    const body = { url: 'https://merchant.example/', events: ['*'] };
    const { testKey: key } = await service.merchant();
    const { body: endpoint } = await service.call<{ id: string }>('POST', '/v1/webhooks/endpoints', { key, body });
    let good = 0;
    await throwAt(requests(endpointChangeFields, []), async (batch) => {
      const path = `/v1/webhooks/endpoints/${endpoint.id}`;
      const answers = await Promise.all(batch.map((request) => send(path, request, key, 'PATCH')));
      for (const [index, request] of batch.entries()) {
        const answer = answers[index];
        if (!answer) throw new Error('unreachable');
        if (answer.status === 200) good++;
        check(request, answer, 200, endpointChangeVerdict);
      }
    });
    expect(good).toBeGreaterThan(atLeast(50));
  });

  it('to POST /v1/webhooks/verify are accepted or refused as the model says', async () => {
    const reasons = new Set<unknown>();
    await throwAt(requests(verifyFields, ['payload', 'headers', 'secret']), async (batch) => {
      const answers = await Promise.all(batch.map((request) => send('/v1/webhooks/verify', request)));
      for (const [index, request] of batch.entries()) {
        const answer = answers[index];
        if (!answer) throw new Error('unreachable');
        if (answer.status === 200) reasons.add(answer.body['reason']);
        check(request, answer, 200, verifyVerdict);
      }
    });
    // Chance picks the reasons, but most tries end before the signature is computed.
    expect(reasons).toContain('signature_missing');
    expect(reasons.size).toBeGreaterThanOrEqual(3);
    expect(reasons).not.toContain(null);
  });

  it('to POST /v1/sandbox/charges/{id}/simulate are accepted or refused as the model says', async () => {
    const before = await countTransactions();
    const own: ChargeAnswer[] = [];
    for (let index = 0; index < 60; index++) {
      const lock = index % 3 === 0 ? { expected_payer_tax_id: '52998224725', customer: { name: 'Maria' } } : {};
      own.push((await service.createCharge(merchant.testKey, lock)).body);
    }
    let good = 0;
    let next = 0;
    await throwAt(requests(simulateFields, ['event']), async (batch) => {
      const answers = await Promise.all(
        batch.map((request) => send(`/v1/sandbox/charges/${own[next++ % own.length]?.id}/simulate`, request)),
      );
      for (const [index, request] of batch.entries()) {
        const answer = answers[index];
        if (!answer) throw new Error('unreachable');
        if (answer.status === 200) good++;
        check(request, answer, 200, simulateVerdict);
      }
    });
    expect(good).toBeGreaterThan(atLeast(50));
    expect(await countTransactions()).toBe(before + own.length);
    created += own.length;
    const statuses = await Promise.all(own.map((charge) => service.getCharge(merchant.testKey, charge.id)));
    expect(new Set(statuses.map((answer) => answer.body.status)).size).toBeGreaterThan(2);
  });

  it('to POST /v1/payments are accepted or refused as the model says', async () => {
    let good = 0;
    await throwAt(requests(paymentFields, ['amount', 'paymentMethods', 'idempotencyKey']), async (batch) => {
      const answers = await Promise.all(batch.map((request) => send('/v1/payments', request)));
      for (const [index, request] of batch.entries()) {
        const answer = answers[index];
        if (!answer) throw new Error('unreachable');
        check(request, answer, 201, paymentVerdict);
        if (answer.status !== 201) continue;
        good++;
        const read = readBody(request);
        const sent = 'body' in read ? read.body : {};
        expect(answer.body).toMatchObject({
          status: 'WAITING_PAYMENT',
          amount: sent['amount'],
          customerName: saysNothing(sent['customerName']) ? null : (sent['customerName'] ?? null),
          customerEmail: saysNothing(sent['customerEmail']) ? null : (sent['customerEmail'] ?? null),
        });
      }
    });
    created += good;
    expect(good).toBeGreaterThan(atLeast(50));
    expect(await countTransactions()).toBe(created);
    await waitFor('the acquirer to have been called about all of them', async () => {
      const due = await service.sql(`SELECT 1 FROM work WHERE kind = 'acquirer' LIMIT 1`);
      return due.length === 0;
    });
  });

  it('to POST /v1/payments/{id}/refund are accepted or refused as the model says', async () => {
    const owner = await service.merchant();
    const payments: string[] = [];
    for (let index = 0; index < 40; index++) {
      const { body } = await service.createCharge(owner.testKey, { amount: 1_000_000 });
      await service.simulate(owner.testKey, body.id, { event: 'pay' });
      payments.push(body.id.slice(3));
    }
    created += payments.length;
    const refused = ['refund_amount_exceeds_remaining', 'payment_not_refundable', 'insufficient_balance'];
    let good = 0;
    let next = 0;
    await throwAt(requests(refundFields, ['idempotencyKey', 'amount']), async (batch) => {
      const answers = await Promise.all(
        batch.map((request) =>
          send(`/v1/payments/${payments[next++ % payments.length]}/refund`, request, owner.testKey),
        ),
      );
      for (const [index, request] of batch.entries()) {
        const answer = answers[index];
        if (!answer) throw new Error('unreachable');
        if (answer.status === 201) good++;
        const { error } = answer.body;
        const isBusiness = isPlainObject(error) && refused.includes(String(error['code']));
        // A body that is understood and refused by a business rule was a valid body.
        if (isBusiness) check(request, { ...answer, status: 201, body: {} }, 201, refundVerdict);
        else check(request, answer, 201, refundVerdict);
      }
    });
    expect(good).toBeGreaterThan(atLeast(50));
    const refunds = await service.sql('SELECT 1 FROM refunds WHERE account_id = $1', [owner.accountId]);
    expect(refunds).toHaveLength(good);
  });

  it('under an id of any kind in the path get a 404', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }), { minLength: BATCH, maxLength: BATCH }),
        async (ids) => {
          await Promise.all(
            ids.flatMap((id) => {
              const encoded = encodeURIComponent(id.toWellFormed());
              return [`/v1/charges/${encoded}`, `/v1/charges/ch_${encoded}`, `/checkout/${encoded}/status`].map(
                async (path) => {
                  const answer = await service.call<Body>('GET', path, { key: merchant.testKey });
                  // '.' and '..' are taken out of a path before it is sent.
                  if (/^\.{1,2}$/.test(id)) return;
                  expect({ path, status: answer.status }).toEqual({ path, status: 404 });
                  expect(answer.body).toMatchObject({
                    error: { code: 'not_found' },
                    request_id: answer.headers.get('x-request-id'),
                  });
                },
              );
            }),
          );
        },
      ),
      { numRuns: 20 },
    );
  });

  it('leave the ledger coherent', async () => {
    await expectLedgerCoherent(service.database.url);
  });
});
