import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { encodeBrCode, newTxid } from '../../brazil/index.js';
import { Clock } from '../../core/clock.js';
import { type Config, CONFIG, ConfigError } from '../../core/config/index.js';
import { SecretBox } from '../../core/crypto/index.js';
import { Database } from '../../core/database/index.js';
import type { Amount } from '../../core/money/index.js';
import type {
  Acquirer,
  AcquirerCapabilities,
  PixChargeRequest,
  PixChargeState,
  PixIssuer,
  PixReturnRequest,
  PixReturnState,
  ReceivedPix,
} from '../acquirer.port.js';
import { AcquirersService } from '../acquirers.service.js';
import { InboxService } from '../inbox.service.js';
import { SandboxBankRepository } from './sandbox-bank.repository.js';

/** A return is on its way for this long (decisions §6.3: "within about a second"). */
const RETURN_MS = 500;

/**
 * A bank inside the service for test keys. It keeps its own books and tells of them only through the inbox, exactly
 * as a bank would: what works here works with a real one.
 */
@Injectable()
export class SandboxAcquirer implements Acquirer, OnModuleInit {
  readonly name = 'sandbox';
  readonly capabilities: AcquirerCapabilities = {
    methods: ['PIX'],
    refundStrategies: ['devolution'],
    receipts: false,
  };
  readonly pixIssuer: PixIssuer = { kind: 'local', issue: (request) => ({ brCode: this.#brCode(request) }) };

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly acquirers: AcquirersService,
    private readonly inbox: InboxService,
    private readonly database: Database,
    private readonly bank: SandboxBankRepository,
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

  async getPixCharge(txid: string): Promise<PixChargeState> {
    const ended = await this.bank.findCharge(txid);
    // The codes are made by the issuer above, so the bank's books hold only what has ended.
    if (!ended) return { kind: 'not_found' };
    const end =
      ended.status === 'EXPIRED'
        ? ({ end: 'expired', reason: 'The charge expired without payment.' } as const)
        : ({ end: 'refused', reason: 'The acquirer refused the charge.' } as const);
    return { kind: 'found', brCode: '', ended: { ...end, at: ended.ended_at } };
  }

  async getPix(endToEndId: string): Promise<ReceivedPix | null> {
    const row = await this.bank.findPix(endToEndId);
    if (!row) return null;
    const payer = JSON.parse(this.secrets.open(row.payer_sealed, `sandbox_pix:${endToEndId}`)) as {
      document: string | null;
    };
    return {
      endToEndId,
      txid: row.txid,
      amount: row.amount,
      settledAt: row.settled_at,
      fee: 0,
      payerDocument: payer.document,
    };
  }

  async requestReturn(request: PixReturnRequest): Promise<PixReturnState> {
    await this.database.transaction((tx) =>
      this.bank.insertReturn(tx, request.endToEndId, request.returnId, request.amount, this.clock.now()),
    );
    const state = await this.getReturn(request.endToEndId, request.returnId);
    return state.kind === 'not_found' ? { kind: 'failed', reason: 'more than the Pix would be returned' } : state;
  }

  async getReturn(endToEndId: string, returnId: string): Promise<PixReturnState> {
    const row = await this.bank.findReturn(endToEndId, returnId);
    if (!row) return { kind: 'not_found' };
    const age = this.clock.now().getTime() - row.requested_at.getTime();
    return age >= RETURN_MS ? { kind: 'returned' } : { kind: 'in_progress' };
  }

  /**
   * A payer pays. The same end-to-end id again is the same Pix and changes nothing.
   * @returns the id of the stored notification
   */
  async receivePix(pix: {
    txid: string;
    endToEndId: string;
    amount: Amount;
    payer: { document: string | null; name: string | null };
  }): Promise<string> {
    return this.database.transaction(async (tx) => {
      this.bank.insertPix(tx, {
        end_to_end_id: pix.endToEndId,
        txid: pix.txid,
        amount: pix.amount,
        payer_sealed: this.secrets.seal(JSON.stringify(pix.payer), `sandbox_pix:${pix.endToEndId}`),
        settled_at: this.clock.now(),
      });
      return this.inbox.store(tx, this.name, { kind: 'pix', reference: pix.endToEndId });
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
