import { Injectable } from '@nestjs/common';
import { type Actor, AuditTrail } from '../audit/index.js';
import { Database, type Tx } from '../core/database/index.js';
import {
  type Correction,
  type CorrectionDecided,
  CorrectionsService,
  type Review,
  ReviewsService,
  type SuspenseCorrection,
  type WalletCorrection,
} from '../transactions/index.js';

/** Records operators' decisions about money, each in one transaction with its audit record. */
@Injectable()
export class OperationsService {
  constructor(
    private readonly database: Database,
    private readonly reviews: ReviewsService,
    private readonly corrections: CorrectionsService,
    private readonly audit: AuditTrail,
  ) {}

  /** @throws ApiError 404, 409 when it was returned before, also by a cancellation */
  acceptReview(id: string, operatorId: string, actor: Actor): Promise<Review> {
    return this.#decide('accept', id, operatorId, actor);
  }

  /** @throws ApiError 404, 409 when it was accepted before, or goes back by a cancellation */
  returnReview(id: string, operatorId: string, actor: Actor): Promise<Review> {
    return this.#decide('sendBack', id, operatorId, actor);
  }

  /** @throws ApiError 400, 404, 409 as `CorrectionsService.request` */
  correct(wanted: SuspenseCorrection | WalletCorrection, operatorId: string, actor: Actor): Promise<Correction> {
    return this.#recorded(actor, (tx) => this.corrections.request(tx, wanted, operatorId));
  }

  /** @throws ApiError 404, 409 as `CorrectionsService.approve` */
  decideCorrection(decision: 'approve' | 'reject', id: string, operatorId: string, actor: Actor): Promise<Correction> {
    return this.#recorded(actor, (tx) => this.corrections[decision](tx, id, operatorId));
  }

  #recorded(actor: Actor, decide: (tx: Tx) => Promise<CorrectionDecided>): Promise<Correction> {
    return this.database.transaction(async (tx) => {
      const { correction, changed } = await decide(tx);
      if (changed) {
        const { id, kind, status, accountId, amount, currency, settlementId, transactionId, reason, borneBy } =
          correction;
        const type = `correction.${status === 'waiting' ? 'requested' : status}` as const;
        const about = { pix_id: settlementId, transaction_id: transactionId };
        const data = { correction_id: id, kind, amount, currency, ...about, reason };
        // Merchants do not see corrections outside their wallets: a cost of the platform, or a Pix that is no payment.
        const isHidden = borneBy !== 'merchant' && kind !== 'assign';
        this.audit.record(tx, actor, type, accountId, { data, isHidden });
      }
      return correction;
    });
  }

  #decide(decision: 'accept' | 'sendBack', id: string, operatorId: string, actor: Actor): Promise<Review> {
    return this.database.transaction(async (tx) => {
      const { review, changed } = await this.reviews[decision](tx, id, operatorId);
      if (changed) {
        const type = decision === 'accept' ? 'review.accepted' : 'review.returned';
        const { transactionId, amount, endToEndId } = review;
        const data = { review_id: id, transaction_id: transactionId, amount, end_to_end_id: endToEndId };
        this.audit.record(tx, actor, type, review.account.id, { data });
      }
      return review;
    });
  }
}
