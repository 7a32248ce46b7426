import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { expectLedgerCoherent } from '../../support/coherence.js';
import { aPaidCharge, paymentIdOf, requestRefund } from '../../support/refunds.js';
import { type Merchant, TestService } from '../../support/service.js';

describe('idempotency keys', () => {
  const service = TestService.forSpec();
  let merchant: Merchant;

  beforeAll(async () => {
    merchant = await service.merchant();
  });
  afterEach(() => expectLedgerCoherent(service.database.url));

  it('in bodies are compared without the blanks around them, like those of the header', async () => {
    const pay = async (idempotencyKey: string): Promise<{ status: number; id: string }> => {
      const body = { amount: 1_000, paymentMethods: ['PIX'], idempotencyKey };
      const answer = await service.call<{ id: string }>('POST', '/v1/payments', { key: merchant.testKey, body });
      return { status: answer.status, id: answer.body.id };
    };
    const first = await pay(' order-1 ');
    expect(first.status).toBe(201);
    for (const key of ['order-1', '  order-1', ' order-1 ']) expect((await pay(key)).id).toBe(first.id);
    const sale = paymentIdOf(await aPaidCharge(service, merchant.testKey, 1_000));
    const refund = { amount: 100, idempotencyKey: ' refund-1' };
    const { status, body } = await requestRefund(service, merchant.testKey, sale, refund);
    expect(status).toBe(201);
    const again = await requestRefund(service, merchant.testKey, sale, { ...refund, idempotencyKey: 'refund-1 ' });
    expect(again.body.id).toBe(body.id);
    expect(await service.sql(`SELECT 1 FROM refunds WHERE transaction_id = $1`, [sale])).toHaveLength(1);
  });

  it('are not reported as in use when another row is locked: the answer is 503, and the same request works afterwards', async () => {
    const sale = paymentIdOf(await aPaidCharge(service, merchant.testKey, 1_000));
    const refund = { amount: 100, idempotencyKey: 'refund-2' };
    const holder = new pg.Client({ connectionString: service.database.ownerUrl });
    await holder.connect();
    try {
      await holder.query('BEGIN');
      await holder.query('SELECT 1 FROM transactions WHERE id = $1 FOR UPDATE', [sale]);
      const refused = await requestRefund(service, merchant.testKey, sale, refund);
      expect([refused.status, refused.body.error.code]).toEqual([503, 'service_unavailable']);
    } finally {
      await holder.query('ROLLBACK');
      await holder.end();
    }
    expect((await requestRefund(service, merchant.testKey, sale, refund)).status).toBe(201);
  });
});
