import type { Amount } from '../core/money/index.js';

export type PaymentMethod = 'PIX' | 'CREDIT_CARD' | 'MBWAY' | 'MULTIBANCO' | 'BOLETO' | 'CRYPTO';

export type RefundStrategy = 'devolution' | 'cashout';

/** What an acquirer can do; a use case asks here instead of trying. */
export interface AcquirerCapabilities {
  readonly methods: readonly PaymentMethod[];
  readonly refundStrategies: readonly RefundStrategy[];
  readonly receipts: boolean;
}

/** API Pix: `PUT /cob/{txid}`. We choose the txid, so a request whose answer was lost can be repeated or asked for. */
export interface PixChargeRequest {
  readonly txid: string;
  /** Cents of BRL. */
  readonly amount: Amount;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly merchant: { readonly name: string; readonly city: string };
  readonly payer: { readonly name: string | null; readonly document: string | null };
}

export type PixIssueOutcome =
  | { readonly kind: 'issued'; readonly brCode: string }
  /** The acquirer said no; nothing exists there. */
  | { readonly kind: 'refused'; readonly code: string; readonly reason: string }
  /** Nothing can have happened: the request never left, or was turned away whole. */
  | { readonly kind: 'unavailable' }
  /** A time-out or a 5xx: it may exist. `getPixCharge` tells, later. */
  | { readonly kind: 'unknown' };

/**
 * How a Pix charge comes to exist. `local` needs no network (the code is made here), so charge and code commit in one
 * transaction; `remote` calls the acquirer between the intent and the outcome and never inside a transaction.
 */
export type PixIssuer =
  | { readonly kind: 'local'; issue(request: PixChargeRequest): { readonly brCode: string } }
  | { readonly kind: 'remote'; issue(request: PixChargeRequest): Promise<PixIssueOutcome> };

/** API Pix: `GET /cob/{txid}`. */
export type PixChargeState =
  | { readonly kind: 'found'; readonly brCode: string; readonly ended: PixChargeEnd | null }
  /** The acquirer says that there is none; when it cannot be asked, the method throws instead. */
  | { readonly kind: 'not_found' };

/** How a charge ended without payment. */
export interface PixChargeEnd {
  readonly end: 'expired' | 'refused' | 'removed';
  readonly reason: string;
  readonly at: Date;
}

/** API Pix: `GET /pix/{e2eid}`: money that did arrive. */
export interface ReceivedPix {
  readonly endToEndId: string;
  /** Null for a Pix that was not made from a charge of ours. */
  readonly txid: string | null;
  readonly amount: Amount;
  readonly settledAt: Date;
  /** What the acquirer keeps, in cents. */
  readonly fee: Amount;
  /** CPF or CNPJ bare, or null when the bank did not report it. */
  readonly payerDocument: string | null;
}

/** API Pix: `PUT /pix/{e2eid}/devolucao/{id}`, idempotent on (end-to-end id, our id). */
export interface PixReturnRequest {
  readonly endToEndId: string;
  readonly returnId: string;
  readonly amount: Amount;
}

export type PixReturnState =
  | { readonly kind: 'in_progress' }
  | { readonly kind: 'returned' }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'not_found' };

/** Something the acquirer said happened: only a hint, nothing is done before it is confirmed by asking. */
export interface NotificationHint {
  readonly kind: 'pix' | 'charge';
  /** `pix`: the end-to-end id; `charge`: the txid. */
  readonly reference: string;
}

/**
 * The door to a bank or PSP, shaped after BACEN's API Pix. An adapter translates and nothing else. Calls may take
 * seconds and are never made inside a database transaction. A method that throws leaves the outcome unknown: the
 * caller keeps its state and a sweeper asks again.
 */
export interface Acquirer {
  readonly name: string;
  readonly capabilities: AcquirerCapabilities;
  readonly pixIssuer: PixIssuer;
  getPixCharge(txid: string): Promise<PixChargeState>;
  /** @returns null when the acquirer knows of no such Pix */
  getPix(endToEndId: string): Promise<ReceivedPix | null>;
  requestReturn(request: PixReturnRequest): Promise<PixReturnState>;
  getReturn(endToEndId: string, returnId: string): Promise<PixReturnState>;
}
