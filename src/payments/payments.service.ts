import { Inject, Injectable } from '@nestjs/common';
import type { Account } from '../accounts/index.js';
import { normalizeTaxId, qrPng } from '../brazil/index.js';
import { type Config, CONFIG } from '../core/config/index.js';
import { fingerprintOf } from '../core/crypto/index.js';
import type { Draft, Violation } from '../core/errors/index.js';
import { firstInstantOf, lastInstantOf } from '../core/http/index.js';
import { type IdempotentAnswer, keyOf } from '../core/idempotency/index.js';
import type { Mode, Scope } from '../core/mode.js';
import { type AddressRules, checkUrl } from '../core/net/index.js';
import { FraudGuard } from '../fraud/index.js';
import {
  CancellationService,
  MedPayers,
  type NewPayment,
  PaymentCreationService,
  publicMetadata,
  returnUrlViolations,
  type Transaction,
  TransactionPagesService,
  TransactionsService,
} from '../transactions/index.js';
import type { CreatePaymentDto } from './dto/create-payment.dto.js';
import type { ListPaymentsQuery } from './dto/list-payments.query.js';
import type { CancelledPaymentBody, PaymentBody, PaymentDetailBody, PaymentListBody } from './dto/payment.body.js';
import type { ResendWebhookBody } from './dto/resend-webhook.body.js';
import { paymentId } from './payment-id.js';
import { cancelledPayment, paymentBody, paymentDetail, paymentList } from './payment.serializer.js';

/** Payments: the camelCase view of transactions. */
@Injectable()
export class PaymentsService {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly creation: PaymentCreationService,
    private readonly transactions: TransactionsService,
    private readonly pages: TransactionPagesService,
    private readonly payers: MedPayers,
    private readonly cancellation: CancellationService,
    private readonly fraud: FraudGuard,
  ) {}

  /**
   * @throws ApiError 400 with every violation, 403 `fraud.*`, 409 (idempotency), 422 `no_provider_configured`,
   *   `currency_limit_reached`
   */
  async create(scope: Scope, account: Account, draft: Draft<CreatePaymentDto>): Promise<IdempotentAnswer<PaymentBody>> {
    const dto = draft.accept(problemsOf(draft.sound, scope.mode, this.config));
    const input = toNewPayment(dto);
    const request = {
      ...scope,
      operation: 'payments.create',
      key: keyOf(dto.idempotencyKey),
      fingerprint: fingerprintOf(input),
      permanent: true,
    };
    const { amount, customer } = input;
    return this.creation.create(
      scope,
      account,
      input,
      request,
      () => this.fraud.check(scope, account, { operation: 'payment', amount, document: customer.document, request }),
      (transaction) => ({ status: 201, body: paymentBody(transaction) }),
    );
  }

  /** @throws ApiError 404 */
  async get(scope: Scope, id: string): Promise<PaymentDetailBody> {
    const transaction = await this.transactions.get(scope, paymentId(id), 'payment');
    const shown = this.payers.show(transaction);
    return paymentDetail(shown, pixQrCode(shown));
  }

  async list(scope: Scope, query: ListPaymentsQuery): Promise<PaymentListBody> {
    const page = Number(query.page ?? 1);
    const limit = Number(query.limit ?? 20);
    const { transactions, total } = await this.pages.page(scope, {
      page,
      limit,
      status: query.status ?? null,
      from: query.startDate === undefined ? null : firstInstantOf(query.startDate),
      to: query.endDate === undefined ? null : lastInstantOf(query.endDate),
      sortBy: query.sortBy ?? 'createdAt',
      sortOrder: query.sortOrder ?? 'desc',
      search:
        query.query === undefined && query.metadata === undefined
          ? null
          : { text: query.query?.trim() ?? null, metadata: query.metadata ?? {} },
    });
    const shown = transactions.map((transaction) => this.payers.show(transaction));
    return paymentList(shown, total, page, limit);
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

/** The picture of the code. It is not kept in the row: it has a hundred times the size, and most are never looked at. */
function pixQrCode({ brCode }: Pick<Transaction, 'brCode'>): string | null {
  return brCode === null ? null : `data:image/png;base64,${qrPng(brCode).toString('base64')}`;
}

/** What the methods of the payment need of its other fields, and whether its webhooks may go where they should. */
function problemsOf(sent: Partial<CreatePaymentDto>, mode: Mode, rules: AddressRules): Violation[] {
  const { currency, metadata, webhookUrl } = sent;
  const methods = new Set(sent.paymentMethods);
  const violations: Violation[] = [];
  const unless = (holds: boolean, param: string, code: string, message: string): void => {
    if (!holds) violations.push({ param, code, message });
  };
  for (const method of ['PIX', 'BOLETO'] as const) {
    if (methods.has(method)) unless((currency ?? 'BRL') === 'BRL', 'currency', 'invalid', `must be BRL for ${method}`);
  }
  const { phone } = publicMetadata(metadata ?? {});
  if (methods.has('MBWAY')) {
    unless(phone !== undefined, 'metadata.phone', 'required', 'is required for MBWAY');
    unless(
      phone === undefined || isE164(phone),
      'metadata.phone',
      'invalid',
      'must be a phone number in E.164, as +351912345678',
    );
  }
  violations.push(...returnUrlViolations(metadata ?? {}, mode));
  const problem = webhookUrl == null ? null : checkUrl(webhookUrl, mode, rules);
  if (problem !== null) violations.push({ param: 'webhookUrl', code: 'invalid', message: problem });
  return violations;
}

function toNewPayment(dto: CreatePaymentDto): NewPayment {
  const document = dto.customerDocument ?? null;
  return {
    amount: dto.amount,
    currency: dto.currency ?? 'BRL',
    methods: [...new Set(dto.paymentMethods)],
    customer: {
      id: dto.customerId ?? null,
      name: dto.customerName ?? null,
      document: document === null ? null : (normalizeTaxId(document) ?? document),
      email: dto.customerEmail ?? null,
    },
    metadata: publicMetadata(dto.metadata ?? {}),
    webhookUrl: dto.webhookUrl ?? null,
  };
}

/** ITU-T E.164: a plus, a country code that does not begin with 0, at most 15 digits. */
function isE164(value: unknown): boolean {
  return typeof value === 'string' && /^\+[1-9]\d{6,14}$/.test(value);
}
