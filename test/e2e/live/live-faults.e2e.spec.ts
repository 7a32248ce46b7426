import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import {
  AcquirersService,
  connectionIdOf,
  ConnectionsService,
  findProfile,
  type PixApiConnection,
} from '../../../src/acquirers/index.js';
import { PixApiAcquirer } from '../../../src/acquirers/pix-api/pix-api.acquirer.js';
import { PixApiClient } from '../../../src/acquirers/pix-api/pix-api.client.js';
import { Logger } from '../../../src/core/log/index.js';
import { Metrics } from '../../../src/core/metrics/index.js';
import { PixIssueService } from '../../../src/transactions/index.js';
import { type Absence, ANSWERS, type Asked, FaultyPsp } from '../../support/faulty-psp.js';
import { LiveStory } from '../../support/live-story.js';
import type { ErrorAnswer } from '../../support/refunds.js';
import { trial } from '../../support/scale.js';
import { type Answer, type ChargeAnswer, TestService } from '../../support/service.js';
import { waitFor } from '../../support/wait.js';

const ABSENCES: readonly Absence[] = [
  'nobody listening',
  'a name that is none',
  'a certificate that nobody vouches for',
];
const FAULTS = [...(Object.keys(ANSWERS) as (keyof typeof ANSWERS)[]), ...ABSENCES];
/** Faults where the bank rejected the request unprocessed: the object was certainly not created. */
const TURNED_AWAY: readonly string[] = [...ABSENCES, 'a 429'];
const isAbsence = (fault: string): fault is Absence => ABSENCES.some((absence) => absence === fault);

/** Shorter time-out than in production, but long enough for answers that do arrive. */
const HURRIED = { answerMs: 1_500, callMs: 5_000 };

describe('a PSP that fails, in every way and at every route that calls it', () => {
  let service: TestService;
  let story: LiveStory;
  let psp: FaultyPsp;
  let connection: PixApiConnection;
  let client: PixApiClient;
  const clients: PixApiClient[] = [];

  /** Client without a token, so that the call requests one */
  function use(urls: { baseUrl: string; tokenUrl: string }, limits?: typeof HURRIED): void {
    const profile = findProfile(connection.profile);
    if (!profile) throw new Error('The profile is gone');
    client = new PixApiClient({ ...connection, ...urls }, profile, limits ? { limits } : {});
    clients.push(client);
  }

  function breaks(of: Asked, fault: (typeof FAULTS)[number]): void {
    if (isAbsence(fault)) use(psp.urls(of, fault));
    else {
      use(psp.urls(), fault === 'silence' ? HURRIED : undefined);
      psp.fault = { of, answer: fault };
    }
  }

  function heals(): void {
    psp.fault = null;
    use(psp.urls());
  }

  beforeAll(async () => {
    service = await TestService.start();
    story = await LiveStory.start(service);
    psp = await FaultyPsp.start(story.bank);
    const { acquirer } = story.live;
    const found = await service.get(ConnectionsService).find(connectionIdOf(acquirer) ?? '');
    if (!found) throw new Error('The account has no connection');
    connection = found;
    heals();
    service
      .get(AcquirersService)
      .register(
        new PixApiAcquirer(
          acquirer,
          () => Promise.resolve(client),
          service.clock,
          service.get(Logger),
          service.get(Metrics),
        ),
        { servesTestMode: false },
      );
  });
  afterEach(heals);
  afterAll(async () => {
    await story.expectSameBooks();
    await service.stop();
    await Promise.all(clients.map((one) => one.close()));
    await psp.stop();
    await story.stop();
  });

  const madeFor = (key: string): Promise<{ status: string; txid: string }[]> =>
    service.sql(
      `SELECT t.status, t.txid FROM transactions t JOIN idempotency_keys k ON k.resource_id = t.id WHERE k.key = $1`,
      [key],
    );
  const create = (path: string, key: string): Promise<Answer<ChargeAnswer & ErrorAnswer>> =>
    service.call('POST', path, {
      key: story.key,
      body: { amount: 1990, payment_method: 'pix' },
      headers: { 'Idempotency-Key': key },
    });
  const status = (id: string): Promise<Answer<ErrorAnswer & Record<string, unknown>>> =>
    service.call('GET', `/v1/payments/${id}/provider-status`, { key: story.key });

  const cases = (['token', 'write', 'read'] as const)
    .flatMap((of, way) => FAULTS.map((fault, index) => ({ of, fault, isChosen: index % 3 === way })))
    // A 201 is a good answer to a creation only.
    .filter(({ of, fault }) => of === 'write' || !fault.startsWith('a 201'))
    // Each case waits for the client's own pauses between tries: only a trial covers every fault of every call.
    .filter(({ fault, isChosen }) => trial(true, isChosen || fault.startsWith('a 201')))
    .map(({ of, fault }) => [of, fault] as const);

  it.each(cases)(
    'on a %s answered by %s, every request that needs the PSP gets 503 provider_unavailable',
    async (of, fault) => {
      const paths = of === 'read' ? [] : ['/v1/charges', '/v1/pix/charges'];
      const asked = paths.map((path) => ({ path, key: randomUUID() }));
      const { id } = await story.charge();
      breaks(of, fault);
      const [known, ...answers] = await Promise.all([status(id), ...asked.map(({ path, key }) => create(path, key))]);
      for (const answer of of === 'write' ? answers : [known, ...answers]) {
        const { type, code } = answer.body.error;
        expect([answer.status, type, code]).toEqual([503, 'provider_error', 'provider_unavailable']);
        expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
        // The answer must show nothing of the bank's own.
        expect(JSON.stringify(answer.body.error)).not.toMatch(/nginx|bcb|ECONN|ENOTFOUND|psp\.|localhost/i);
      }
      // A request that may have reached the bank is in flight, not failed; if it never did, the key is free.
      const isOver = of === 'token' || TURNED_AWAY.includes(fault);
      const inFlight = await Promise.all(asked.map(({ key }) => madeFor(key)));
      for (const found of inFlight) {
        expect(found).toEqual(isOver ? [] : [{ status: 'PENDING', txid: expect.any(String) }]);
      }
      heals();
      for (const [index, { path, key }] of asked.entries()) {
        const again = await create(path, key);
        expect(again.status).toBe(201);
        expect(story.bank.state().cobs.filter(({ txid }) => txid === again.body.pix.txid)).toHaveLength(1);
        if (!isOver) expect(again.body.pix.txid).toBe(inFlight[index]?.[0]?.txid);
      }
      expect((await status(id)).body).toMatchObject({ localStatus: 'WAITING_PAYMENT', providerStatus: 'ATIVA' });
    },
  );

  it.each([
    ['token', 'a 500'],
    ['write', 'a 503'],
    ['write', 'a broken connection'],
    ['write', 'half a body'],
    ['write', 'a 200 that is no JSON'],
    ['write', 'a 200 about nothing'],
    ['write', 'silence'],
  ] as const)(
    'on a %s answered by %s, work that can wait is accepted, tried again and never failed',
    async (of, fault) => {
      const [open, { charge: paid }] = [await story.charge(), await story.paid()];
      const call = (path: string, body?: object): Promise<Answer<{ id: string; status: string }>> =>
        service.call('POST', `/v1/payments${path}`, { key: story.key, ...(body ? { body } : {}) });
      breaks(of, fault);
      psp.wronged.length = 0;
      const payment = await call('', { amount: 100, paymentMethods: ['PIX'], idempotencyKey: randomUUID() });
      expect([payment.status, payment.body.status]).toEqual([201, 'WAITING_PAYMENT']);
      const cancelled = await call(`/${open.id}/cancel`);
      expect([cancelled.status, cancelled.body.status]).toEqual([200, 'CANCELLED']);
      const body = { idempotencyKey: randomUUID(), amount: 100, strategy: 'devolution' };
      const refund = await call(`/${paid.id}/refund`, body);
      expect([refund.status, refund.body.status]).toEqual([201, 'PENDING']);
      const wanted = of === 'token' ? ['POST token'] : ['PUT cob', 'PATCH cob', 'PUT devolucao'];
      await waitFor('all of it to be tried', async () => wanted.every((asked) => psp.wronged.includes(asked)));
      const refundStatus = async (): Promise<string | undefined> => {
        const path = `/v1/payments/${paid.id}/refunds`;
        const answer = await service.call<{ data: { status: string }[] }>('GET', path, { key: story.key });
        return answer.body.data[0]?.status;
      };
      await waitFor('the refund to be on its way', async () => (await refundStatus()) === 'IN_PROGRESS');
      heals();
      await waitFor('all of it to be done', async () => {
        service.clock.advance(20);
        const path = `/v1/payments/${payment.body.id}`;
        const made = await service.call<{ status: string; pixCopyPaste: string | null }>('GET', path, {
          key: story.key,
        });
        const [refunded, removed] = [
          await refundStatus(),
          story.bank.state().cobs.find(({ txid }) => txid === open.pix.txid)?.status,
        ];
        expect([made.body.status, refunded]).not.toContain('FAILED');
        return made.body.pixCopyPaste !== null && refunded === 'REFUNDED' && removed !== 'ATIVA';
      });
    },
    30_000,
  );

  it.each([
    ['that has arrived', true, { providerStatus: 'ATIVA' }],
    ['that has not', false, { providerStatus: null, error: 'TRANSACTION_HAS_NO_PROVIDER_REFERENCE' }],
  ])('the provider-status of a charge in flight %s is the current answer of the bank', async (_, effect, expected) => {
    const key = randomUUID();
    story.bank.addFault({ operation: 'cob.put', fault: { kind: 'timeout', effect } });
    breaks('read', 'a 500');
    expect((await create('/v1/charges', key)).status).toBe(503);
    const [made] = await service.sql<{ resource_id: string }>(
      'SELECT resource_id FROM idempotency_keys WHERE key = $1',
      [key],
    );
    expect((await status(made?.resource_id ?? '')).body.error.code).toBe('provider_unavailable');
    heals();
    expect((await status(made?.resource_id ?? '')).body).toMatchObject({ localStatus: 'PENDING', ...expected });
    expect((await create('/v1/charges', key)).status).toBe(201);
  });

  it('an outage of our own database is reported as service_unavailable, not as a fault of the PSP', async () => {
    const { id } = await story.charge();
    const { acquirer } = story.live;
    const away = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:5432'), { code: 'ECONNREFUSED' });
    const acquirers = service.get(AcquirersService);
    const working = acquirers.get(acquirer);
    acquirers.register(
      new PixApiAcquirer(
        acquirer,
        () => Promise.reject(away),
        service.clock,
        service.get(Logger),
        service.get(Metrics),
      ),
      { servesTestMode: false },
    );
    const answer = await service.call<ErrorAnswer>('GET', `/v1/payments/${id}/provider-status`, { key: story.key });
    acquirers.register(working, { servesTestMode: false });
    const { type, code } = answer.body.error;
    expect([answer.status, type, code]).toEqual([503, 'api_error', 'service_unavailable']);
  });

  it('is queried by the sweeper about charges in flight until it answers', async () => {
    const key = randomUUID();
    breaks('write', 'half a body');
    await service.createCharge(story.key, {}, key);
    breaks('read', 'a 200 that is no JSON');
    await service.get(PixIssueService).resolveUnknown(0);
    expect(await madeFor(key)).toMatchObject([{ status: 'PENDING' }]);
    heals();
    await service.get(PixIssueService).resolveUnknown(0);
    expect(await madeFor(key)).toMatchObject([{ status: 'REFUSED' }]);
  });
});
