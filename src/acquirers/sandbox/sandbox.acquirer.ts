import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { encodeBrCode, newEndToEndId, newRtrId, newTxid } from '../../brazil/index.js';
import { Clock } from '../../core/clock.js';
import { type Config, CONFIG, ConfigError } from '../../core/config/index.js';
import { SecretBox } from '../../core/crypto/index.js';
import { Database } from '../../core/database/index.js';
import type {
  Acquirer,
  AcquirerCapabilities,
  AcquirerStatus,
  Dispute,
  PixChargeEnd,
  PixChargeRequest,
  PixChargeState,
  PixIssuer,
  ReceiptRequest,
  ReceivedPix,
  ReturnName,
  ReturnRequest,
  ReturnState,
} from '../acquirer.port.js';
import { AcquirersService } from '../acquirers.service.js';
import { InboxService } from '../inbox.service.js';
import { receiptPdf } from './receipt.pdf.js';
import type { SandboxChargeEntity } from './sandbox.entity.js';
import { SandboxBankRepository } from './sandbox-bank.repository.js';
import { SandboxDisputes } from './sandbox-disputes.service.js';
import { SandboxOrders } from './sandbox-orders.service.js';
import { SandboxOrdersRepository } from './sandbox-orders.repository.js';

/** A return is on its way for this long (docs/contract.md#sandbox: within about a second). */
const RETURN_MS = 400;
/** Not an ISPB of any bank. */
const ISPB = '00000000';

const ENDS: Readonly<Record<SandboxChargeEntity['status'], Omit<PixChargeEnd, 'at'>>> = {
  EXPIRED: { end: 'expired', reason: 'The charge expired without payment.' },
  REFUSED: { end: 'refused', reason: 'The acquirer refused the charge.' },
  REMOVED: { end: 'removed', reason: 'The charge was taken back.' },
};

/**
 * A bank inside the service for test keys. It keeps its own books and tells of them only through the inbox, exactly
 * as a bank would: what works here works with a real one.
 */
@Injectable()
export class SandboxAcquirer implements Acquirer, OnModuleInit {
  readonly name = 'sandbox';
  readonly capabilities: AcquirerCapabilities = {
    methods: ['PIX', 'CREDIT_CARD', 'MBWAY', 'MULTIBANCO', 'BOLETO', 'CRYPTO'],
    refunds: { PIX: ['cashout', 'devolution'], CREDIT_CARD: ['card'] },
    receipts: true,
    references: 'of the account',
  };
  readonly pixIssuer: PixIssuer = { kind: 'local', issue: (request) => ({ brCode: this.#brCode(request) }) };

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly acquirers: AcquirersService,
    private readonly inbox: InboxService,
    private readonly database: Database,
    private readonly bank: SandboxBankRepository,
    private readonly records: SandboxOrdersRepository,
    readonly orders: SandboxOrders,
    readonly disputes: SandboxDisputes,
    private readonly secrets: SecretBox,
    private readonly clock: Clock,
  ) {}

  /** @throws ConfigError at start, rather than an error at every charge, when the address does not fit a BR Code */
  onModuleInit(): void {
    try {
      encodeBrCode({ kind: 'dynamic', location: this.#location(newTxid()), merchantName: 'X', merchantCity: 'X' });
    } catch (error) {
      throw new ConfigError(
        `The configuration is not usable:\n  - PUBLIC_BASE_URL: its host is part of every BR Code and does not fit: ${
          error instanceof Error ? error.message : String(error)
        }. Use a host name of at most 46 characters.`,
      );
    }
    this.acquirers.register(this, { servesTestMode: true });
  }

  readonly statement = null;

  async getPixCharge(txid: string): Promise<PixChargeState> {
    const ended = await this.bank.findCharge(txid);
    // The codes are made by the issuer above, so the bank's books hold only what has ended; a Pix is told of in the
    // commit that makes it.
    if (!ended) return { kind: 'not_found' };
    return { kind: 'found', brCode: '', ended: { ...ENDS[ended.status], at: ended.endedAt }, payments: [] };
  }

  async getPix(notified: string): Promise<ReceivedPix | null> {
    const row = await this.orders.findNotified(notified);
    if (row?.method !== 'PIX') return null;
    return {
      endToEndId: row.endToEndId,
      txid: row.txid,
      amount: row.amount,
      settledAt: row.settledAt,
      fee: 0,
      payerDocument: this.orders.payerOf(row).document,
    };
  }

  async requestReturn(request: ReturnRequest): Promise<ReturnState> {
    const { accountId, cause, way, reference, returnId, amount, destination } = request;
    const now = this.clock.now();
    const references = { devolution: newRtrId, cashout: newEndToEndId, card: () => null };
    await this.database.transaction((tx) =>
      this.bank.insertReturn(tx, {
        holderId: accountId,
        mayFail: cause === 'refund',
        endToEndId: reference,
        returnId,
        way,
        amount,
        destinationSealed:
          destination === null ? null : this.secrets.seal(destination, `sandbox_return:${reference}/${returnId}`),
        bankReference: references[way](ISPB, now),
        requestedAt: now,
      }),
    );
    const state = await this.getReturn(request);
    return state.kind === 'not_found' ? { kind: 'failed', reason: 'amount_exceeded' } : state;
  }

  async getReturn({ accountId, reference, returnId }: ReturnName): Promise<ReturnState> {
    const row = await this.bank.findReturn(accountId, reference, returnId);
    if (!row) return { kind: 'not_found' };
    const age = this.clock.now().getTime() - row.requestedAt.getTime();
    if (age < RETURN_MS) return { kind: 'in_progress' };
    return row.fails
      ? { kind: 'failed', reason: 'refused' }
      : { kind: 'returned', bankReference: row.bankReference, fee: 0 };
  }

  getDispute(reference: string): Promise<Dispute | null> {
    return this.disputes.get(reference);
  }

  /**
   * The next refund of the charge ends FAILED (`refund_fail` of docs/sandbox.md); saying it twice is saying it once. What
   * goes back by itself does not use it up.
   */
  async failNextRefund(txid: string): Promise<void> {
    await this.database.transaction(async (tx) => this.bank.failNextRefund(tx, txid, this.clock.now()));
  }

  async cancel(txid: string): Promise<void> {
    await this.database.transaction(async (tx) => this.bank.endCharge(tx, txid, 'REMOVED', this.clock.now()));
  }

  /** What was issued and has no entry in the books waits for its payer. */
  async getStatus(txid: string): Promise<AcquirerStatus> {
    const [payments, events, disputed, ended] = await Promise.all([
      this.records.paymentsOf(txid),
      this.records.eventsOf(txid),
      this.disputes.standing(txid),
      this.bank.findCharge(txid),
    ]);
    const settled = payments.length > 0 ? 'PAID' : undefined;
    const status = disputed?.toUpperCase() ?? settled ?? events.at(-1)?.kind.toUpperCase() ?? ended?.status ?? 'ACTIVE';
    const raw = {
      txid,
      status,
      ended_at: ended?.endedAt.toISOString() ?? null,
      payments: payments.map((payment) => ({
        reference: payment.endToEndId,
        method: payment.method,
        amount: payment.amount,
        settled_at: payment.settledAt.toISOString(),
      })),
      events: events.map(({ kind, happenedAt }) => ({ kind, happened_at: happenedAt.toISOString() })),
    };
    return { status, raw };
  }

  async getReceipt({ accountId, reference, merchant, currency }: ReceiptRequest): Promise<Buffer | null> {
    const row = await this.records.findPayment(accountId, reference);
    if (!row) return null;
    return receiptPdf({
      method: row.method,
      reference,
      txid: row.txid,
      amount: row.amount,
      currency,
      settledAt: row.settledAt,
      merchant: merchant.name,
      payer: this.orders.payerOf(row),
    });
  }

  /** The bank ends a charge without payment. @returns the id of the stored notification */
  async endCharge(txid: string, status: 'EXPIRED' | 'REFUSED'): Promise<string> {
    return this.database.transaction(async (tx) => {
      this.bank.endCharge(tx, txid, status, this.clock.now());
      return this.inbox.store(tx, this.name, { kind: 'charge', reference: txid });
    });
  }

  #brCode(request: PixChargeRequest): string {
    return encodeBrCode({
      kind: 'dynamic',
      location: this.#location(request.txid),
      merchantName: request.merchant.name,
      merchantCity: request.merchant.city,
      amount: request.amount,
    });
  }

  /** A domain name without port: other parsers refuse `localhost:3000`. */
  #location(txid: string): string {
    const { hostname } = new URL(this.config.publicBaseUrl);
    return `${hostname.includes('.') ? hostname : `pix.${hostname}`}/pix/${txid}`;
  }
}
