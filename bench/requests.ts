export interface ChargeAnswer {
  readonly id: string;
  readonly pix: { readonly txid: string };
}

/** An everyday charge: who is charged, what for, and the merchant's own reference. */
export const CHARGE = JSON.stringify({
  amount: 1990,
  payment_method: 'pix',
  description: 'Order 1042',
  customer: { name: 'Maria da Silva', document: '529.982.247-25', email: 'maria@example.com' },
  metadata: { order_id: '1042', channel: 'web' },
});

export const PAY = JSON.stringify({ event: 'pay' });

/** @param id `ch_<uuid>` */
export function payPath(id: string): string {
  return `/v1/sandbox/charges/${id}/simulate`;
}
