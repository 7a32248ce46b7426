import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { AcquirersService, ConnectionsService, connectionIdOf, findProfile } from '../../src/acquirers/index.js';
import type { PixApiConnection } from '../../src/acquirers/index.js';
import { PixApiAcquirer } from '../../src/acquirers/pix-api/pix-api.acquirer.js';
import { PixApiClient } from '../../src/acquirers/pix-api/pix-api.client.js';
import { Logger } from '../../src/core/log/index.js';
import { Metrics } from '../../src/core/metrics/index.js';
import { CreationService } from '../../src/transactions/index.js';
import { type Absence, ANSWERS, type Asked, FaultyPsp } from '../support/faulty-psp.js';
import { LiveStory } from '../support/live-story.js';
import type { ErrorAnswer } from '../support/refunds.js';
import { type Answer, type ChargeAnswer, TestService } from '../support/service.js';
import { waitFor } from '../support/wait.js';

const ABSENCES: readonly Absence[] = [
  'nobody listening',
  'a name that is none',
  'a certificate that nobody vouches for',
];
const FAULTS = [...(Object.keys(ANSWERS) as (keyof typeof ANSWERS)[]), ...ABSENCES];
/** Turned away before anybody looked at it: what was to be made is not, for certain. */
const TURNED_AWAY: readonly string[] = [...ABSENCES, 'a 429'];
/** What a PSP answers with when it does make a charge is judged by what it says, so each is tried. */
const isAbsence = (fault: string): fault is Absence => ABSENCES.some((absence) => absence === fault);

const HURRIED = { connectMs: 1_000, answerMs: 400, callMs: 1_500 };

describe('a PSP that fails, in every way and at every route that asks it', () => {
  let service: TestService;
  let story: LiveStory;
  let psp: FaultyPsp;
  let connection: PixApiConnection;
  let client: PixApiClient;
  const clients: PixApiClient[] = [];

  /** A client without a token, so that it asks for one. */
  function use(urls: { baseUrl: string; tokenUrl: string }, limits?: typeof HURRIED): void {
    const profile = findProfile(connection.profile);
    if (!profile) throw new Error('The profile is gone');
    client = new PixApiClient({ ...connection, ...urls }, profile, limits ? { limits } : {});
    clients.push(client);
  }

  function breaks(of: Asked, fault: (typeof FAULTS)[number]): void {
    if (isAbsence(fault)) use(psp.urls(of, fault), HURRIED);
    else {
      use(psp.urls(), HURRIED);
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
  afterEach(async () => {
    heals();
    await story.expectSameBooks();
  });
  afterAll(async () => {
    await service.stop();
    await Promise.all(clients.map((one) => one.close()));
    await psp.stop();
    await story.stop();
  });

  function expectUnavailable(answer: Answer<ErrorAnswer>): void {
    const { type, code } = answer.body.error;
    expect([answer.status, type, code]).toEqual([503, 'provider_error', 'provider_unavailable']);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  }

  const madeFor = (key: string): Promise<{ status: string; txid: string }[]> =>
    service.sql(
      `SELECT t.status, t.txid FROM transactions t JOIN idempotency_keys k ON k.resource_id = t.id WHERE k.key = $1`,
      [key],
    );
  const cobs = (txid: string | undefined): number => story.bank.state().cobs.filter((cob) => cob.txid === txid).length;

  const cases = (...asked: Asked[]): [Asked, (typeof FAULTS)[number]][] =>
    asked.flatMap((of) => FAULTS.map((fault) => [of, fault] as [Asked, (typeof FAULTS)[number]]));

  it.each(cases('token', 'write'))(
    'POST charges, on a %s answered by %s: 503 provider_unavailable',
    async (of, fault) => {
      const create = (path: string, key: string): Promise<Answer<ChargeAnswer & ErrorAnswer>> =>
        service.call('POST', path, {
          key: story.key,
          body: { amount: 1990, payment_method: 'pix' },
          headers: { 'Idempotency-Key': key },
        });
      const keys = { '/v1/charges': randomUUID(), '/v1/pix/charges': randomUUID() };
      breaks(of, fault);
      const answers = await Promise.all(Object.entries(keys).map(([path, key]) => create(path, key)));
      answers.forEach(expectUnavailable);
      // Nothing of the bank's own leaks.
      for (const { text } of answers) expect(text).not.toMatch(/nginx|bcb|ECONN|ENOTFOUND|invalid|localhost/i);
      const isOver = of === 'token' || TURNED_AWAY.includes(fault);
      const pending = await Promise.all(Object.values(keys).map(madeFor));
      // Who may have been heard is in flight, not failed; of what was never heard the key is free.
      for (const found of pending)
        expect(found).toEqual(isOver ? [] : [{ status: 'PENDING', txid: expect.any(String) }]);
      heals();
      for (const [index, [path, key]] of Object.entries(keys).entries()) {
        const again = await create(path, key);
        expect(again.status).toBe(201);
        expect(cobs(again.body.pix.txid)).toBe(1);
        if (!isOver) expect(again.body.pix.txid).toBe(pending[index]?.[0]?.txid);
      }
    },
  );

  it.each(cases('token', 'read'))('GET provider-status, on a %s answered by %s: the same', async (of, fault) => {
    const { id } = await story.charge();
    const ask = (): Promise<Answer<ErrorAnswer & Record<string, unknown>>> =>
      service.call('GET', `/v1/payments/${id}/provider-status`, { key: story.key });
    breaks(of, fault);
    expectUnavailable(await ask());
    heals();
    expect((await ask()).body).toMatchObject({ localStatus: 'WAITING_PAYMENT', providerStatus: 'ATIVA' });
  });

  it.each([...cases('token', 'write')].filter((_, index) => index % 2 === 0))(
    'what asks the bank later is accepted, on a %s answered by %s, and never failed',
    async (of, fault) => {
      const [open, { charge: paid }] = [await story.charge(), await story.paid()];
      breaks(of, fault);
      const call = (path: string, body?: object): Promise<Answer<{ id: string; status: string }>> =>
        service.call('POST', `/v1/payments${path}`, { key: story.key, ...(body ? { body } : {}) });
      const payment = await call('', { amount: 100, paymentMethods: ['PIX'], idempotencyKey: randomUUID() });
      expect([payment.status, payment.body.status]).toEqual([201, 'WAITING_PAYMENT']);
      const cancelled = await call(`/${open.id}/cancel`);
      expect([cancelled.status, cancelled.body.status]).toEqual([200, 'CANCELLED']);
      const refund = await call(`/${paid.id}/refund`, {
        idempotencyKey: randomUUID(),
        amount: 100,
        strategy: 'devolution',
      });
      expect([refund.status, refund.body.status]).toEqual([201, 'PENDING']);
      const refundStatus = async (): Promise<string> =>
        (
          await service.call<{ data: { status: string }[] }>('GET', `/v1/payments/${paid.id}/refunds`, {
            key: story.key,
          })
        ).body.data[0]?.status ?? '';
      await waitFor('the refund to be tried', async () => (await refundStatus()) === 'IN_PROGRESS');
      heals();
      await waitFor('all of it to be done', async () => {
        service.clock.advance(20);
        const { body } = await service.call<{ pixCopyPaste: string | null }>('GET', `/v1/payments/${payment.body.id}`, {
          key: story.key,
        });
        const removed = story.bank.state().cobs.find(({ txid }) => txid === open.pix.txid)?.status;
        const refunded = await refundStatus();
        expect(refunded).not.toBe('FAILED');
        return refunded === 'REFUNDED' && body.pixCopyPaste !== null && removed === 'REMOVIDA_PELO_USUARIO_RECEBEDOR';
      });
    },
    60_000,
  );

  it('our own database is service_unavailable, not the acquirer', async () => {
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

  it('the sweeper asks about what is in flight until the bank answers', async () => {
    const key = randomUUID();
    breaks('write', 'half a body');
    await service.createCharge(story.key, {}, key);
    breaks('read', 'a 200 that is no JSON');
    await service.get(CreationService).resolveUnknown(0);
    expect(await madeFor(key)).toMatchObject([{ status: 'PENDING' }]);
    heals();
    await service.get(CreationService).resolveUnknown(0);
    expect(await madeFor(key)).toMatchObject([{ status: 'REFUSED' }]);
  });
});
