import { Injectable } from '@nestjs/common';
import { read, Reader } from '../core/database/index.js';
import type { Amount } from '../core/money/index.js';

/**
 * Adds up entries by cause: received money, returns by their own id, money taken by disputes, operators' corrections.
 */
const OF_PIX = read(
  'holdings.of_pix',
  `WITH pix AS (
     SELECT id, transaction_id, end_to_end_id, acquirer, outcome FROM settlements
     WHERE acquirer = ANY ($1::text[]) AND namespace IS NULL AND end_to_end_id = ANY ($2::text[])
   ), entries AS (
     SELECT p.end_to_end_id, e.id FROM pix p JOIN journal_entries e ON e.cause = 'charge.paid:' || p.transaction_id
     WHERE p.outcome = 'credited'
     UNION ALL
     SELECT p.end_to_end_id, e.id FROM pix p JOIN journal_entries e ON e.cause = 'suspense.received:' || p.id
     UNION ALL
     SELECT p.end_to_end_id, e.id FROM pix p
       JOIN pix_returns r ON (r.acquirer, r.end_to_end_id) = (p.acquirer, p.end_to_end_id)
         AND r.transaction_id IS NOT DISTINCT FROM p.transaction_id
       JOIN journal_entries e ON e.cause = 'suspense.returned:' || r.id
     UNION ALL
     SELECT p.end_to_end_id, e.id FROM pix p
       JOIN refunds r ON r.transaction_id = p.transaction_id AND r.payment_reference = p.end_to_end_id AND r.way = 'devolution'
       JOIN journal_entries e ON e.cause = 'refund.paid:' || r.id
     UNION ALL
     SELECT p.end_to_end_id, e.id FROM pix p
       JOIN med_cases c ON c.transaction_id = p.transaction_id AND c.payment_reference = p.end_to_end_id
       JOIN journal_entries e ON split_part(e.cause, ':', 2) = c.id::text AND e.type NOT IN ('sale', 'release') AND e.cause LIKE 'med.%'
     UNION ALL
     SELECT p.end_to_end_id, e.id FROM pix p
       JOIN corrections c ON c.settlement_id = p.id JOIN journal_entries e ON e.cause = 'correction:' || c.id
   )
   SELECT e.end_to_end_id AS "endToEndId", (-sum(l.amount))::bigint AS amount
   FROM entries e JOIN journal_lines l ON l.entry_id = e.id AND l.bucket = 'clearing' GROUP BY 1`,
);

/** Money that acquirers hold by the ledger (the bucket `clearing`). Reads only. */
@Injectable()
export class HoldingsRepository {
  constructor(private readonly reader: Reader) {}

  /**
   * The remaining amount of each Pix at the acquirer, in cents, for acquirers whose references are worldwide. Cashouts
   * (a merchant's payments to a payer) do not count. A Pix without an entry is left out.
   */
  async ofPix(acquirers: readonly string[], endToEndIds: readonly string[]): Promise<Map<string, Amount>> {
    const rows = await this.reader.query<{ endToEndId: string; amount: Amount }>(OF_PIX, [acquirers, endToEndIds]);
    return new Map(rows.map(({ endToEndId, amount }) => [endToEndId, amount]));
  }
}
