import { randomUUID } from 'node:crypto';
import { Database } from '../../src/core/database/index.js';
import { CorrectionsService } from '../../src/transactions/index.js';
import type { PayoutBody } from '../../src/payouts/index.js';
import { aPaidCharge, type ErrorAnswer } from './refunds.js';
import { type Answer, type Merchant, type TestService } from './service.js';
import { waitFor } from './wait.js';

export type PayoutOrError = PayoutBody & ErrorAnswer;

export const CPF = '52998224725';
export const OTHER_CPF = '11144477735';
export const CNPJ = '11222333000181';
export const OTHER_BRANCH = '11222333000262';

/** A receiver by CPF. */
export const TO_CPF = { type: 'pix_key', key: CPF } as const;

export function requestPayout(
  service: TestService,
  key: string,
  body: Record<string, unknown> = {},
  idempotencyKey: string = randomUUID(),
): Promise<Answer<PayoutOrError>> {
  return service.call<PayoutOrError>('POST', '/v1/payouts', {
    key,
    headers: { 'Idempotency-Key': idempotencyKey },
    body: { amount: 500, destination: TO_CPF, ...body },
  });
}

/** @throws Error unless the payout is accepted */
export async function aPayout(
  service: TestService,
  key: string,
  body: Record<string, unknown> = {},
): Promise<PayoutBody> {
  const { status, body: payout } = await requestPayout(service, key, body);
  if (status !== 201) throw new Error(`The payout was answered with ${status}: ${JSON.stringify(payout)}`);
  return payout;
}

/** A merchant with money in test mode. */
export async function aFundedMerchant(
  service: TestService,
  { amount = 10_000, ...settings }: Record<string, string | number> = {},
): Promise<Merchant> {
  const texts = Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, String(value)]));
  const merchant = await service.merchant(texts);
  await aPaidCharge(service, merchant.testKey, Number(amount));
  return merchant;
}

/** Gives the account live money, as a correction of the books. */
export async function liveMoney(service: TestService, accountId: string, amount: number): Promise<void> {
  const corrections = service.get(CorrectionsService);
  await service.get(Database).transaction(async (tx) => {
    const found = { kind: 'loss', amount: -amount, borneBy: 'merchant', currency: 'BRL', mode: 'live' } as const;
    const why = { reason: 'The bank has found it', idempotencyKey: randomUUID(), bankReference: null };
    const scope = { accountId, transactionId: null, acquirer: null, invoiceMonth: null };
    const { correction } = await corrections.request(tx, { ...found, ...why, ...scope }, randomUUID());
    await corrections.approve(tx, correction.id, randomUUID());
  });
}

export async function readPayout(service: TestService, key: string, id: string): Promise<PayoutBody> {
  return (await service.call<PayoutBody>('GET', `/v1/payouts/${id}`, { key })).body;
}

/** Waits until the payout has the status. */
export async function payoutOf(service: TestService, key: string, id: string, status: string): Promise<PayoutBody> {
  let last: PayoutBody | null = null;
  await waitFor(`the payout to be ${status}`, async () => {
    last = await readPayout(service, key, id);
    return last.status === status;
  });
  return last as unknown as PayoutBody;
}

export function simulatePayout(
  service: TestService,
  key: string,
  id: string,
  body: { event: string; amount?: number },
): Promise<Answer<ErrorAnswer>> {
  return service.call<ErrorAnswer>('POST', `/v1/sandbox/payouts/${id}/simulate`, { key, body: { ...body } });
}

/** The wallet's buckets in cents. */
export async function wallet(
  service: TestService,
  accountId: string,
  mode: 'test' | 'live' = 'test',
): Promise<Record<string, number>> {
  const rows = await service.sql<{ bucket: string; amount: number }>(
    'SELECT bucket, amount FROM balances WHERE account_id = $1 AND mode = $2',
    [accountId, mode],
  );
  return Object.fromEntries(rows.map(({ bucket, amount }) => [bucket, Number(amount)]));
}

/** Number of payouts that are not over. */
export async function openPayouts(service: TestService): Promise<number> {
  const [row] = await service.sql<{ count: number }>(
    `SELECT count(*)::int AS count FROM payouts WHERE status IN ('QUEUED', 'SENDING') AND send_after <= now()`,
  );
  return row?.count ?? 0;
}
