import { Inject, Injectable } from '@nestjs/common';
import {
  ConfirmationService,
  type DisputeMethod,
  PAYMENT_METHODS,
  type PaymentMethod,
  SandboxAcquirer,
  type SandboxPayer,
} from '../acquirers/index.js';
import { isEndToEndId, newEndToEndId, newTxid, normalizeTaxId } from '../brazil/index.js';
import { Clock } from '../core/clock.js';
import { type Config, CONFIG } from '../core/config/index.js';
import { isBeyondExact } from '../core/database/index.js';
import { invalidRequest } from '../core/errors/index.js';
import { lastInstantOf } from '../core/http/index.js';
import { parseId } from '../core/ids.js';
import type { Scope } from '../core/mode.js';
import { WorkService } from '../core/work/index.js';
import {
  isPaidWithCard,
  isPix,
  MedPayers,
  METHOD_RULES,
  type Transaction,
  TransactionsService,
} from '../transactions/index.js';
import type { SandboxEventBody } from './dto/simulate.body.js';
import type { SimulateDto } from './dto/simulate.dto.js';
import { sandboxCharge } from './sandbox.serializer.js';

/** The payer if the request names none: a CPF with valid check digits that stands in every tutorial. */
const DEFAULT_PAYER = '52998224725';
/** An ISPB that no bank has. */
const SANDBOX_ISPB = '00000000';

/** Simulates events at the sandbox bank, which then reports them as a bank does. Test keys only. */
@Injectable()
export class SandboxService {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly transactions: TransactionsService,
    private readonly payers: MedPayers,
    private readonly work: WorkService,
    private readonly bank: SandboxAcquirer,
    private readonly confirmations: ConfirmationService,
    private readonly clock: Clock,
  ) {}

  /**
   * Simulates an event of a charge. The route is for test keys only.
   * @throws ApiError 404 for a charge that the key cannot see, 400 for an event that cannot happen to it
   */
  async simulate(scope: Scope, chargeId: string, dto: SimulateDto): Promise<SandboxEventBody> {
    const id = parseId(chargeId, ['ch_', 'tx_'], 'charge');
    await this.#simulate(await this.transactions.get(scope, id, 'charge'), dto);
    const transaction = await this.transactions.get(scope, id, 'charge');
    return {
      object: 'sandbox_event',
      event: dto.event,
      charge: sandboxCharge(this.payers.show(transaction), this.config.publicBaseUrl),
    };
  }

  /** Simulates an event of a payment. Read its new state with `PaymentsService.get`. */
  async simulatePayment(scope: Scope, paymentId: string, dto: SimulateDto): Promise<void> {
    const id = parseId(paymentId, ['ch_', 'tx_'], 'payment');
    await this.#simulate(await this.transactions.get(scope, id, 'payment'), dto);
  }

  async #simulate(transaction: Transaction, dto: SimulateDto): Promise<void> {
    // A moment after its creation the charge may not have reached the bank yet, and could not be paid there.
    if (!isIssued(transaction)) await this.work.runNow('acquirer', transaction.id);
    // Notifications are stored; applying them now, without a worker, lets us answer with the state after it.
    if (dto.event === 'refund_fail') await this.bank.returns.failNext(transaction.txid ?? '');
    for (const notify of this.#happen(transaction, dto)) {
      const failure = await this.confirmations.confirm(await notify());
      if (isBeyondExact(failure)) throw failure;
    }
  }

  /** The bank's steps for the event. Each returns the id of the stored notification. */
  #happen(transaction: Transaction, dto: SimulateDto): (() => Promise<string>)[] {
    const txid = transaction.txid ?? '';
    const tell = (kind: Parameters<typeof this.bank.orders.tell>[1]) => () => this.bank.orders.tell(txid, kind);
    const isCardOnly = transaction.paymentMethods.every((method) => METHOD_RULES[method].isCard);
    switch (dto.event) {
      case 'pay': {
        const method = methodOf(transaction, dto);
        const pay = (): Promise<string> =>
          this.bank.orders.receivePayment({
            accountId: transaction.accountId,
            txid,
            method,
            reference:
              givenReference(dto, method) ??
              (method === 'PIX' ? newEndToEndId(SANDBOX_ISPB, this.clock.now()) : newTxid()),
            amount: dto.amount ?? transaction.amount,
            payer: { document: payerDocument(transaction, dto), name: dto.payer_name ?? transaction.customerName },
          });
        return METHOD_RULES[method].isCard ? [tell('processing'), pay] : [pay];
      }
      case 'expire':
        return [isPix(transaction) ? () => this.bank.orders.endCharge(txid, 'EXPIRED') : tell('expired')];
      case 'fail':
        if (isPix(transaction)) return [() => this.bank.orders.endCharge(txid, 'REFUSED')];
        return isCardOnly ? [tell('processing'), tell('refused')] : [tell('refused')];
      case 'processing':
        if (!transaction.paymentMethods.some((method) => METHOD_RULES[method].isCard)) {
          throw impossible('is for payments by CREDIT_CARD');
        }
        return [tell('processing')];
      case 'refund_fail':
        // No refund has failed yet, so there is no notification.
        return [];
      case 'chargeback':
      case 'dispute':
      case 'fraud': {
        const type = dto.event;
        if (!isPaidWithCard(transaction)) throw impossible('is for payments that were paid by CREDIT_CARD');
        return [
          () =>
            happened(
              this.bank.disputes.open({ txid, paymentReference: transaction.endToEndId, type, payer: reporterOf(dto) }),
            ),
        ];
      }
      case 'med_open':
        return [() => happened(this.#openMed(transaction, dto))];
      case 'med_rule':
        return [() => happened(this.bank.disputes.rule(txid, ruling(dto)))];
      case 'med_withdraw':
        return [() => happened(this.bank.disputes.withdraw(txid))];
    }
  }

  async #openMed(transaction: Transaction, dto: SimulateDto): Promise<string | null> {
    if ((transaction.paidWith ?? 'PIX') !== 'PIX') throw impossible('is for payments that were paid by PIX');
    const deadline = dto.response_deadline;
    return this.bank.disputes.open({
      txid: transaction.txid ?? '',
      paymentReference: transaction.endToEndId,
      type: 'med',
      amount: dto.amount,
      method: (dto.method as DisputeMethod | undefined) ?? 'scam',
      reason: dto.reason,
      payer: reporterOf(dto),
      responseDeadline: typeof deadline === 'string' ? lastInstantOf(deadline) : deadline,
    });
  }
}

/** The ruling, which was validated with the event. */
function ruling({ result }: SimulateDto): 'agreed' | 'disagreed' {
  if (result === undefined) throw impossible('needs a result');
  return result;
}

/** @throws ApiError 400 without a payment to dispute, or a dispute to rule or withdraw */
async function happened(notification: Promise<string | null>): Promise<string> {
  const id = await notification;
  if (id === null) throw impossible('is for payments that were paid; a ruling or withdrawal, for disputed ones');
  return id;
}

/** @throws ApiError 400 for an id that no Pix can have */
function givenReference({ end_to_end_id: id }: SimulateDto, method: PaymentMethod): string | undefined {
  if (id === undefined || method !== 'PIX' || isEndToEndId(id)) return id;
  const message = 'must be E, 8 digits of a bank, a minute as yyyyMMddHHmm and 11 letters or digits';
  throw invalidRequest([{ param: 'end_to_end_id', code: 'invalid', message }]);
}

/** The method that the request names, or the payment's first. */
function methodOf({ paymentMethods }: Transaction, dto: SimulateDto): PaymentMethod {
  const method = PAYMENT_METHODS.find((candidate) => candidate === (dto.method ?? paymentMethods[0]));
  if (method !== undefined && paymentMethods.includes(method)) return method;
  throw invalidRequest([{ param: 'method', code: 'invalid', message: `must be one of ${paymentMethods.join(', ')}` }]);
}

/** Whether every method was issued. A refused method counts as not issued: the bank is asked again, without effect. */
function isIssued({ paymentMethods, brCode, artefacts }: Transaction): boolean {
  return paymentMethods.every((method) => (method === 'PIX' ? brCode !== null : artefacts?.[method] !== undefined));
}

function impossible(message: string): ReturnType<typeof invalidRequest> {
  return invalidRequest([{ param: 'event', code: 'invalid', message }]);
}

/** The person who opened a dispute, if the request names one: never the payer of the payment by default. */
function reporterOf({ payer_name: name, payer_document: document }: SimulateDto): SandboxPayer {
  return { name: name ?? null, document: document == null ? null : normalizeTaxId(document) };
}

function payerDocument(transaction: Transaction, dto: SimulateDto): string | null {
  if (dto.payer_document === null) return null;
  if (dto.payer_document !== undefined) return normalizeTaxId(dto.payer_document);
  return transaction.customerDocument ?? DEFAULT_PAYER;
}
