import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it } from '@jest/globals';
import { expectLedgerCoherent } from '../../support/coherence.js';
import { casesOf } from '../../support/med.js';
import { aPaidCharge, available, openRefunds, paymentIdOf, refundEnd, requestRefund } from '../../support/refunds.js';
import { type Answer, type ChargeAnswer, TestService } from '../../support/service.js';
import { waitFor } from '../../support/wait.js';

const SAME = 'E00000000202611211530abcDEF12345';

describe('the sandbox bank', () => {
  const service = TestService.forSpec();

  afterEach(async () => {
    await waitFor('everything that goes back', async () => {
      const rows = await service.sql(`SELECT 1 FROM pix_returns WHERE status IN ('PENDING', 'IN_PROGRESS')`);
      return rows.length === 0 && (await openRefunds(service)) === 0;
    });
    await expectLedgerCoherent(service.database.url);
  });

  const keyOf = async (): Promise<string> => (await service.merchant()).testKey;

  async function charge(key: string): Promise<ChargeAnswer> {
    return (await service.createCharge(key, { amount: 1000 })).body;
  }

  async function pay(key: string, id: string, body: Record<string, unknown>): Promise<ChargeAnswer> {
    const answer = await service.simulate(key, id, { event: 'pay', ...body });
    expect(answer.status).toBe(200);
    return answer.body.charge;
  }

  describe('accepting an end-to-end id that the caller chose', () => {
    it('keeps the ids of accounts apart: the same id in another account is another Pix', async () => {
      const keys = [await keyOf(), await keyOf()];
      for (const key of keys) {
        const { id } = await charge(key);
        const paid = await pay(key, id, { end_to_end_id: SAME });
        expect([paid.status, paid.settlement]).toEqual(['paid', { end_to_end_id: SAME }]);
        // Paying once more changes nothing.
        expect(await pay(key, id, { end_to_end_id: SAME })).toEqual(paid);
        expect(await available(service, key)).toBe(1000);
      }
      // Each account refunds its own Pix.
      for (const [index, key] of keys.entries()) {
        const [row] = await service.sql<{ id: string }>(
          `SELECT t.id FROM transactions t JOIN api_keys k USING (account_id)
           WHERE t.end_to_end_id = $1 AND k.prefix = $2`,
          [SAME, key.slice(0, 12)],
        );
        const strategy = index === 0 ? 'devolution' : 'cashout';
        const { body } = await requestRefund(service, key, row?.id ?? '', { strategy });
        expect(await refundEnd(service, key, body)).toMatchObject({ status: 'REFUNDED', amount: 1000, strategy });
        expect(await available(service, key)).toBe(0);
        const receipt = await service.call('GET', `/v1/payments/${row?.id ?? ''}/receipt`, { key });
        expect(receipt.status).toBe(200);
      }
    });

    it('disputes only the account’s own payment of that id', async () => {
      const keys = [await keyOf(), await keyOf(), await keyOf()];
      const ids: string[] = [];
      for (const key of keys) {
        const { id } = await charge(key);
        ids.push(id);
        await pay(key, id, { end_to_end_id: SAME });
      }
      await service.simulate(keys[1] ?? '', ids[1] ?? '', { event: 'med_open' });
      const states = await Promise.all(
        keys.map(async (key, index) => [
          (await service.getCharge(key, ids[index] ?? '')).body.status,
          await available(service, key),
          (await casesOf(service, key, ids[index] ?? '')).length,
        ]),
      );
      expect(states).toEqual([
        ['paid', 1000, 0],
        ['disputed', 0, 1],
        ['paid', 1000, 0],
      ]);
    });

    it('accepts an id once per account: for another charge it changes nothing', async () => {
      const key = await keyOf();
      const [first, second] = [await charge(key), await charge(key)];
      await pay(key, first.id, { end_to_end_id: SAME });
      expect((await pay(key, second.id, { end_to_end_id: SAME })).status).toBe('pending');
      expect(await available(service, key)).toBe(1000);
      expect((await pay(key, second.id, {})).status).toBe('paid');
    });

    it('credits each of two accounts once when both use one id at the same moment, many times', async () => {
      const keys = [await keyOf(), await keyOf()];
      const charges = await Promise.all(keys.map(charge));
      await Promise.all(
        keys.flatMap((key, index) =>
          Array.from({ length: 5 }, () => pay(key, charges[index]?.id ?? '', { end_to_end_id: SAME })),
        ),
      );
      for (const key of keys) expect(await available(service, key)).toBe(1000);
    });

    it('accepts the id for a payment by another method', async () => {
      for (const key of [await keyOf(), await keyOf()]) {
        const { body } = await service.call<{ id: string }>('POST', '/v1/payments', {
          key,
          body: { amount: 1000, paymentMethods: ['CREDIT_CARD'], idempotencyKey: randomUUID() },
        });
        const paid = await service.call<{ payment: { status: string } }>(
          'POST',
          `/v1/sandbox/payments/${body.id}/simulate`,
          { key, body: { event: 'pay', end_to_end_id: 'card1' } },
        );
        expect(paid.body.payment.status).toBe('APPROVED');
      }
    });
  });

  it('makes the next refund end FAILED after refund_fail, even if other money goes back before it', async () => {
    const key = await keyOf();
    const { id } = await charge(key);
    const rawId = id.slice(3);
    await service.simulate(key, id, { event: 'refund_fail' });
    // A Pix of another amount, which is returned.
    expect((await pay(key, id, { amount: 999 })).status).toBe('pending');
    expect((await pay(key, id, {})).status).toBe('paid');
    // A second Pix, which is returned.
    await pay(key, id, {});
    const returns = await waitFor('both returns', async () => {
      const rows = await service.sql<{ status: string }>('SELECT status FROM pix_returns WHERE transaction_id = $1', [
        rawId,
      ]);
      return rows.length === 2 && rows.every(({ status }) => status === 'RETURNED' || status === 'FAILED')
        ? rows
        : null;
    });
    expect(returns.map(({ status }) => status)).toEqual(['RETURNED', 'RETURNED']);

    const first = await requestRefund(service, key, rawId, { amount: 400 });
    expect(await refundEnd(service, key, first.body)).toMatchObject({ status: 'FAILED', failureReason: 'refused' });
    const second = await requestRefund(service, key, rawId, { amount: 400 });
    expect((await refundEnd(service, key, second.body)).status).toBe('REFUNDED');
  });

  it('shows the last twenty payments that went back when a sale is paid again and again', async () => {
    const key = await keyOf();
    const { id } = await charge(key);
    for (let n = 0; n < 23; n++)
      await pay(key, id, { end_to_end_id: `E00000000202611211530${String(n).padStart(11, '0')}` });
    await waitFor('all returns', async () => {
      const [row] = await service.sql<{ count: number }>(
        `SELECT count(*)::int AS count FROM pix_returns WHERE transaction_id = $1 AND status = 'RETURNED'`,
        [id.slice(3)],
      );
      return row?.count === 22;
    });
    const [row] = await service.sql<{ returns: { endToEndId: string }[] }>(
      'SELECT returns FROM transactions WHERE id = $1',
      [id.slice(3)],
    );
    const shown = row?.returns.map(({ endToEndId }) => endToEndId);
    const last = await service.sql<{ id: string }>(
      `SELECT end_to_end_id AS id FROM pix_returns WHERE transaction_id = $1 ORDER BY updated_at DESC, id DESC LIMIT 10`,
      [id.slice(3)],
    );
    expect(new Set(shown).size).toBe(20);
    expect(shown).toEqual(expect.arrayContaining(last.map((one) => one.id)));
  });

  it('limits refund_fail to its own charge', async () => {
    const key = await keyOf();
    const [failing, other] = [await aPaidCharge(service, key), await aPaidCharge(service, key)];
    await service.simulate(key, failing.id, { event: 'refund_fail' });
    const { body } = await requestRefund(service, key, paymentIdOf(other));
    expect((await refundEnd(service, key, body)).status).toBe('REFUNDED');
  });

  it('reports an unknown payment on payment routes, an unknown charge on charge routes', async () => {
    const key = await keyOf();
    const message = async (method: string, path: string, body?: unknown): Promise<unknown> => {
      const answer: Answer<{ error: { message: string } }> = await service.call(method, path, {
        key,
        ...(body === undefined ? {} : { body }),
      });
      expect([path, answer.status]).toEqual([path, 404]);
      return answer.body.error.message;
    };
    for (const id of [randomUUID(), 'nonsense']) {
      const refund = { idempotencyKey: randomUUID() };
      for (const [method, path, body] of [
        ['GET', ''],
        ['POST', '/cancel'],
        ['POST', '/resend-webhook'],
        ['GET', '/provider-status'],
        ['GET', '/receipt'],
        ['GET', '/refunds'],
        ['POST', '/refund', refund],
      ] as [string, string, unknown?][]) {
        expect(await message(method, `/v1/payments/${id}${path}`, body)).toBe('No such payment.');
      }
      const simulate = { event: 'pay' };
      expect(await message('POST', `/v1/sandbox/payments/${id}/simulate`, simulate)).toBe('No such payment.');
      expect(await message('POST', `/v1/sandbox/charges/${id}/simulate`, simulate)).toBe('No such charge.');
      expect(await message('GET', `/v1/charges/${id}`)).toBe('No such charge.');
    }
  });
});
