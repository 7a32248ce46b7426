/**
 * SQL for the text that tells customers apart: the tax id, or else the e-mail of a sale. Word by word as in the index
 * `transactions_customer_idx`.
 */
export function customerKey(row: string): string {
  return `coalesce(${row}.customer_document, ${row}.expected_payer_tax_id, lower(${row}.customer_email))`;
}
