import { Inject, Injectable } from '@nestjs/common';
import type { Account } from '../accounts/index.js';
import { normalizeTaxId } from '../brazil/index.js';
import { Clock } from '../core/clock.js';
import { type Config, CONFIG } from '../core/config/index.js';
import { fingerprintOf } from '../core/crypto/index.js';
import { Database } from '../core/database/index.js';
import type { Draft, Violation } from '../core/errors/index.js';
import { IdempotencyService, type IdempotentAnswer, keyOf } from '../core/idempotency/index.js';
import { newId } from '../core/ids.js';
import type { Mode, Scope } from '../core/mode.js';
import { type AddressRules, checkUrl } from '../core/net/index.js';
import { FraudGuard } from '../fraud/index.js';
import {
  METHOD_RULES,
  type NewPayment,
  PAYMENT_METHODS,
  PaymentCreationService,
  publicMetadata,
  type RefundCaller,
  RefundsService,
  returnUrlViolations,
} from '../transactions/index.js';
import type { CreatePaymentDto } from './dto/create-payment.dto.js';
import type { PaymentBody } from './dto/payment.body.js';
import type { RefundBody } from './dto/refund.body.js';
import { type RefundDto, toRefundOrder } from './dto/refund.dto.js';
import { paymentId } from './payment-id.js';
import { paymentBody } from './payment.serializer.js';
import { refundBody } from './refund.serializer.js';

/** Requests for payments and refunds, each with an idempotency key in its body. */
@Injectable()
export class PaymentRequestsService {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly database: Database,
    private readonly idempotency: IdempotencyService,
    private readonly creation: PaymentCreationService,
    private readonly refunds: RefundsService,
    private readonly fraud: FraudGuard,
    private readonly clock: Clock,
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
    const begun = await this.idempotency.begin<PaymentBody>(request);
    if (begun.kind === 'replay') return begun.answer;
    if (begun.kind === 'resume') {
      // The answer and the payment were committed together, so the same answer can be rebuilt.
      const body = paymentBody(await this.creation.created(scope, begun.resourceId));
      return { status: 201, body, replayed: true };
    }
    const { amount, customer } = input;
    const asked = { operation: 'payment', amount, document: customer.document, request } as const;
    try {
      begun.claim.admission = await this.fraud.check(scope, account, asked);
      const transaction = this.creation.draft(scope, account, input);
      const answer = { status: 201, body: paymentBody(transaction) };
      await this.creation.insert(begun.claim, transaction, answer);
      return { ...answer, replayed: false };
    } catch (error) {
      throw await this.idempotency.failed(error, begun.claim);
    }
  }

  /**
   * Accepts a refund: its money is set aside, and the acquirer is called later. The available balance is debited with the
   * refund's full amount, and with the refund's own fee where it has one. Fees that were charged on the payment are not
   * given back. A refused request leaves its key free for another try.
   * @param paid the payment: `ch_<uuid>`, `tx_<uuid>` or the bare uuid
   * @throws ApiError in this order:
   *   1. over HTTP, after the guards and before this method: 400 `invalid_request` by `RefundDto`, for a body without an
   *      `idempotencyKey` of 8 to 128 printable ASCII characters, an amount that is not an integer from 1 to
   *      999999999999, a `reason` of more than 500 characters, an unknown `strategy`, a `passFeeToTenant` that is not
   *      true or false, a `destinationKey` that is no Pix key, or a `destinationKey` together with the strategy
   *      `devolution`
   *   2. 404: the account has no such payment in this mode
   *   3. 409 `idempotency_key_reused`: the key was used with another body or payment; 409 `idempotency_key_in_use`: the
   *      first request with the key is still at work after 10 s
   *   4. where the account's `fraud_mode` is `enforce`: 403 `fraud.document_blocked`, or 403 `fraud.velocity_exceeded` for
   *      too many refunds a minute of one customer's document (`fraud_velocity`)
   *   5. what `planRefund` throws
   *   6. 400 `charge_disputed`: a reported dispute of the payment is being looked up at its bank
   *   7. 422 `insufficient_balance`: the available balance is less than the amount and the fee
   */
  async refund(
    scope: Scope,
    caller: RefundCaller,
    paid: string,
    dto: RefundDto,
  ): Promise<IdempotentAnswer<RefundBody>> {
    const transactionId = paymentId(paid);
    const order = toRefundOrder(dto);
    const asked = await this.refunds.ask(scope, transactionId, order, keyOf(dto.idempotencyKey));
    const begun = await this.idempotency.begin<RefundBody>(asked.request);
    if (begun.kind === 'replay') return begun.answer;
    const { claim } = begun;
    if (begun.kind === 'resume') {
      const body = refundBody(await this.refunds.asked(scope, transactionId, begun.resourceId));
      return { status: 201, body, replayed: true };
    }
    try {
      claim.admission = await this.fraud.check(scope, caller.account, { operation: 'refund', ...asked });
      return await this.database.transaction(async (tx) => {
        const now = this.clock.now();
        const id = newId(now);
        claim.take(tx, id, null);
        const refund = await this.refunds.open(tx, { id, now }, transactionId, order, caller);
        const answer = { status: 201, body: refundBody(refund) };
        claim.complete(tx, answer);
        return { ...answer, replayed: false };
      });
    } catch (error) {
      throw await this.idempotency.failed(error, claim);
    }
  }
}

/** Checks the fields that the payment's methods need, and whether the webhook URL is allowed. */
function problemsOf(sent: Partial<CreatePaymentDto>, mode: Mode, rules: AddressRules): Violation[] {
  const { currency, metadata, webhookUrl } = sent;
  const methods = new Set(sent.paymentMethods);
  const violations: Violation[] = [];
  const unless = (holds: boolean, param: string, code: string, message: string): void => {
    if (!holds) violations.push({ param, code, message });
  };
  for (const method of PAYMENT_METHODS.filter((each) => methods.has(each))) {
    const only = METHOD_RULES[method].currency ?? currency ?? 'BRL';
    unless((currency ?? 'BRL') === only, 'currency', 'invalid', `must be ${only} for ${method}`);
  }
  const { phone } = publicMetadata(metadata ?? {});
  for (const method of PAYMENT_METHODS.filter((each) => methods.has(each) && METHOD_RULES[each].needsPhone)) {
    unless(phone !== undefined, 'metadata.phone', 'required', `is required for ${method}`);
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
