import { type ChargeBody, chargeBody, type PublicStatus, publicStatus } from '../charges/index.js';
import type { Amount } from '../core/money/index.js';
import { isPix, type ShownTransaction } from '../transactions/index.js';

/** A payment without Pix, told of as far as it is like a charge: there is no code and no checkout. */
export interface SandboxChargeBody {
  id: string;
  object: 'charge';
  amount: Amount;
  currency: string;
  status: PublicStatus;
  payment_method: string;
  metadata: Record<string, unknown>;
  created_at: string;
}

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
  };
}
