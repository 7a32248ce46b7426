import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { encodeBrCode, newTxid } from '../../brazil/index.js';
import { type Config, CONFIG, ConfigError } from '../../core/config/index.js';
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
import { receiptPdf } from './receipt.pdf.js';
import type { SandboxChargeEntity } from './sandbox-charge.entity.js';
import { SandboxBankRepository } from './sandbox-bank.repository.js';
import { SandboxDisputes } from './sandbox-disputes.service.js';
import { SandboxOrders } from './sandbox-orders.service.js';
import { SandboxPayouts } from './sandbox-payouts.service.js';
import { SandboxReturns } from './sandbox-returns.service.js';

const ENDS: Readonly<Record<SandboxChargeEntity['status'], Omit<PixChargeEnd, 'at'>>> = {
  EXPIRED: { end: 'expired', reason: 'The charge expired without payment.' },
  REFUSED: { end: 'refused', reason: 'The acquirer refused the charge.' },
  REMOVED: { end: 'removed', reason: 'The charge was taken back.' },
};

/**
 * A bank inside the service for test keys. The sandbox keeps its own books and reports only through the inbox, exactly
 * like a bank: code that works with it works with a real bank.
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
    private readonly bank: SandboxBankRepository,
    readonly orders: SandboxOrders,
    readonly disputes: SandboxDisputes,
    readonly returns: SandboxReturns,
    readonly payouts: SandboxPayouts,
  ) {}

  /** @throws ConfigError at start if the address does not fit a BR Code: otherwise every charge would fail */
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
    // The issuer above makes the codes, so the bank's books hold only ended charges. A Pix is reported in the commit
    // that creates it.
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

  async settlementLagMs(): Promise<number> {
    return 0;
  }

  requestReturn(request: ReturnRequest): Promise<ReturnState> {
    return this.returns.request(request);
  }

  getReturn(name: ReturnName): Promise<ReturnState> {
    return this.returns.get(name);
  }

  getDispute(reference: string): Promise<Dispute | null> {
    return this.disputes.get(reference);
  }

  cancel(txid: string): Promise<void> {
    return this.orders.removeCharge(txid);
  }

  /** The status in the sandbox. Issued charges without an entry in the books wait for their payer. */
  async getStatus(txid: string): Promise<AcquirerStatus> {
    const [payments, events, disputed, ended] = await Promise.all([
      this.orders.records.paymentsOf(txid),
      this.orders.records.eventsOf(txid),
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
    const row = await this.orders.records.findPayment(accountId, reference);
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
