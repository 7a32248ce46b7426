import { Injectable } from '@nestjs/common';
import { qrPng } from '../brazil/index.js';
import type { Scope } from '../core/mode.js';
import { totalsBody } from '../core/totals.js';
import { CancellationService, MedPayers, type Transaction, TransactionsService } from '../transactions/index.js';
import type { ListPaymentsQuery } from './dto/list-payments.query.js';
import type { CancelledPaymentBody, PaymentDetailBody, PaymentListBody } from './dto/payment.body.js';
import type { PaymentTotalsBody } from './dto/payment-totals.body.js';
import type { ResendWebhookBody } from './dto/resend-webhook.body.js';
import { paymentId } from './payment-id.js';
import { type PageQuery, PaymentPages } from './payment-pages.service.js';
import { cancelledPayment, paymentDetail, paymentList } from './payment.serializer.js';

/** Payments: the camelCase view of transactions. */
@Injectable()
export class PaymentsService {
  constructor(
    private readonly transactions: TransactionsService,
    private readonly pages: PaymentPages,
    private readonly payers: MedPayers,
    private readonly cancellation: CancellationService,
  ) {}

  /** @throws ApiError 404 */
  async get(scope: Scope, id: string): Promise<PaymentDetailBody> {
    const transaction = await this.transactions.get(scope, paymentId(id), 'payment');
    const shown = this.payers.show(transaction);
    return paymentDetail(shown, pixQrCode(shown));
  }

  async list(scope: Scope, query: ListPaymentsQuery): Promise<PaymentListBody> {
    const wanted = pageQuery(query);
    const { page, limit } = wanted;
    const { transactions, total } = await this.pages.page(scope, wanted);
    const shown = transactions.map((transaction) => this.payers.show(transaction));
    return paymentList(shown, total, page, limit);
  }

  /** Returns the ids of the newest sales that match a text, as the list finds them. @throws ApiError 503 */
  find(scope: Scope, text: string): Promise<string[]> {
    return this.pages.find(scope, text);
  }

  async totals(scope: Scope, query: ListPaymentsQuery): Promise<PaymentTotalsBody> {
    return totalsBody(await this.pages.totals(scope, pageQuery(query)));
  }

  /** @throws ApiError 404, 400 `payment_not_cancellable` */
  async cancel(scope: Scope, id: string): Promise<CancelledPaymentBody> {
    const { transaction, previousStatus } = await this.cancellation.cancel(scope, paymentId(id));
    const shown = this.payers.show(transaction);
    return cancelledPayment(shown, pixQrCode(shown), previousStatus);
  }

  /** @throws ApiError 404 */
  async resendWebhook(scope: Scope, id: string): Promise<ResendWebhookBody> {
    const { transaction, deliveries } = await this.transactions.resendEvent(scope, paymentId(id));
    return { resent: deliveries > 0, status: transaction.status };
  }
}

/**
 * Draws the picture of the code. The row does not store it: it is a hundred times larger, and most are never viewed.
 */
function pixQrCode({ brCode }: Pick<Transaction, 'brCode'>): string | null {
  return brCode === null ? null : `data:image/png;base64,${qrPng(brCode).toString('base64')}`;
}

function pageQuery(query: ListPaymentsQuery): PageQuery {
  return {
    page: query.page ?? 1,
    limit: query.limit ?? 20,
    status: query.status ?? null,
    from: query.startDate ?? null,
    to: query.endDate ?? null,
    sortBy: query.sortBy ?? 'createdAt',
    sortOrder: query.sortOrder ?? 'desc',
    search: searchOf(query),
  };
}

function searchOf({ ids, query, metadata }: ListPaymentsQuery): PageQuery['search'] {
  if (ids !== undefined) return { ids: ids.split(',').map(paymentId) };
  return query === undefined && metadata === undefined
    ? null
    : { text: query?.trim() ?? null, metadata: metadata ?? {} };
}
