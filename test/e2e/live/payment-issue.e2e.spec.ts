import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  AcquirersService,
  ConfirmationService,
  InboxDispatcher,
  InboxService,
  type OrderDesk,
  type ReceivedPayment,
} from '../../../src/acquirers/index.js';
import { Database } from '../../../src/core/database/index.js';
import { WorkService } from '../../../src/core/work/index.js';
import { expectLedgerCoherent } from '../../support/coherence.js';
import { FarBank } from '../../support/far-bank.js';
import { WebhookReceiver } from '../../support/receiver.js';
import { type Answer, type Merchant, TestService } from '../../support/service.js';
import { waitFor } from '../../support/wait.js';

type Body = Record<string, unknown> & { id: string; status: string };

/** A bank behind a network that takes cards too. */
class FarDesk extends FarBank {
  override readonly name = 'far-desk';
  override capabilities = { ...new FarBank().capabilities, methods: ['PIX', 'CREDIT_CARD'] as const };
  readonly payments = new Map<string, ReceivedPayment>();
  override readonly orders: OrderDesk = {
    issue: async ({ txid }) => ({ kind: 'issued', artefacts: { CREDIT_CARD: { redirectUrl: `https://x/${txid}` } } }),
    getPayment: async (reference) => this.payments.get(reference) ?? null,
    getEvent: async () => null,
  };
}

/** A payment with Pix becomes a charge once its code exists: tests of the events that announce it. */
describe('the charge of a payment at a remote acquirer', () => {
  const desk = new FarDesk();
  const service = TestService.forSpec();
  const receiver = WebhookReceiver.forSpec();
  let merchant: Merchant;

  beforeAll(async () => {
    service.get(AcquirersService).register(desk, { servesTestMode: true });
    merchant = await service.merchant();
    await service.call('POST', '/v1/webhooks/endpoints', {
      key: merchant.testKey,
      body: { url: receiver.url, events: ['*', 'payment.created', 'payment.completed', 'payment.failed'] },
    });
  });
  beforeEach(() => {
    receiver.received.length = 0;
  });
  afterEach(async () => {
    desk.faults = [];
    desk.blind = false;
    desk.meanwhile = null;
    await expectLedgerCoherent(service.database.url);
  });

  async function create(paymentMethods = ['PIX']): Promise<string> {
    const answer = await service.call<Body>('POST', '/v1/payments', {
      key: merchant.testKey,
      body: { amount: 1990, paymentMethods, idempotencyKey: randomUUID() },
    });
    expect(answer.status).toBe(201);
    return answer.body.id;
  }

  const call = (method: string, id: string, path = ''): Promise<Answer<Body>> =>
    service.call<Body>(method, `/v1/payments/${id}${path}`, { key: merchant.testKey });
  const row = async (id: string): Promise<{ txid: string; status: string; br_code: string | null }> => {
    const [found] = await service.sql<{ txid: string; status: string; br_code: string | null }>(
      'SELECT txid, status, br_code FROM transactions WHERE id = $1',
      [id],
    );
    if (!found) throw new Error(`${id} is not there`);
    return found;
  };

  async function notify(kind: 'pix' | 'payment' | 'charge', reference: string): Promise<void> {
    const inbox = service.get(InboxService);
    const stored = service.get(Database).transaction((tx) => inbox.store(tx, desk.name, { kind, reference }));
    await service.get(ConfirmationService).confirm(await stored);
  }

  async function payByCard(id: string): Promise<void> {
    const { txid } = await row(id);
    const reference = `card-${id}`;
    const settledAt = service.clock.now();
    desk.payments.set(reference, {
      reference,
      txid,
      method: 'CREDIT_CARD',
      amount: 1990,
      settledAt,
      fee: 0,
      payerDocument: null,
    });
    await notify('payment', reference);
  }

  /** Waits for events of a payment. @returns their names and codes in order */
  async function told(id: string, count: number): Promise<string[]> {
    const find = (): { type: string; sequence: number; code: string }[] =>
      receiver.received
        .filter(({ rawBody }) => rawBody.includes(id))
        .map(({ headers, body }) => {
          const data = body['data'] as { sequence?: number; object?: { pix: { br_code: string } } };
          const code = data.object === undefined ? '' : data.object.pix.br_code === '' ? ' without code' : ' with code';
          return {
            type: String(headers['x-service-event-type']),
            sequence: Number(body['sequence'] ?? data.sequence),
            code,
          };
        });
    await waitFor(`${count} webhooks of ${id}`, () => find().length >= count);
    await waitFor('the relay', async () => {
      const rows = await service.sql(`SELECT 1 FROM events WHERE status = 'pending'`);
      const open = await service.sql(`SELECT 1 FROM webhook_deliveries WHERE status IN ('PENDING', 'PROCESSING')`);
      return rows.length + open.length === 0;
    });
    return find()
      .sort((a, b) => a.sequence - b.sequence || (a.type < b.type ? -1 : 1))
      .map(({ type, code }) => `${type}${code}`);
  }

  /** Keeps the bank from answering a creation until the function that this gives is called. */
  function hold(): { asked: Promise<void>; answer: () => void } {
    let answer = (): void => undefined;
    let ask = (): void => undefined;
    const asked = new Promise<void>((resolve) => (ask = resolve));
    desk.meanwhile = () => {
      ask();
      return new Promise((resolve) => (answer = resolve));
    };
    return { asked, answer: () => answer() };
  }

  it('is announced once, when its code exists, and resent as the same event', async () => {
    const id = await create();
    expect(await told(id, 2)).toEqual(['payment.created', 'charge.created with code']);
    expect((await call('POST', id, '/resend-webhook')).body).toEqual({ resent: true, status: 'WAITING_PAYMENT' });
    expect(await told(id, 4)).toEqual([
      ...['payment.created', 'payment.created'],
      ...['charge.created with code', 'charge.created with code'],
    ]);
    const created = receiver.ofType('charge.created').filter(({ rawBody }) => rawBody.includes(id));
    expect(new Set(created.map(({ body }) => body['id'])).size).toBe(1);
  });

  it('paid before the code is known is announced first', async () => {
    desk.faults = ['lost after'];
    desk.meanwhile = async () => void (desk.blind = true);
    const id = await create();
    await waitFor('the call', () => desk.faults.length === 0);
    const { txid } = await row(id);
    await waitFor('the charge at the bank', () => desk.charges.has(txid));
    const pix = desk.receive({ txid, amount: 1990 }, { settledAt: service.clock.now() });
    desk.blind = false;
    await notify('pix', pix.endToEndId);
    expect((await call('GET', id)).body).toMatchObject({ status: 'PAID', pixCopyPaste: expect.any(String) });
    expect(await told(id, 4)).toEqual([
      ...['payment.created', 'charge.created with code'],
      ...['charge.paid with code', 'payment.completed'],
    ]);
  });

  it('is credited when the bank can be queried for its code, if it was paid before', async () => {
    desk.faults = ['lost after'];
    desk.meanwhile = async () => void (desk.blind = true);
    const id = await create();
    await waitFor('the call', () => desk.faults.length === 0);
    const { txid } = await row(id);
    await waitFor('the charge at the bank', () => desk.charges.has(txid));
    const pix = desk.receive({ txid, amount: 1990 }, { settledAt: service.clock.now() });
    // The bank confirms the Pix, and does not answer the question after it.
    let questions = 0;
    desk.blind = () => ++questions > 1;
    await notify('pix', pix.endToEndId);
    expect((await row(id)).status).toBe('WAITING_PAYMENT');
    desk.blind = false;
    await waitFor('the notification to be tried again', async () => {
      service.clock.advance(5);
      await service.get(InboxDispatcher).sweep();
      return (await row(id)).status === 'PAID';
    });
    expect((await told(id, 4)).slice(1)).toEqual([
      'charge.created with code',
      'charge.paid with code',
      'payment.completed',
    ]);
  });

  it('refused by the bank is announced as failed only', async () => {
    desk.faults = ['refused'];
    const id = await create();
    expect(await told(id, 3)).toEqual(['payment.created', 'charge.failed without code', 'payment.failed']);
    expect((await call('GET', id, '/provider-status')).body).toEqual({
      localStatus: 'REFUSED',
      provider: null,
      providerTransactionId: null,
      providerStatus: null,
      rawResponse: {},
      error: 'TRANSACTION_HAS_NO_PROVIDER_REFERENCE',
    });
  });

  it('cancelled while the code is made is announced as failed only, and taken back at the bank', async () => {
    const held = hold();
    const id = await create();
    await held.asked;
    expect((await call('POST', id, '/cancel')).body.status).toBe('CANCELLED');
    held.answer();
    const { txid } = await row(id);
    await waitFor('the code to be kept', async () => (await row(id)).br_code !== null);
    await waitFor('the bank to take it back', () => !desk.charges.has(txid));
    expect(await told(id, 3)).toEqual(['payment.created', 'charge.failed without code', 'payment.failed']);
  });

  it('expired before its code existed is announced as expired only', async () => {
    desk.faults = ['unavailable', 'unavailable', 'unavailable', 'unavailable', 'unavailable', 'unavailable'];
    const id = await create();
    await waitFor('the call', () => desk.faults.length < 6);
    // Deliver before the clock moves: a delivery on its way would lose its lease and be sent again.
    expect(await told(id, 1)).toEqual(['payment.created']);
    service.clock.advance(3_601);
    await waitFor('the sweeper', async () => (await row(id)).status === 'EXPIRED');
    expect(await told(id, 3)).toEqual(['payment.created', 'charge.expired without code', 'payment.failed']);
  });

  it('paid by card while the code is made is never announced', async () => {
    const held = hold();
    const id = await create(['PIX', 'CREDIT_CARD']);
    await held.asked;
    await payByCard(id);
    expect((await row(id)).status).toBe('APPROVED');
    held.answer();
    await waitFor('the work to be done', async () => {
      await service.get(WorkService).sweep();
      const rows = await service.sql('SELECT 1 FROM work WHERE subject_id = $1', [id]);
      return rows.length === 0;
    });
    expect((await call('POST', id, '/resend-webhook')).body).toEqual({ resent: true, status: 'APPROVED' });
    expect(await told(id, 3)).toEqual(['payment.created', 'payment.completed', 'payment.completed']);
  });

  it('paid by card after its code existed is announced, then paid', async () => {
    const id = await create(['PIX', 'CREDIT_CARD']);
    await told(id, 2);
    await payByCard(id);
    expect(await told(id, 4)).toEqual([
      ...['payment.created', 'charge.created with code'],
      ...['charge.paid with code', 'payment.completed'],
    ]);
  });

  it('is announced once when its worker was believed dead', async () => {
    const held = hold();
    const id = await create();
    await held.asked;
    // Deliver before the clock moves: a delivery on its way would lose its lease and be sent again.
    expect(await told(id, 1)).toEqual(['payment.created']);
    // The lease of the first worker runs out, and another worker does the same work.
    service.clock.advance(40);
    await service.get(WorkService).runNow('acquirer', id);
    expect((await row(id)).br_code).not.toBeNull();
    held.answer();
    await told(id, 2);
    expect(await told(id, 2)).toEqual(['payment.created', 'charge.created with code']);
  });

  it('keeps its first answer for a repeated request, whatever the acquirer now offers', async () => {
    const body = { amount: 1990, paymentMethods: ['PIX', 'CREDIT_CARD'], idempotencyKey: randomUUID() };
    const post = (): Promise<Answer<Body>> =>
      service.call<Body>('POST', '/v1/payments', { key: merchant.testKey, body });
    const first = await post();
    const chargeKey = randomUUID();
    const charge = await service.createCharge(merchant.testKey, {}, chargeKey);
    await told(first.body.id, 2);
    const { methods } = desk.capabilities;
    Object.assign(desk.capabilities, { methods: ['CREDIT_CARD'] });
    try {
      const again = await post();
      expect([again.status, again.text]).toEqual([201, first.text]);
      expect(again.headers.get('idempotent-replayed')).toBe('true');
      const other = await service.call<{ error: { code: string } }>('POST', '/v1/payments', {
        key: merchant.testKey,
        body: { ...body, idempotencyKey: randomUUID() },
      });
      expect([other.status, other.body.error.code]).toEqual([422, 'no_provider_configured']);
      expect((await service.createCharge(merchant.testKey, {}, chargeKey)).text).toBe(charge.text);
    } finally {
      Object.assign(desk.capabilities, { methods });
    }
  });
});
