import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import {
  AcquirersService,
  ConfirmationService,
  InboxService,
  type OrderDesk,
  SandboxAcquirer,
} from '../../../src/acquirers/index.js';
import { Database } from '../../../src/core/database/index.js';
import { WorkService } from '../../../src/core/work/index.js';
import { PixIssueService, SettlementListener } from '../../../src/transactions/index.js';
import { expectLedgerCoherent } from '../../support/coherence.js';
import { FarBank } from '../../support/far-bank.js';
import { textsOf } from '../../support/pdf.js';
import { WebhookReceiver } from '../../support/receiver.js';
import { allReturned } from '../../support/refunds.js';
import { type Answer, type Merchant, TestService } from '../../support/service.js';
import { waitFor } from '../../support/wait.js';

type Body = Record<string, unknown> & { id: string; status: string };
interface Refusal extends Record<string, unknown> {
  error: { code: string };
}

/** A bank behind a network that takes orders too, and records its requests. */
class FarDesk extends FarBank {
  override readonly name = 'far-desk';
  override capabilities = { ...new FarBank().capabilities, methods: ['PIX', 'MULTIBANCO'] as const, receipts: true };
  /** Outcomes of the next requests for an order */
  orderFaults: ('unknown' | 'unavailable' | 'throws')[] = [];
  readonly cancelled: string[] = [];
  cancelFaults = 0;
  silent = false;
  override readonly orders: OrderDesk = {
    issue: async () => {
      const fault = this.orderFaults.shift();
      if (fault === 'throws') throw new Error('socket hang up');
      if (fault) return { kind: fault };
      return { kind: 'issued', artefacts: { MULTIBANCO: { entity: '12345', reference: '123456789' } } };
    },
    getPayment: async () => null,
    getEvent: async () => null,
  };

  override async cancel(txid: string): Promise<void> {
    if (this.cancelFaults-- > 0) throw new Error('time-out');
    this.cancelled.push(txid);
    await super.cancel(txid);
  }

  override async getStatus(): Promise<null> {
    if (this.silent) throw new Error('time-out');
    return null;
  }

  override async getReceipt(): Promise<null> {
    if (this.silent) throw new Error('time-out');
    return null;
  }
}

describe('operations on payments', () => {
  const service = TestService.forSpec();
  const receiver = WebhookReceiver.forSpec();
  let merchant: Merchant;

  beforeAll(async () => {
    merchant = await service.merchant();
    await service.call('POST', '/v1/webhooks/endpoints', {
      key: merchant.testKey,
      body: { url: receiver.url, events: ['*', 'payment.failed', 'payment.status_changed'] },
    });
  });
  afterEach(async () => {
    await allReturned(service, () => service.get(WorkService).sweep());
    await expectLedgerCoherent(service.database.url);
  });

  async function create(
    paymentMethods: string[],
    body: Record<string, unknown> = {},
    key = merchant.testKey,
  ): Promise<string> {
    const answer = await service.call<Body>('POST', '/v1/payments', {
      key,
      body: { amount: 1990, paymentMethods, idempotencyKey: randomUUID(), ...body },
    });
    expect(answer.status).toBe(201);
    return answer.body.id;
  }
  const call = <T = Body>(method: string, id: string, path: string, key = merchant.testKey): Promise<Answer<T>> =>
    service.call<T>(method, `/v1/payments/${id}${path}`, { key });
  const cancel = <T = Body>(id: string, key = merchant.testKey): Promise<Answer<T>> =>
    call<T>('POST', id, '/cancel', key);
  const statusOf = async (id: string, key = merchant.testKey): Promise<string> =>
    (await call('GET', id, '', key)).body.status;
  const simulate = (
    id: string,
    body: Record<string, unknown>,
    key = merchant.testKey,
  ): Promise<Answer<{ payment: Body }>> => service.call('POST', `/v1/sandbox/payments/${id}/simulate`, { key, body });
  const row = async (id: string): Promise<Record<string, unknown>> =>
    (await service.sql('SELECT * FROM transactions WHERE id = $1', [id]))[0] ?? {};
  const isWorkDone = async (id: string): Promise<boolean> =>
    (await service.sql('SELECT 1 FROM work WHERE subject_id = $1', [id])).length === 0;
  const workDone = (id: string): Promise<unknown> => waitFor('the acquirer to be called', () => isWorkDone(id));

  describe('cancel', () => {
    it.each(['PIX', 'CREDIT_CARD', 'MULTIBANCO', 'BOLETO', 'CRYPTO'])(
      '%s is cancelled here and at the acquirer, once',
      async (method) => {
        const id = await create([method]);
        await workDone(id);
        const before = await call('GET', id, '');
        const cancelled = await cancel(`tx_${id}`);
        expect(cancelled.status).toBe(200);
        const payable = Object.keys(before.body).filter((name) => /^(?:pix|mb|boleto|crypto|card)/.test(name));
        const shown = { ...before.body, ...Object.fromEntries(payable.map((name) => [name, null])) };
        expect(cancelled.body).toEqual({ ...shown, status: 'CANCELLED', previousStatus: 'WAITING_PAYMENT' });
        expect((await call('GET', id, '')).body).toEqual({ ...shown, status: 'CANCELLED' });
        await workDone(id);
        const { body: provider } = await call('GET', id, '/provider-status');
        expect(provider).toMatchObject({ localStatus: 'CANCELLED', providerStatus: 'REMOVED' });

        const again = await cancel(id);
        expect([again.status, again.body]).toEqual([200, cancelled.body]);
        // Money that comes later changes nothing.
        expect((await simulate(id, { event: 'pay' })).body.payment.status).toBe('CANCELLED');
        const events = await service.sql(`SELECT type FROM events WHERE subject_id = $1 AND type LIKE '%cancelled'`, [
          id,
        ]);
        expect(events).toEqual([{ type: 'transaction.cancelled' }]);
        const about = (type: string): unknown[] => receiver.ofType(type).filter(({ rawBody }) => rawBody.includes(id));
        await waitFor('payment.failed', () => about('payment.failed').length === 1);
        expect(about('payment.failed')).toMatchObject([
          { body: { data: { status: 'CANCELLED', previousStatus: 'WAITING_PAYMENT' } } },
        ]);
        await waitFor('charge.failed', () => about('charge.failed').length === (method === 'PIX' ? 1 : 0));
      },
    );

    it('shows the status before the cancellation when the acquirer took the payment back', async () => {
      const id = await create(['PIX']);
      const txid = (await row(id))['txid'];
      await service.get(SettlementListener).endCharge('sandbox', String(txid), {
        end: 'removed',
        reason: 'Removed at the bank.',
        at: service.clock.now(),
      });
      const answers = [await cancel(id), await cancel(id)];
      for (const { status, body } of answers) {
        expect([status, body]).toEqual([
          200,
          expect.objectContaining({ status: 'CANCELLED', previousStatus: 'WAITING_PAYMENT' }),
        ]);
      }
    });

    it('shows the status before the cancellation when an earlier version of the service cancelled', async () => {
      const id = await create(['CREDIT_CARD']);
      await simulate(id, { event: 'processing' });
      // Row as earlier versions wrote it, without the additional column.
      await service.sql(
        `WITH moved AS (UPDATE transactions SET status = 'CANCELLED' WHERE id = $1)
         INSERT INTO events (id, account_id, mode, type, subject_id, data, sequence, occurred_at, next_attempt_at, status)
         SELECT gen_random_uuid(), account_id, mode, 'transaction.cancelled', subject_id,
           jsonb_set(data, '{transaction,status}', '"CANCELLED"') || '{"previousStatus":"PROCESSING"}', sequence + 1,
           occurred_at, next_attempt_at, 'done'
         FROM events WHERE subject_id = $1 ORDER BY sequence DESC LIMIT 1`,
        [id],
      );
      const { status, body } = await cancel(id);
      expect([status, body]).toEqual([
        200,
        expect.objectContaining({ status: 'CANCELLED', previousStatus: 'PROCESSING' }),
      ]);
    });

    it('accepts the id of a charge too', async () => {
      const { body } = await service.createCharge(merchant.testKey);
      expect((await cancel(body.id)).body).toMatchObject({ id: body.id.slice(3), status: 'CANCELLED' });
      const charge = await service.getCharge(merchant.testKey, body.id);
      expect(charge.body).toMatchObject({
        status: 'cancelled',
        metadata: { failure: { providerErrorCode: 'canceled' } },
      });
    });

    it('ends a card payment in flight', async () => {
      const id = await create(['CREDIT_CARD']);
      await simulate(id, { event: 'processing' });
      const answers = await Promise.all(Array.from({ length: 8 }, () => cancel(id)));
      for (const { status, body } of answers) {
        expect([status, body]).toEqual([200, answers[0]?.body]);
        expect(body).toMatchObject({ status: 'CANCELLED', previousStatus: 'PROCESSING' });
      }
      await simulate(id, { event: 'pay' });
      expect(await statusOf(id)).toBe('CANCELLED');
      expect(await service.sql('SELECT outcome, reason FROM settlements WHERE transaction_id = $1', [id])).toEqual([
        { outcome: 'returned', reason: 'charge_closed' },
      ]);
    });

    it.each([
      ['pay', 'PAID'],
      ['expire', 'EXPIRED'],
      ['fail', 'REFUSED'],
    ])('is refused after %s: 400, and nothing changes', async (event, status) => {
      const id = await create(['PIX']);
      await simulate(id, { event });
      const before = await row(id);
      const answer = await cancel<Refusal>(id);
      expect([answer.status, answer.body.error.code]).toEqual([400, 'payment_not_cancellable']);
      expect(await statusOf(id)).toBe(status);
      expect(await row(id)).toEqual(before);
    });

    it.each(['chargeback', 'dispute'])('is refused for a card after a %s', async (event) => {
      const id = await create(['CREDIT_CARD']);
      await simulate(id, { event: 'pay' });
      await simulate(id, { event });
      expect((await cancel<Refusal>(id)).body.error.code).toBe('payment_not_cancellable');
    });

    it('is refused past the expiry, before the expiry is written', async () => {
      const quick = await service.merchant({ default_expires_in: '60' });
      const id = await create(['PIX'], {}, quick.testKey);
      service.clock.advance(61);
      const answer = await cancel<Refusal>(id, quick.testKey);
      expect([answer.status, answer.body.error.code]).toEqual([400, 'payment_not_cancellable']);
      expect(await statusOf(id, quick.testKey)).toBe('EXPIRED');
    });

    it('sends a held Pix back to its payer', async () => {
      const locked = await service.merchant({ payer_lock: 'true' });
      const { body } = await service.createCharge(locked.testKey, {
        expected_payer_tax_id: '52998224725',
        customer: { name: 'Maria' },
      });
      await service.simulate(locked.testKey, body.id, { event: 'pay', payer_document: null });
      const cancelled = await cancel(body.id, locked.testKey);
      expect(cancelled.body).toMatchObject({ status: 'CANCELLED', previousStatus: 'PROCESSING' });
      await waitFor('its payer to have it', async () => {
        const returned = `SELECT 1 FROM pix_returns WHERE transaction_id = $1 AND status = 'RETURNED'`;
        return (await service.sql(returned, [body.id.slice(3)])).length === 1;
      });
      // The money was not late, double or wrong: the sale shows only its cancellation, and a repetition does too.
      expect((await cancel(body.id, locked.testKey)).body).toEqual(cancelled.body);
      expect((await service.getCharge(locked.testKey, body.id)).body).not.toHaveProperty('returns');
      expect(
        await service.sql(
          `SELECT s.outcome, s.reason, r.amount::int FROM settlements s JOIN pix_returns r USING (end_to_end_id)
           WHERE s.transaction_id = $1`,
          [body.id.slice(3)],
        ),
      ).toEqual([{ outcome: 'returned', reason: 'cancelled', amount: 1990 }]);
    });

    it('competes with a simultaneous payment: one wins, and the money is credited or goes back', async () => {
      const racer = await service.merchant();
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, async (_, index) => {
          const id = await create([index % 2 === 0 ? 'PIX' : 'CREDIT_CARD'], { amount: 100 }, racer.testKey);
          await service.get(WorkService).runNow('acquirer', id);
          const [answer] = await Promise.all([
            cancel<Refusal & Body>(id, racer.testKey),
            simulate(id, { event: 'pay' }, racer.testKey),
            cancel(id, racer.testKey),
          ]);
          const status = await statusOf(id, racer.testKey);
          expect(answer.status).toBe(status === 'CANCELLED' ? 200 : 400);
          const [settlement] = await service.sql<{ outcome: string }>(
            'SELECT outcome FROM settlements WHERE transaction_id = $1',
            [id],
          );
          return `${status} ${settlement?.outcome}`;
        }),
      );
      const allowed = ['CANCELLED returned', 'PAID credited', 'APPROVED credited'];
      expect(outcomes.filter((outcome) => !allowed.includes(outcome))).toEqual([]);
      const { body } = await service.call('GET', '/v1/wallets/balance', { key: racer.testKey });
      expect(body['available']).toBe(100 * outcomes.filter((outcome) => outcome.endsWith('credited')).length);
    });
  });

  describe('provider status', () => {
    it('shares one answer among requests within two seconds, and queries again after a change or a failure', async () => {
      const id = await create(['PIX']);
      await workDone(id);
      const asked = jest.spyOn(service.get(SandboxAcquirer), 'getStatus');
      try {
        asked.mockRejectedValueOnce(new Error('time-out'));
        expect((await call('GET', id, '/provider-status')).status).toBe(503);
        asked.mockClear();
        const began = performance.now();
        const answers = await Promise.all(Array.from({ length: 20 }, () => call('GET', id, '/provider-status')));
        expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
        expect(answers[0]?.body['providerStatus']).toBe('ACTIVE');
        expect(asked.mock.calls.length).toBeLessThanOrEqual(1 + (performance.now() - began) / 2_000);
        await simulate(id, { event: 'pay' });
        expect((await call('GET', id, '/provider-status')).body['providerStatus']).toBe('PAID');
        const before = asked.mock.calls.length;
        await waitFor('another question', async () => {
          await call('GET', id, '/provider-status');
          return asked.mock.calls.length > before;
        });
      } finally {
        asked.mockRestore();
      }
    });

    it('is the acquirer’s own current status', async () => {
      const id = await create(['PIX', 'CREDIT_CARD']);
      await workDone(id);
      const waiting = await call('GET', id, '/provider-status');
      expect(waiting.status).toBe(200);
      expect(waiting.body).toEqual({
        localStatus: 'WAITING_PAYMENT',
        provider: 'sandbox',
        providerTransactionId: expect.stringMatching(/^[A-Za-z0-9]{26}$/),
        providerStatus: 'ACTIVE',
        rawResponse: { txid: expect.any(String), status: 'ACTIVE', ended_at: null, payments: [], events: [] },
      });
      await simulate(id, { event: 'processing' });
      expect((await call('GET', id, '/provider-status')).body['providerStatus']).toBe('PROCESSING');
      await simulate(id, {
        event: 'pay',
        method: 'CREDIT_CARD',
        payer_document: '11144477735',
        payer_name: 'Zé Ninguém',
      });
      const paid = await call('GET', id, '/provider-status');
      expect(paid.body).toMatchObject({
        localStatus: 'APPROVED',
        providerStatus: 'PAID',
        rawResponse: { payments: [{ method: 'CREDIT_CARD', amount: 1990 }], events: [{ kind: 'processing' }] },
      });
      // The payer's identity is not shown.
      expect(paid.text).not.toMatch(/11144477735|Ningu/);
      await simulate(id, { event: 'chargeback' });
      expect((await call('GET', id, '/provider-status')).body['providerStatus']).toBe('CHARGEBACK');
    });

    it('says when the acquirer was never called, or made nothing', async () => {
      const refused = await create(['MULTIBANCO'], { amount: 100_000_000 });
      await waitFor('the refusal', async () => (await statusOf(refused)) === 'REFUSED');
      expect((await row(refused))['artefacts']).toEqual({});
      const none = { provider: null, providerTransactionId: null, providerStatus: null, rawResponse: {} };
      expect((await call('GET', refused, '/provider-status')).body).toEqual({
        ...none,
        localStatus: 'REFUSED',
        error: 'TRANSACTION_HAS_NO_PROVIDER_REFERENCE',
      });
      // The acquirer refused one method and created another: it has the payment.
      const half = await create(['MULTIBANCO', 'CREDIT_CARD'], { amount: 100_000_000 });
      await workDone(half);
      expect((await call('GET', half, '/provider-status')).body).toMatchObject({ providerStatus: 'ACTIVE' });

      const id = await create(['BOLETO']);
      await workDone(id);
      await service.sql(`UPDATE transactions SET artefacts = NULL WHERE id = $1`, [id]);
      expect((await call('GET', id, '/provider-status')).body).toEqual({
        localStatus: 'WAITING_PAYMENT',
        provider: null,
        providerTransactionId: null,
        providerStatus: null,
        rawResponse: {},
        error: 'TRANSACTION_HAS_NO_PROVIDER_REFERENCE',
      });
    });
  });

  describe('receipt', () => {
    it('is a PDF of the amount, the masked parties, the end-to-end id and the time in São Paulo', async () => {
      const id = await create(['PIX'], {
        amount: 123_456,
        customerName: 'Maria da Silva',
        customerDocument: '52998224725',
      });
      const { body: paid } = await simulate(id, { event: 'pay' });
      const answer = await call<{ contentType: string; base64: string }>('GET', id, '/receipt');
      expect(answer.status).toBe(200);
      expect(Object.keys(answer.body)).toEqual(['contentType', 'base64']);
      expect(answer.body.contentType).toBe('application/pdf');
      const pdf = Buffer.from(answer.body.base64, 'base64');
      expect(pdf.subarray(0, 5).toString()).toBe('%PDF-');
      const { end_to_end_id: endToEndId } = await row(id);
      const local = new Intl.DateTimeFormat('pt-BR', {
        timeZone: 'America/Sao_Paulo',
        dateStyle: 'short',
        timeStyle: 'medium',
      }).format(new Date(String(paid.payment['paidAt'])));
      const texts = textsOf(pdf);
      expect(texts).toEqual(
        expect.arrayContaining(['R$ 1.234,56', 'Maria d. S.', '***.982.247-**', 'Padaria São João', endToEndId]),
      );
      expect(texts.join()).toContain(local.split(', ')[1]);
      expect(texts.join()).not.toMatch(/Silva|52998224725/);
    });

    it('exists for other methods and after a refund began, but not before a payment', async () => {
      const card = await create(['CREDIT_CARD'], { currency: 'EUR' });
      const early = await call<Refusal>('GET', card, '/receipt');
      expect([early.status, early.body.error.code]).toEqual([422, 'RECEIPT_NOT_AVAILABLE']);
      await simulate(card, { event: 'pay' });
      const { body } = await call<{ base64: string }>('GET', card, '/receipt');
      expect(textsOf(Buffer.from(body.base64, 'base64'))).toEqual(
        expect.arrayContaining(['EUR 19,90', 'Cartão de crédito', 'ID do pagamento']),
      );
      const ended = await create(['BOLETO']);
      await simulate(ended, { event: 'expire' });
      expect((await call<Refusal>('GET', ended, '/receipt')).body.error.code).toBe('RECEIPT_NOT_AVAILABLE');
    });
  });

  describe('at a remote acquirer', () => {
    const desk = new FarDesk();

    beforeAll(() => service.get(AcquirersService).register(desk, { servesTestMode: true }));
    afterAll(() => service.get(AcquirersService).register(service.get(SandboxAcquirer), { servesTestMode: true }));
    afterEach(() => {
      desk.faults = [];
      desk.orderFaults = [];
      desk.blind = false;
    });

    it('queries a creation again that is unknown or failed, until it exists', async () => {
      desk.faults = ['lost after'];
      desk.blind = true;
      desk.orderFaults = ['unknown', 'throws', 'unavailable'];
      const id = await create(['PIX', 'MULTIBANCO']);
      await waitFor('three attempts', async () => {
        service.clock.advance(61);
        return desk.orderFaults.length === 0;
      });
      expect(await statusOf(id)).toBe('WAITING_PAYMENT');
      desk.blind = false;
      await waitFor('both methods', async () => {
        service.clock.advance(61);
        await service.get(WorkService).sweep();
        const { body } = await call('GET', id, '');
        return body['pixCopyPaste'] !== null && body['mbReference'] === '123456789';
      });
      await workDone(id);
      // The bank has one charge, announced once.
      expect([...desk.charges.keys()].filter((txid) => txid === '').length).toBe(0);
      const events = await service.sql('SELECT type FROM events WHERE subject_id = $1 ORDER BY id', [id]);
      expect(events).toEqual([{ type: 'transaction.accepted' }, { type: 'transaction.issued' }]);
    });

    it('takes back a payment that is cancelled during its creation', async () => {
      let cancelled: Answer | undefined;
      let id = '';
      desk.meanwhile = async () => {
        await waitFor('the id to be known', () => id !== '');
        cancelled = await cancel(id);
        await workDone(id);
      };
      desk.cancelled.length = 0;
      id = await create(['PIX']);
      await waitFor('the cancellation', () => cancelled !== undefined);
      expect(cancelled?.status).toBe(200);
      const txid = String((await row(id))['txid']);
      await waitFor(
        'the second cancellation at the bank',
        () => desk.cancelled.filter((each) => each === txid).length === 2,
      );
      expect(desk.charges.has(txid)).toBe(false);
      expect(await statusOf(id)).toBe('CANCELLED');
      const events = await service.sql('SELECT type FROM events WHERE subject_id = $1 ORDER BY id', [id]);
      expect(events).toEqual([{ type: 'transaction.accepted' }, { type: 'transaction.cancelled' }]);
    });

    it('repeats a cancellation that the bank did not receive', async () => {
      const id = await create(['PIX']);
      await workDone(id);
      desk.cancelFaults = 2;
      expect((await cancel(id)).status).toBe(200);
      await waitFor('the bank to hear it', async () => {
        service.clock.advance(120);
        await service.get(WorkService).sweep();
        return isWorkDone(id);
      });
      expect(desk.cancelled).toContain((await row(id))['txid']);
    });

    it('a Pix that arrives after the cancellation goes back', async () => {
      const id = await create(['PIX']);
      await workDone(id);
      await cancel(id);
      const { txid } = await row(id);
      const pix = desk.receive({ txid: String(txid), amount: 1990 }, { settledAt: service.clock.now() });
      const inbox = service.get(InboxService);
      const notification = await service
        .get(Database)
        .transaction((tx) => inbox.store(tx, desk.name, { kind: 'pix', reference: pix.endToEndId }));
      await service.get(ConfirmationService).confirm(notification);
      expect(await statusOf(id)).toBe('CANCELLED');
      await waitFor('the return', async () => {
        await service.get(WorkService).sweep();
        service.clock.advance(5);
        return desk.returnsOf(pix.endToEndId).length === 1;
      });
    });

    it('cancels a charge whose creation is unknown, and answers its request accordingly', async () => {
      const key = randomUUID();
      desk.faults = ['lost after'];
      desk.blind = true;
      expect((await service.createCharge(merchant.testKey, {}, key)).status).toBe(503);
      const [pending] = await service.sql<{ id: string }>(`SELECT id FROM transactions WHERE status = 'PENDING'`);
      // An endpoint is subscribed, but nothing has been announced yet.
      expect((await call('POST', pending?.id ?? '', '/resend-webhook')).body).toEqual({
        resent: false,
        status: 'PENDING',
      });
      expect(await service.sql('SELECT type FROM events WHERE subject_id = $1', [pending?.id])).toEqual([]);
      expect((await cancel(pending?.id ?? '')).body).toMatchObject({ status: 'CANCELLED', previousStatus: 'PENDING' });
      desk.blind = false;
      const repeated = await service.createCharge(merchant.testKey, {}, key);
      expect([repeated.status, repeated.body.status]).toEqual([201, 'cancelled']);
      await service.get(PixIssueService).resolveUnknown(0);
      expect(await statusOf(pending?.id ?? '')).toBe('CANCELLED');
      await workDone(pending?.id ?? '');
      expect(desk.charges.has(String((await row(pending?.id ?? ''))['txid']))).toBe(false);
    });

    it('answers 503 when the acquirer does not answer, and says when it knows nothing', async () => {
      const id = await create(['PIX']);
      await workDone(id);
      expect((await call('GET', id, '/provider-status')).body).toMatchObject({
        localStatus: 'WAITING_PAYMENT',
        error: 'TRANSACTION_HAS_NO_PROVIDER_REFERENCE',
      });
      // Uses a second payment, as questions about one payment share an answer for two seconds.
      const other = await create(['PIX']);
      await workDone(other);
      desk.silent = true;
      const status = await call<Refusal>('GET', other, '/provider-status');
      expect([status.status, status.body.error.code]).toEqual([503, 'provider_unavailable']);
      desk.silent = false;
    });

    it('refuses a method that the acquirer does not offer with 422', async () => {
      const answer = await service.call<Refusal>('POST', '/v1/payments', {
        key: merchant.testKey,
        body: { amount: 1, paymentMethods: ['PIX', 'BOLETO'], idempotencyKey: randomUUID() },
      });
      expect([answer.status, answer.body.error.code]).toEqual([422, 'no_provider_configured']);
    });
  });
});
