import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ConfirmationService, SandboxAcquirer } from '../../../src/acquirers/index.js';
import { SecretBox } from '../../../src/core/crypto/index.js';
import { expectLedgerCoherent } from '../../support/coherence.js';
import { balance, caseOf, casesOf, eventsAbout, medQueue } from '../../support/med.js';
import { refundEnd, requestRefund } from '../../support/refunds.js';
import { type Merchant, TestService } from '../../support/service.js';
import { waitFor } from '../../support/wait.js';

interface PaymentAnswer extends Record<string, unknown> {
  id: string;
  status: string;
  metadata: Record<string, unknown>;
}

describe('disputes of cards', () => {
  const service = TestService.forSpec();
  let merchant: Merchant;
  let key: string;

  beforeEach(async () => {
    merchant = await service.merchant();
    key = merchant.testKey;
    const url = 'http://127.0.0.1:9/hook';
    const body = { url, events: ['*', 'payment.completed', 'payment.failed', 'payment.status_changed'] };
    await service.call('POST', '/v1/webhooks/endpoints', { key, body });
  });
  afterEach(() => expectLedgerCoherent(service.database.url));

  async function created(): Promise<string> {
    const { body } = await service.call<PaymentAnswer>('POST', '/v1/payments', {
      key,
      body: { amount: 100, paymentMethods: ['CREDIT_CARD'], idempotencyKey: `card-${randomUUID()}` },
    });
    return body.id;
  }

  /** @returns the payment after it */
  async function happens(id: string, body: Record<string, unknown>): Promise<PaymentAnswer> {
    const path = `/v1/sandbox/payments/${id}/simulate`;
    const answer = await service.call<{ payment: PaymentAnswer }>('POST', path, { key, body });
    expect([body, answer.status]).toEqual([body, 200]);
    return answer.body.payment;
  }

  async function paid(): Promise<string> {
    const id = await created();
    await happens(id, { event: 'pay' });
    return id;
  }

  it.each([
    ['chargeback', 'CHARGEBACK'],
    ['dispute', 'DISPUTE'],
    ['fraud', 'DISPUTE'],
  ])(
    '%s opens a case of its type and holds the money; when it is won, the payment is APPROVED again',
    async (event, status) => {
      const id = await paid();
      expect(await happens(id, { event })).toMatchObject({ status, metadata: {} });
      expect(await balance(service, key)).toEqual({ available: 0, pending: 0, retained: 100 });
      expect(await caseOf(service, key, id)).toMatchObject({ type: event, status: 'open', amount: 100 });
      expect((await happens(id, { event })).status).toBe(status);
      expect((await happens(id, { event: 'med_rule', result: 'disagreed' })).status).toBe('APPROVED');
      expect(await balance(service, key)).toEqual({ available: 100, pending: 0, retained: 0 });
      expect(await caseOf(service, key, id)).toMatchObject({ status: 'closed', money_outcome: 'refunded_to_merchant' });
      const secrets = service.get(SecretBox);
      const deliveries = await waitFor('the event to be relayed', async () => {
        const rows = await service.sql<{ event_type: string; payload: string; context: string }>(
          `SELECT d.event_type, m.payload, 'webhook_message:' || m.id AS context
         FROM webhook_deliveries d JOIN webhook_messages m ON m.id = d.message_id WHERE d.subject_id = $1`,
          [id],
        );
        const told = rows
          .filter(({ payload, context }) => secrets.openText(payload, context).includes(`"previousStatus":"${status}"`))
          .map(({ event_type }) => event_type);
        return told.length > 0 && told;
      });
      // The payment was completed before: only who asked for every change of a status hears of it.
      expect(deliveries).toEqual(['payment.status_changed']);
      expect((await eventsAbout(service, id)).slice(-2)).toEqual([
        event === 'chargeback' ? 'transaction.charged_back' : 'transaction.card_disputed',
        'transaction.card_dispute_won',
      ]);
    },
  );

  it.each([
    ['chargeback', 'CHARGEBACK'],
    ['dispute', 'DISPUTE'],
  ])('%s that is lost leaves the payment as it is', async (event, status) => {
    const id = await paid();
    await happens(id, { event });
    expect((await happens(id, { event: 'med_rule', result: 'agreed' })).status).toBe(status);
    expect(await balance(service, key)).toEqual({ available: 0, pending: 0, retained: 0 });
    expect(await caseOf(service, key, id)).toMatchObject({ money_outcome: 'closed_without_refund' });
  });

  it('a dispute that becomes a chargeback is held once, and APPROVED only when both are won', async () => {
    const id = await paid();
    await happens(id, { event: 'dispute' });
    expect((await happens(id, { event: 'chargeback' })).status).toBe('CHARGEBACK');
    expect(await balance(service, key)).toEqual({ available: 0, pending: 0, retained: 100 });
    expect((await happens(id, { event: 'med_rule', result: 'disagreed' })).status).toBe('CHARGEBACK');
    expect(await balance(service, key)).toEqual({ available: 0, pending: 0, retained: 100 });
    expect((await happens(id, { event: 'med_withdraw' })).status).toBe('APPROVED');
    expect(await balance(service, key)).toEqual({ available: 100, pending: 0, retained: 0 });
  });

  it('a chargeback that arrives before its payment is not lost', async () => {
    const id = await created();
    const [row] = await service.sql<{ txid: string }>('SELECT txid FROM transactions WHERE id = $1', [id]);
    const txid = row?.txid ?? '';
    const bank = service.get(SandboxAcquirer);
    const confirmation = service.get(ConfirmationService);
    const payment = await bank.orders.receivePayment({
      accountId: merchant.accountId,
      txid,
      reference: randomUUID().replaceAll('-', ''),
      method: 'CREDIT_CARD',
      amount: 100,
      payer: { name: null, document: null },
    });
    const payer = { name: null, document: null };
    const chargeback = await bank.disputes.open({ txid, paymentReference: null, type: 'chargeback', payer });
    await confirmation.confirm(chargeback ?? '');
    expect(await casesOf(service, key, id)).toEqual([]);
    await confirmation.confirm(payment);
    await confirmation.confirm(chargeback ?? '');
    expect(await caseOf(service, key, id)).toMatchObject({ type: 'chargeback', status: 'open' });
    expect(await balance(service, key)).toEqual({ available: 0, pending: 0, retained: 100 });
  });

  it('a chargeback of a payment that was refunded waits for an operator', async () => {
    const { token } = await service.operator();
    const id = await paid();
    await refundEnd(service, key, (await requestRefund(service, key, id)).body);
    expect((await happens(id, { event: 'chargeback' })).status).toBe('REFUNDED');
    expect(await casesOf(service, key, id)).toEqual([]);
    expect((await medQueue(service, token, '?limit=1'))[0]).toMatchObject({
      review: 'not_disputable',
      case: { charge_id: `ch_${id}`, type: 'chargeback' },
    });
  });
});
