import { parseId } from '../core/ids.js';

/** The parameter of every route of one payment, for the OpenAPI document. */
export const PAYMENT_ID = {
  name: 'id',
  description: 'Of the payment: `<uuid>`, `tx_<uuid>` or `ch_<uuid>`.',
  schema: { type: 'string' as const },
};

/** Every form of a payment id: docs/contract.md#ids. @throws ApiError 404 */
export function paymentId(id: string): string {
  return parseId(id, ['tx_', 'ch_'], 'payment');
}
