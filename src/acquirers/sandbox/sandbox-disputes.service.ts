import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Clock, DAY_MS } from '../../core/clock.js';
import { SecretBox } from '../../core/crypto/index.js';
import { Database } from '../../core/database/index.js';
import { badRequest } from '../../core/errors/index.js';
import type { Amount } from '../../core/money/index.js';
import type { Dispute, DisputeMethod, DisputeType } from '../acquirer.port.js';
import { InboxService } from '../inbox.service.js';
import { SandboxDisputesRepository } from './sandbox-disputes.repository.js';
import type { SandboxDisputeEntity } from './sandbox-dispute.entity.js';
import type { SandboxPayer } from './sandbox-orders.service.js';
import { SandboxOrdersRepository } from './sandbox-orders.repository.js';

const RESPONSE_MS = 7 * DAY_MS;
const MAX_DISPUTES = 100;

const REASONS: Readonly<Record<DisputeType, string | null>> = {
  med: null,
  chargeback: 'The issuer raised a chargeback.',
  dispute: 'The cardholder opened a dispute.',
  fraud: 'The issuer reports fraud.',
};

export interface SandboxClaim {
  readonly txid: string;
  /** The disputed payment of the order; null: the last one. */
  readonly paymentReference: string | null;
  readonly type: DisputeType;
  /** Default: the whole paid amount. */
  readonly amount?: Amount | undefined;
  readonly method?: DisputeMethod | null | undefined;
  readonly reason?: string | null | undefined;
  /** The person who opened the dispute, if the report names one: not always the payer of the payment. */
  readonly payer: SandboxPayer;
  /** Null: not reported. Default: in seven days. */
  readonly responseDeadline?: Date | null | undefined;
}

/**
 * The sandbox bank's desk for payers who want their money back. Disputes are reported through the inbox like everything
 * else.
 */
@Injectable()
export class SandboxDisputes {
  constructor(
    private readonly inbox: InboxService,
    private readonly database: Database,
    private readonly disputes: SandboxDisputesRepository,
    private readonly secrets: SecretBox,
    private readonly records: SandboxOrdersRepository,
    private readonly clock: Clock,
  ) {}

  async get(reference: string): Promise<Dispute | null> {
    const row = await this.disputes.find(reference);
    if (!row) return null;
    const payer = this.#reporterOf(row);
    return {
      reference,
      type: row.type,
      accountId: row.holderId,
      paymentReference: row.endToEndId,
      txid: row.txid,
      amount: row.amount,
      status: row.status,
      result: row.result,
      method: row.method,
      reason: row.reason,
      payerName: payer.name,
      payerDocument: payer.document,
      responseDeadline: row.responseDeadline,
      openedAt: row.openedAt,
      updatedAt: row.updatedAt,
      closedAt: row.closedAt,
    };
  }

  #seal(reference: string, payer: SandboxPayer): Buffer | null {
    if (payer.name === null && payer.document === null) return null;
    return this.secrets.seal(JSON.stringify(payer), contextOf(reference));
  }

  #reporterOf({ reference, payerSealed }: SandboxDisputeEntity): SandboxPayer {
    if (payerSealed === null) return { name: null, document: null };
    return JSON.parse(this.secrets.open(payerSealed, contextOf(reference))) as SandboxPayer;
  }

  /** Type of the card order's last dispute that is not won or withdrawn; null without one. */
  async standing(txid: string): Promise<DisputeType | null> {
    const standing = (await this.disputes.of(txid)).filter(
      ({ status, result }) => status !== 'canceled' && result !== 'disagreed',
    );
    return standing.at(-1)?.type ?? null;
  }

  /**
   * Opens a dispute. A MED can be opened any number of times, a card dispute once for each type.
   * @returns the id of the stored notification; null when the order has no such payment
   * @throws ApiError 400 for one too many
   */
  async open(claim: SandboxClaim): Promise<string | null> {
    const payment = await this.records.paymentOf(claim.txid, claim.paymentReference);
    if (!payment) return null;
    if ((await this.disputes.of(claim.txid)).length >= MAX_DISPUTES) {
      throw badRequest(
        'invalid_request',
        `The sandbox bank disputes a payment at most ${MAX_DISPUTES} times.`,
        'event',
      );
    }
    const now = this.clock.now();
    const reference = claim.type === 'med' ? randomUUID() : `${claim.txid}:${claim.type}`;
    return this.database.transaction(async (tx) => {
      this.disputes.insert(tx, {
        reference,
        txid: claim.txid,
        holderId: payment.holderId,
        endToEndId: payment.endToEndId,
        type: claim.type,
        amount: claim.amount ?? payment.amount,
        status: 'created',
        result: null,
        method: claim.method ?? null,
        reason: claim.reason ?? REASONS[claim.type],
        responseDeadline:
          claim.responseDeadline === undefined ? new Date(now.getTime() + RESPONSE_MS) : claim.responseDeadline,
        openedAt: now,
        updatedAt: now,
        closedAt: null,
        payerSealed: this.#seal(reference, claim.payer),
      });
      return this.inbox.store(tx, 'sandbox', { kind: 'dispute', reference, txid: claim.txid });
    });
  }

  /** Ends a dispute by a ruling of the bank or the central bank. */
  rule(txid: string, result: 'agreed' | 'disagreed'): Promise<string | null> {
    return this.#end(txid, 'closed', result);
  }

  /** Ends a dispute by the payer's withdrawal. */
  withdraw(txid: string): Promise<string | null> {
    return this.#end(txid, 'canceled', null);
  }

  /**
   * Ends the dispute of the order that has waited longest. If none is open, the bank repeats its last answer.
   * @returns the id of the stored notification; null when the order never had a dispute
   */
  #end(txid: string, status: 'closed' | 'canceled', result: Dispute['result']): Promise<string | null> {
    return this.database.transaction(async (tx) => {
      const reference = await this.disputes.end(tx, txid, status, result, this.clock.now());
      return reference === null ? null : this.inbox.store(tx, 'sandbox', { kind: 'dispute', reference, txid });
    });
  }
}

function contextOf(reference: string): string {
  return `sandbox_dispute:${reference}`;
}
