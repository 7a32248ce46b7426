import { Injectable } from '@nestjs/common';
import { parseId } from '../core/ids.js';
import type { Scope } from '../core/mode.js';
import { TransactionsService, type TransactionStatus } from '../transactions/index.js';

const PAYMENT_ID_PREFIXES = ['tx_', 'ch_'];

export interface ResendBody {
  resent: boolean;
  status: TransactionStatus;
}

/** The transaction wire format: transactions with their own statuses. */
@Injectable()
export class PaymentsService {
  constructor(private readonly transactions: TransactionsService) {}

  /** @throws ApiError 404 */
  async resendWebhook(scope: Scope, id: string): Promise<ResendBody> {
    const { transaction, deliveries } = await this.transactions.resendEvent(
      scope,
      parseId(id, PAYMENT_ID_PREFIXES, 'payment'),
    );
    return { resent: deliveries > 0, status: transaction.status };
  }
}
