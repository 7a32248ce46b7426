import type { ShownTransaction } from '../transactions/index.js';
import { publicStatus } from './charge-status.js';
import type { ChargeBody } from './dto/charge.body.js';

/** The public charge: the same in the API and in webhooks. An allow-list: what is not named here never leaves. */
export function chargeBody(t: ShownTransaction, publicBaseUrl: string): ChargeBody {
  const checkoutUrl = `${publicBaseUrl}/checkout/${t.id}`;
  return {
    id: `ch_${t.id}`,
    object: 'charge',
    amount: t.amount,
    currency: t.currency,
    status: publicStatus(t.status),
    payment_method: 'pix',
    customer: {
      ...(t.customerName === null ? {} : { name: t.customerName }),
      ...(t.customerDocument === null ? {} : { document: t.customerDocument }),
      ...(t.customerEmail === null ? {} : { email: t.customerEmail }),
      ...(t.customerPhone === null ? {} : { phone: t.customerPhone }),
    },
    pix: {
      br_code: t.brCode ?? '',
      qr_code_url: `${checkoutUrl}/qr.png`,
      expires_at: t.expiresAt?.toISOString() ?? null,
      ...(t.txid === null ? {} : { txid: t.txid }),
    },
    checkout_url: checkoutUrl,
    settlement:
      t.paidAt === null || t.paidWith !== 'PIX' || t.endToEndId === null ? {} : { end_to_end_id: t.endToEndId },
    metadata: {
      ...t.metadata,
      ...(t.failure === null ? {} : { failure: t.failure }),
      ...(t.med === null ? {} : { med: t.med }),
    },
    created_at: t.createdAt.toISOString(),
    ...(t.expectedPayerTaxId === null ? {} : { expected_payer_tax_id: t.expectedPayerTaxId }),
    ...(t.refundsAmount === 0 ? {} : { amount_refunded: t.refundsAmount }),
    ...(t.returns === null || t.returns.length === 0
      ? {}
      : {
          returns: t.returns.map(({ amount, reason, endToEndId, at }) => ({
            amount,
            reason,
            end_to_end_id: endToEndId,
            at,
          })),
        }),
  };
}
