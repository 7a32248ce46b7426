import { type ChargeBody, chargeBody, publicStatus } from '../charges/index.js';
import { isPix, type ShownTransaction } from '../transactions/index.js';
import type { SandboxChargeBody } from './dto/simulate.body.js';

export function sandboxCharge(t: ShownTransaction, publicBaseUrl: string): ChargeBody | SandboxChargeBody {
  if (isPix(t)) return chargeBody(t, publicBaseUrl);
  return {
    id: `ch_${t.id}`,
    object: 'charge',
    amount: t.amount,
    currency: t.currency,
    status: publicStatus(t.status),
    payment_method: (t.paidWith ?? t.paymentMethods[0] ?? '').toLowerCase(),
    metadata: t.metadata,
    created_at: t.createdAt.toISOString(),
    ...(t.refundsAmount === 0 ? {} : { amount_refunded: t.refundsAmount }),
  };
}
