import type { PaymentLinkBody } from './dto/payment-link.body.js';
import { closedReason } from './payment-link.js';
import type { PaymentLink } from './payment-link.entity.js';

export function linkId({ id }: Pick<PaymentLink, 'id'>): string {
  return `pl_${id}`;
}

export function paymentLinkBody(link: PaymentLink, publicBaseUrl: string, now: Date): PaymentLinkBody {
  const url = `${publicBaseUrl}/pay/${link.shortId}`;
  const reason = closedReason(link, now);
  return {
    id: linkId(link),
    object: 'payment_link',
    url,
    qr_code_url: `${url}/qr.png`,
    status: reason === null ? 'active' : 'ended',
    ended_reason: reason,
    name: link.name,
    description: link.description,
    picture: link.pictureType === null ? null : `${url}/picture`,
    amount: link.amount,
    amount_min: link.amountMin,
    amount_max: link.amountMax,
    currency: 'BRL',
    max_payments: link.maxPayments,
    expires_at: link.expiresAt?.toISOString() ?? null,
    ask: [...link.ask],
    question: link.question,
    return_url: link.returnUrl,
    metadata: link.metadata,
    paid_count: link.paidCount,
    paid_amount: link.paidAmount,
    created_at: link.createdAt.toISOString(),
    updated_at: link.updatedAt.toISOString(),
  };
}
