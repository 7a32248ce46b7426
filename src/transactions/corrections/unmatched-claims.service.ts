import { Injectable } from '@nestjs/common';
import { Database } from '../../core/database/index.js';
import { Logger } from '../../core/log/index.js';
import type { ReceivedMoney } from '../settlement/settlement.rules.js';
import { TransactionMoves } from '../transaction-moves.service.js';
import { CorrectionMoves } from './correction-moves.service.js';
import { CorrectionsRepository } from './corrections.repository.js';

/** Unmatched Pix that the acquirer has named as the payment of a charge since they were booked. */
@Injectable()
export class UnmatchedClaims {
  constructor(
    private readonly database: Database,
    private readonly corrections: CorrectionsRepository,
    private readonly transactions: TransactionMoves,
    private readonly moves: CorrectionMoves,
    private readonly logger: Logger,
  ) {}

  /**
   * Credits the charge with a Pix that is settled here already, if the Pix is unmatched. An operator who decides about
   * the Pix at that moment waits for the same locks, and one decision holds. Locks the sale, the Pix, then balances.
   * @param money names the charge by its txid, as the acquirer has confirmed
   */
  async claim(acquirer: string, { endToEndId, txid }: ReceivedMoney): Promise<void> {
    if (txid === null) return;
    const isClaimed = await this.database.transaction(async (tx) => {
      const settlementId = await this.corrections.claimable(tx, acquirer, endToEndId);
      if (settlementId === null) return false;
      const sale = await this.transactions.lockIssued(tx, acquirer, txid);
      return sale !== null && (await this.moves.claim(tx, settlementId, sale));
    });
    if (isClaimed) this.logger.info({ acquirer, endToEndId, txid }, 'an unmatched Pix pays the charge that names it');
  }
}
