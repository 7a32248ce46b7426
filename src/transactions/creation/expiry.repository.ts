import { Injectable } from '@nestjs/common';
import { write, type Tx } from '../../core/database/index.js';
import { type ExpiryDue, OPEN, UNREADABLE } from '../transactions.repository.js';

/** Leases the rows; one whose question was not answered is claimed again after that. */
const CLAIM = write(
  'expiry.claim',
  `UPDATE transactions SET expiry_ask_at = $2 WHERE id IN (
     SELECT t.id FROM transactions t
     WHERE ${OPEN} AND t.expires_at <= $3 AND t.expires_at > $4 AND NOT t.acquirer = ANY ($5::text[])
       AND 'PIX' = ANY (t.payment_methods) AND t.expiry_asked_at IS NULL
       AND (t.expiry_ask_at IS NULL OR t.expiry_ask_at <= $1) AND NOT ${UNREADABLE}
     ORDER BY t.expires_at LIMIT $6 FOR UPDATE SKIP LOCKED)
   RETURNING id`,
);
const ASKED = write('expiry.asked', 'UPDATE transactions SET expiry_asked_at = $2 WHERE id = $1');

/** Which charges past their expiry are still to be asked about. */
@Injectable()
export class ExpiryRepository {
  /** @param expiredBefore those that expired later are not asked about yet */
  async claim(
    tx: Tx,
    { now, unheardBefore, unasked }: ExpiryDue,
    expiredBefore: Date,
    leasedUntil: Date,
    limit: number,
  ): Promise<string[]> {
    const rows = await tx.query<{ id: string }>(CLAIM, [
      now,
      leasedUntil,
      expiredBefore,
      unheardBefore,
      unasked,
      limit,
    ]);
    return rows.map((row) => row.id);
  }

  asked(tx: Tx, id: string, at: Date): void {
    tx.defer(ASKED, [id, at]);
  }
}
