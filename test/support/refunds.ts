import { randomUUID } from 'node:crypto';
import type { Answer, ChargeAnswer, TestService } from './service.js';
import { waitFor } from './wait.js';

export interface RefundAnswer extends Record<string, unknown> {
  id: string;
  transactionId: string;
  amount: number;
  currency: string;
  status: string;
  reason: string | null;
  createdAt: string;
}

export interface RefundItem extends RefundAnswer {
  strategy: string | null;
  endToEndId: string | null;
  returnId: string | null;
  failureReason: string | null;
  updatedAt: string;
}

export interface ErrorAnswer {
  error: { type: string; code: string; message: string; param?: string; details?: { param: string; code: string }[] };
}

export type RefundOrError = RefundAnswer & ErrorAnswer;

/** The bare id of a charge, which is its payment's. */
export function paymentIdOf(charge: Pick<ChargeAnswer, 'id'>): string {
  return charge.id.replace(/^ch_/, '');
}

export async function aPaidCharge(service: TestService, key: string, amount = 100): Promise<ChargeAnswer> {
  const { body } = await service.createCharge(key, { amount });
  const paid = await service.simulate(key, body.id, { event: 'pay' });
  if (paid.body.charge.status !== 'paid') throw new Error(`The charge is ${paid.body.charge.status}`);
  return paid.body.charge;
}

export function requestRefund(
  service: TestService,
  key: string,
  paymentId: string,
  body: Record<string, unknown> = {},
): Promise<Answer<RefundOrError>> {
  return service.call('POST', `/v1/payments/${paymentId}/refund`, {
    key,
    body: { idempotencyKey: `refund-${randomUUID()}`, ...body },
  });
}

export async function refundsOf(service: TestService, key: string, paymentId: string): Promise<RefundItem[]> {
  const { body } = await service.call<{ data: RefundItem[]; total: number }>(
    'GET',
    `/v1/payments/${paymentId}/refunds`,
    { key },
  );
  if (body.total !== body.data.length) throw new Error(`total is ${body.total}, not ${body.data.length}`);
  return body.data;
}

/** The refund once it has come to its end. */
export function refundEnd(service: TestService, key: string, refund: RefundAnswer): Promise<RefundItem> {
  return waitFor(`the refund ${refund.id} to end`, async () => {
    const refunds = await refundsOf(service, key, refund.transactionId);
    return refunds.find(({ id, status }) => id === refund.id && (status === 'REFUNDED' || status === 'FAILED'));
  });
}

export async function available(service: TestService, key: string): Promise<number> {
  const { body } = await service.call<{ available: number }>('GET', '/v1/wallets/balance?currency=BRL', { key });
  return body.available;
}

/**
 * Resolves when nothing is on its way back that came too late, twice or from the wrong payer.
 * @param meanwhile runs before each look
 */
export function allReturned(service: TestService, meanwhile?: () => Promise<unknown>): Promise<true> {
  return waitFor('all returns to be made', async () => {
    await meanwhile?.();
    const rows = await service.sql(`SELECT 1 FROM pix_returns WHERE status IN ('PENDING', 'IN_PROGRESS')`);
    return rows.length === 0;
  });
}

export async function openRefunds(service: TestService): Promise<number> {
  const [row] = await service.sql<{ open: number }>(
    `SELECT count(*)::int AS open FROM refunds WHERE status IN ('PENDING', 'IN_PROGRESS')`,
  );
  return row?.open ?? 0;
}
