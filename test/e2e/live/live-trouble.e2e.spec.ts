import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { DEFAULT_MERCHANT, PspSimulator } from '../../../tools/psp-simulator/simulator.js';
import type { WireCob } from '../../../tools/psp-simulator/wire.js';
import { PixApiClient } from '../../../src/acquirers/pix-api/pix-api.client.js';
import { PixIssueService } from '../../../src/transactions/index.js';
import { goLive } from '../../support/live-acquirer.js';
import { LiveStory } from '../../support/live-story.js';
import type { ErrorAnswer } from '../../support/refunds.js';
import { type Answer, type ChargeAnswer, TestService } from '../../support/service.js';
import { waitFor } from '../../support/wait.js';

type ChargeOrError = ChargeAnswer & ErrorAnswer;

describe('a live charge on a bad day of the PSP', () => {
  const service = TestService.forSpec();
  const story = LiveStory.forSpec(service);

  afterEach(async () => {
    story.bank.clearFaults();
    await story.expectSameBooks();
  });

  const create = (key: string, apiKey = story.key): Promise<Answer<ChargeOrError>> =>
    service.createCharge<ChargeOrError>(apiKey, {}, key);

  const madeFor = (key: string): Promise<{ status: string; txid: string }[]> =>
    service.sql(
      `SELECT t.status, t.txid FROM transactions t JOIN idempotency_keys k ON k.resource_id = t.id WHERE k.key = $1`,
      [key],
    );

  /** A charge that the PSP has made, and about which the merchant has heard nothing. */
  async function unanswered(): Promise<{ key: string; txid: string }> {
    const key = randomUUID();
    story.bank.addFault({ operation: 'cob.put', fault: { kind: 'timeout', effect: true } });
    story.bank.addFault({ operation: 'cob.get', fault: { kind: 'throttle', retryAfterSeconds: 3600 } });
    expect((await create(key)).status).toBe(503);
    const [pending] = await madeFor(key);
    return { key, txid: pending?.txid ?? '' };
  }

  const cobs = (): number => story.bank.state().cobs.length;

  it('a charge whose answer was lost is queried at once, and the merchant notices nothing', async () => {
    const before = cobs();
    story.bank.addFault({ operation: 'cob.put', fault: { kind: 'timeout', effect: true } });
    expect((await create(randomUUID())).status).toBe(201);
    expect(cobs()).toBe(before + 1);
  });

  it.each([
    ['was made', true],
    ['was not made', false],
  ])(
    'a charge that %s without an answer gets a 503, and a repeated request goes on with the same txid',
    async (_, effect) => {
      const [key, before] = [randomUUID(), cobs()];
      story.bank.addFault({ operation: 'cob.put', fault: { kind: 'timeout', effect } });
      story.bank.addFault({ operation: 'cob.get', fault: { kind: 'error', effect: false }, times: 4 });
      const unknown = await create(key);
      expect([unknown.status, unknown.body.error.code]).toEqual([503, 'provider_unavailable']);
      const [pending] = await madeFor(key);
      expect(pending?.status).toBe('PENDING');
      const again = await create(key);
      expect([again.status, again.body.pix.txid]).toEqual([201, pending?.txid]);
      expect(cobs()).toBe(before + 1);
      expect((await create(key)).text).toBe(again.text);
      story.pay(again.body);
      await story.becomes(again.body, 'paid');
    },
  );

  it('a charge made late at the PSP ends there when it ends here', async () => {
    const [key, body] = [randomUUID(), { expires_in: 60 }];
    story.bank.addFault({ operation: 'cob.put', fault: { kind: 'timeout', effect: false } });
    story.bank.addFault({ operation: 'cob.get', fault: { kind: 'error', effect: false }, times: 4 });
    expect((await service.createCharge(story.key, body, key)).status).toBe(503);
    // Early enough that the sweeper has not found out before.
    service.clock.stand().advance(20);
    const made = await service.createCharge(story.key, body, key);
    service.clock.go();
    const [pending] = await madeFor(key);
    expect([made.status, made.body.pix.txid]).toEqual([201, pending?.txid]);
    const cob = story.bank.state().cobs.find(({ txid }) => txid === pending?.txid);
    const endsThere = Date.parse(cob?.calendario.criacao ?? '') + (cob?.calendario.expiracao ?? 0) * 1000;
    expect(endsThere).toBeLessThanOrEqual(Date.parse(made.body.pix.expires_at) + 500);
    expect(endsThere).toBeGreaterThan(Date.parse(made.body.pix.expires_at) - 5_000);
    service.clock.advance(41);
    await story.becomes(made.body, 'expired');
    expect(() => story.pay(made.body)).toThrow(/expired/);
  });

  it('a throttled charge that is made late still ends on time, and one past its time is never made', async () => {
    const merchant = await service.merchant({ default_expires_in: '60' });
    const [pixKey, clientId] = [randomUUID(), `late-${merchant.accountId}`];
    story.bank.addMerchant({ ...DEFAULT_MERCHANT, clientId, pixKeys: [pixKey] });
    await goLive(service, story.bank, merchant.accountId, { pixKey, clientId });
    const accept = async (): Promise<{ id: string; txid: string; cob: () => WireCob | undefined }> => {
      const { body } = await service.call<{ id: string }>('POST', '/v1/payments', {
        key: merchant.liveKey,
        body: { amount: 700, paymentMethods: ['PIX'], idempotencyKey: randomUUID() },
      });
      const [row] = await service.sql<{ txid: string }>('SELECT txid FROM transactions WHERE id = $1', [body.id]);
      const txid = row?.txid ?? '';
      return { id: body.id, txid, cob: () => story.bank.state().cobs.find((one) => one.txid === txid) };
    };
    const asked = story.asked('cob.put');
    story.bank.addFault({ operation: 'cob.put', fault: { kind: 'throttle', retryAfterSeconds: 3600 }, rate: 1 });
    const [late, tooLate] = [await accept(), await accept()];
    await waitFor('both attempts', () => story.asked('cob.put') >= asked + 2);
    // Between two attempts: the end of each attempt sets the time of the next.
    await waitFor('one to be put off', async () => {
      const putOff = await service.sql(
        `UPDATE work SET due_at = 'infinity' WHERE subject_id = $1 AND attempts > 0 AND leased_until IS NULL
         RETURNING 1`,
        [tooLate.id],
      );
      return putOff.length === 1;
    });
    service.clock.advance(30);
    story.bank.clearFaults();
    const cob = await waitFor('the charge', late.cob);
    expect(cob.calendario.expiracao).toBeLessThanOrEqual(30);
    service.clock.advance(93);
    await service.sql('UPDATE work SET due_at = now() WHERE subject_id = $1', [tooLate.id]);
    for (const { id, txid } of [late, tooLate]) {
      expect(() => story.bank.pay({ txid, clientId })).toThrow(id === late.id ? /expired/ : /no charge/);
      await waitFor('its end here', async () => {
        const rows = await service.sql(`SELECT 1 FROM transactions WHERE id = $1 AND status = 'EXPIRED'`, [id]);
        return rows.length === 1;
      });
    }
    expect(tooLate.cob()).toBeUndefined();
  });

  it('a callback of a payment completes a charge that was answered with 503', async () => {
    const { key, txid } = await unanswered();
    story.bank.pay({ txid });
    await waitFor('the payment', async () => (await madeFor(key))[0]?.status === 'PAID');
    const repeated = await create(key);
    expect([repeated.status, repeated.body.status, repeated.body.pix.txid]).toEqual([201, 'paid', txid]);
  });

  it('a callback completes a charge that its PSP does not find at first', async () => {
    const { key, txid } = await unanswered();
    const getCob = jest.spyOn(PixApiClient.prototype, 'getCob').mockResolvedValue({ kind: 'not_found' });
    try {
      const { endToEndId } = story.bank.pay({ txid });
      await waitFor('the question', () => getCob.mock.calls.some(([asked]) => asked === txid));
      // The sweeper of unanswered creations asks too.
      await service.get(PixIssueService).resolveUnknown(0);
      getCob.mockRestore();
      await waitFor('the payment', async () => (await madeFor(key))[0]?.status === 'PAID');
      expect(story.returned(endToEndId)).toEqual([]);
    } finally {
      getCob.mockRestore();
    }
  });

  it.each<[string, () => Promise<void> | void]>([
    [
      'turns the repeated creation away',
      () => story.bank.addFault({ operation: 'cob.put', fault: { kind: 'throttle', retryAfterSeconds: 3600 } }),
    ],
    [
      'refuses to make what is made',
      () => {
        const problem = { code: 'CobOperacaoInvalida', words: '', properties: [] };
        jest.spyOn(PixApiClient.prototype, 'putCob').mockResolvedValue({ kind: 'refused', status: 400, problem });
      },
    ],
    [
      'is asked past its expiry',
      async () => {
        service.clock.advance(3_600 + 660);
        await service.get(PixIssueService).resolveUnknown(0);
      },
    ],
  ])('a charge is not refused while its PSP reports a Pix that it does not find yet, and %s', async (_, happens) => {
    const { key, txid } = await unanswered();
    for (const operation of ['getCob', 'getPix'] as const) {
      jest.spyOn(PixApiClient.prototype, operation).mockResolvedValue({ kind: 'not_found' });
    }
    try {
      const { endToEndId } = story.bank.pay({ txid });
      await waitFor('the hint', async () => {
        const rows = await service.sql(
          `SELECT 1 FROM acquirer_notifications WHERE kind = 'pix' AND reference = $1 AND attempts > 0`,
          [endToEndId],
        );
        return rows.length > 0;
      });
      await happens();
      expect((await create(key)).status).toBe(503);
      expect(await madeFor(key)).toMatchObject([{ status: 'PENDING' }]);
      jest.restoreAllMocks();
      service.clock.advance(3_600);
      await waitFor('the payment', async () => (await madeFor(key))[0]?.status === 'PAID');
      expect(story.returned(endToEndId)).toEqual([]);
    } finally {
      jest.restoreAllMocks();
      story.bank.clearFaults();
    }
  });

  it.each([
    ['503 of its gateway', { kind: 'unavailable' }],
    ['500 before it did anything', { kind: 'error', effect: false }],
  ] as const)(
    'a request answered by a %s stays in flight until the PSP says that it made no charge',
    async (_, fault) => {
      const key = randomUUID();
      story.bank.addFault({ operation: 'cob.put', fault });
      const unknown = await create(key);
      expect([unknown.status, unknown.body.error.code]).toEqual([503, 'provider_unavailable']);
      expect(await madeFor(key)).toMatchObject([{ status: 'PENDING' }]);
      await service.get(PixIssueService).resolveUnknown(0);
      expect(await madeFor(key)).toMatchObject([{ status: 'REFUSED' }]);
    },
  );

  it.each([
    ['is throttled', { operation: 'cob.put', fault: { kind: 'throttle', retryAfterSeconds: 3600 } }],
    // Covers all of them: a simultaneous question about an expired charge would take one of the faults.
    ['gets no token', { operation: 'token', fault: { kind: 'error', effect: false }, rate: 1 }],
  ] as const)('a request that %s makes no charge: provider_unavailable, and the key is free', async (_, fault) => {
    const [key, before] = [randomUUID(), cobs()];
    if (fault.operation === 'token') story.bank.expireTokens();
    story.bank.addFault(fault);
    const refused = await create(key);
    expect([refused.status, refused.body.error.code]).toEqual([503, 'provider_unavailable']);
    expect(refused.headers.get('retry-after')).not.toBeNull();
    expect(await madeFor(key)).toEqual([]);
    expect(cobs()).toBe(before);
    story.bank.clearFaults();
    expect((await create(key)).status).toBe(201);
  });

  it('a token that ends before its time costs one more request, and the charge is made', async () => {
    const before = story.asked('token');
    story.bank.addFault({ operation: 'cob.put', fault: { kind: 'tokenExpiry' } });
    expect((await create(randomUUID())).status).toBe(201);
    expect(story.asked('token')).toBe(before + 1);
  });

  it('an absent PSP gives provider_unavailable, and the same key makes a charge when the PSP is back', async () => {
    const [pixKey, merchant] = [randomUUID(), await service.merchant()];
    const merchants = [{ ...DEFAULT_MERCHANT, clientId: `client-${pixKey}`, pixKeys: [pixKey] }];
    const first = await PspSimulator.start({ merchants });
    const port = Number(new URL(first.baseUrl).port);
    await goLive(service, first, merchant.accountId, { pixKey, clientId: `client-${pixKey}` });
    expect((await create(randomUUID(), merchant.liveKey)).status).toBe(201);
    await first.stop();
    const key = randomUUID();
    const refused = await create(key, merchant.liveKey);
    expect([refused.status, refused.body.error.code]).toEqual([503, 'provider_unavailable']);
    expect(await madeFor(key)).toEqual([]);
    const second = await PspSimulator.start({ merchants, port });
    try {
      const made = await create(key, merchant.liveKey);
      expect([made.status, second.state().cobs.map(({ txid }) => txid)]).toEqual([201, [made.body.pix.txid]]);
    } finally {
      await second.stop();
    }
  });
});
