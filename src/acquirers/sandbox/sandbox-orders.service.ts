import { createHash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { boletoBarcode, boletoLine, MAX_BOLETO_AMOUNT } from '../../brazil/index.js';
import { Clock } from '../../core/clock.js';
import { type Config, CONFIG } from '../../core/config/index.js';
import { SecretBox } from '../../core/crypto/index.js';
import { Database } from '../../core/database/index.js';
import type { Amount } from '../../core/money/index.js';
import type {
  Artefacts,
  OrderDesk,
  OrderEvent,
  OrderOutcome,
  OrderRequest,
  PaymentMethod,
  ReceivedPayment,
} from '../acquirer.port.js';
import { InboxService } from '../inbox.service.js';
import { addressFor, quote } from './crypto-quote.js';
import { MAX_MULTIBANCO_AMOUNT, multibancoReference, SANDBOX_ENTITY } from './multibanco.js';
import { SandboxBankRepository } from './sandbox-bank.repository.js';
import type { SandboxPixEntity } from './sandbox-pix.entity.js';
import { SandboxOrdersRepository } from './sandbox-orders.repository.js';

/** A COMPE code that no bank has. */
const BANK = '999';

const REASONS: Readonly<Record<OrderEvent['kind'], string>> = {
  processing: 'The payer is being authenticated.',
  expired: 'The charge expired without payment.',
  refused: 'The acquirer refused the charge.',
  removed: 'The charge was taken back.',
};

export interface SandboxPayer {
  readonly document: string | null;
  readonly name: string | null;
}

/**
 * The sandbox bank's desk for orders by other methods, and for the end of Pix charges. Issued data depend on the order
 * alone, so repeating a request gives the same. Events of orders and Pix charges are recorded in its books and reported
 * through the inbox.
 */
@Injectable()
export class SandboxOrders implements OrderDesk {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly inbox: InboxService,
    private readonly database: Database,
    readonly records: SandboxOrdersRepository,
    private readonly bank: SandboxBankRepository,
    private readonly secrets: SecretBox,
    private readonly clock: Clock,
  ) {}

  async issue(request: OrderRequest): Promise<OrderOutcome> {
    switch (request.method) {
      case 'CREDIT_CARD':
        return issued({ CREDIT_CARD: { redirectUrl: `${this.#page('cards', request.txid)}` } });
      case 'MBWAY':
        return request.phone === null ? refused('phone_required', 'MB WAY asks by phone.') : issued({ MBWAY: {} });
      case 'MULTIBANCO':
        return multibanco(request);
      case 'BOLETO':
        return this.#boleto(request);
      case 'CRYPTO':
        return crypto(request);
    }
  }

  async getPayment(notified: string): Promise<ReceivedPayment | null> {
    const row = await this.findNotified(notified);
    if (!row || row.method === 'PIX') return null;
    return {
      reference: row.endToEndId,
      txid: row.txid,
      method: row.method,
      amount: row.amount,
      settledAt: row.settledAt,
      fee: 0,
      payerDocument: this.payerOf(row).document,
    };
  }

  async getEvent(reference: string): Promise<OrderEvent | null> {
    const [txid = '', kind = ''] = reference.split(':');
    const event = (await this.records.eventsOf(txid)).find((candidate) => candidate.kind === kind);
    return event ? { txid, kind: event.kind, reason: REASONS[event.kind], at: event.happenedAt } : null;
  }

  /**
   * Records a payment by any method. If the reference (for a Pix: its end-to-end id) repeats, nothing changes. Tests
   * choose references freely, so each account has its own.
   * @returns the id of the stored notification
   */
  async receivePayment(payment: {
    accountId: string;
    txid: string;
    reference: string;
    method: PaymentMethod;
    amount: Amount;
    payer: SandboxPayer;
  }): Promise<string> {
    const kind = payment.method === 'PIX' ? 'pix' : 'payment';
    const hint = { kind, reference: `${payment.accountId}/${payment.reference}` } as const;
    return this.inbox.storeWith('sandbox', hint, payment.accountId, (tx) =>
      this.records.insertPayment(tx, {
        holderId: payment.accountId,
        endToEndId: payment.reference,
        txid: payment.txid,
        method: payment.method,
        amount: payment.amount,
        payerSealed: this.secrets.seal(JSON.stringify(payment.payer), `sandbox_pix:${payment.reference}`),
        settledAt: this.clock.now(),
      }),
    );
  }

  /** Records another event of an order, once. @returns the id of the stored notification */
  async tell(txid: string, kind: OrderEvent['kind']): Promise<string> {
    return this.database.transaction(async (tx) => {
      this.records.insertEvent(tx, txid, kind, this.clock.now());
      return this.inbox.store(tx, 'sandbox', { kind: 'order', reference: `${txid}:${kind}` });
    });
  }

  /** Ends a Pix charge without payment. @returns the id of the stored notification */
  async endCharge(txid: string, status: 'EXPIRED' | 'REFUSED'): Promise<string> {
    return this.database.transaction(async (tx) => {
      this.bank.endCharge(tx, txid, status, this.clock.now());
      return this.inbox.store(tx, 'sandbox', { kind: 'charge', reference: txid });
    });
  }

  /** Cancels a charge. Our own cancellation needs no notification from the bank. */
  async removeCharge(txid: string): Promise<void> {
    await this.database.transaction(async (tx) => this.bank.endCharge(tx, txid, 'REMOVED', this.clock.now()));
  }

  /** Finds the payment that a notification is about. */
  async findNotified(reference: string): Promise<SandboxPixEntity | null> {
    const [accountId = '', endToEndId = ''] = reference.split('/');
    return this.records.findPayment(accountId, endToEndId);
  }

  payerOf({ endToEndId, payerSealed }: SandboxPixEntity): SandboxPayer {
    return JSON.parse(this.secrets.open(payerSealed, `sandbox_pix:${endToEndId}`)) as SandboxPayer;
  }

  #boleto(request: OrderRequest): OrderOutcome {
    if (request.currency !== 'BRL') return refused('currency_not_supported', 'A boleto is in BRL.');
    if (request.amount > MAX_BOLETO_AMOUNT) return refused('amount_too_large', 'A boleto has ten digits for cents.');
    const barcode = boletoBarcode({
      bank: BANK,
      amount: request.amount,
      dueAt: lastMillisecond(request.expiresAt),
      freeField: digitsOf(request.txid, 25),
    });
    const pdfUrl = `${this.#page('boletos', request.txid)}/boleto.pdf`;
    return issued({ BOLETO: { barcode, line: boletoLine(barcode), pdfUrl } });
  }

  /** The txid is drawn at random and known only to people who may see the page. */
  #page(kind: 'cards' | 'boletos', txid: string): string {
    return `${this.config.publicBaseUrl}/sandbox/${kind}/${txid}`;
  }
}

function multibanco({ amount, txid }: OrderRequest): OrderOutcome {
  if (amount > MAX_MULTIBANCO_AMOUNT) return refused('amount_too_large', 'Multibanco has eight digits for cents.');
  const reference = multibancoReference(SANDBOX_ENTITY, digitsOf(txid, 7), amount);
  return issued({ MULTIBANCO: { entity: SANDBOX_ENTITY, reference } });
}

function crypto({ amount, currency, txid }: OrderRequest): OrderOutcome {
  const quoted = quote(amount, currency);
  if (!quoted) return refused('currency_not_supported', `There is no rate for ${currency}.`);
  return issued({ CRYPTO: { address: addressFor(quoted.network, txid), ...quoted } });
}

function issued(artefacts: Artefacts): OrderOutcome {
  return { kind: 'issued', artefacts };
}

function refused(code: string, reason: string): OrderOutcome {
  return { kind: 'refused', code, reason };
}

/** The end of the due day is the first instant of the next one, which is not due. */
function lastMillisecond(expiresAt: Date): Date {
  return new Date(expiresAt.getTime() - 1);
}

/** Decimal digits that look random and are always the same for one text. */
function digitsOf(text: string, length: number): string {
  const number = BigInt(`0x${createHash('sha256').update(text, 'utf8').digest('hex')}`);
  return String(number % 10n ** BigInt(length)).padStart(length, '0');
}
