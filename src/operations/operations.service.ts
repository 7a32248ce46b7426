import { Injectable } from '@nestjs/common';
import { type Actor, AuditTrail } from '../audit/index.js';
import { Database } from '../core/database/index.js';
import { type Review, ReviewsService } from '../transactions/index.js';

/** What operators decide about money, each decision in one transaction with its record. */
@Injectable()
export class OperationsService {
  constructor(
    private readonly database: Database,
    private readonly reviews: ReviewsService,
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
