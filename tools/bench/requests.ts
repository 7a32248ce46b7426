export interface ChargeAnswer {
  readonly id: string;
  readonly pix: { readonly txid: string };
}

/**
 * An everyday charge with customer, description and the merchant's own reference. Each has another customer: the fraud
 * guard is part of the measurement, and allows thirty a minute for one.
 */
export function newCharge(): string {
  return JSON.stringify({
    amount: 1990,
    payment_method: 'pix',
    description: 'Order 1042',
    customer: { name: 'Maria da Silva', document: newCpf(), email: 'maria@example.com' },
    metadata: { order_id: '1042', channel: 'web' },
  });
}

let customers = 100_000_000;

/** The next one with valid check digits. */
function newCpf(): string {
  const base = String(customers++);
  const first = checkDigit(base);
  return `${base}${first}${checkDigit(`${base}${first}`)}`;
}

/** Weights run 2, 3, … from the right, modulo 11. */
function checkDigit(digits: string): string {
  const sum = [...digits].reverse().reduce((total, digit, index) => total + Number(digit) * (index + 2), 0);
  return String(((sum * 10) % 11) % 10);
}

export const PAY = JSON.stringify({ event: 'pay' });

/** @param id `ch_<uuid>` */
export function payPath(id: string): string {
  return `/v1/sandbox/charges/${id}/simulate`;
}
