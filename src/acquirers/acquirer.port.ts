import type { Amount } from '../core/money/index.js';
import type { PayoutDesk } from './payout-desk.port.js';

export const PAYMENT_METHODS = ['PIX', 'CREDIT_CARD', 'MBWAY', 'MULTIBANCO', 'BOLETO', 'CRYPTO'] as const;
export type PaymentMethod = (typeof PAYMENT_METHODS)[number];

/** How a Pix is refunded: by its end-to-end id, or as a new Pix to a key. */
export type RefundStrategy = 'devolution' | 'cashout';

/** Ways to send money back to the payer: a Pix by one of its strategies, a card payment to its card. */
export type RefundWay = RefundStrategy | 'card';

/** Abilities of an acquirer. Use cases check them here instead of trying a call. */
export interface AcquirerCapabilities {
  readonly methods: readonly PaymentMethod[];
  /** Ways to refund each method; a method without an entry cannot be refunded. */
  readonly refunds: Partial<Record<PaymentMethod, readonly RefundWay[]>>;
  readonly receipts: boolean;
  /** The scope in which an end-to-end id or reference is unique: worldwide, or within one account. */
  readonly references: 'worldwide' | 'of the account';
}

/** API Pix: `PUT /cob/{txid}`. We choose the txid, so a request whose answer was lost can be repeated or queried. */
export interface PixChargeRequest {
  readonly txid: string;
  /** Cents of BRL. */
  readonly amount: Amount;
  /** The charge cannot be paid from this time on, however late the acquirer creates it. */
  readonly expiresAt: Date;
  readonly merchant: { readonly name: string; readonly city: string };
  readonly payer: { readonly name: string | null; readonly document: string | null };
}

export type PixIssueOutcome =
  | { readonly kind: 'issued'; readonly brCode: string }
  /**
   * The acquirer refused; no payable charge exists there. `fault`: the cause is not the charge, but the connection
   * (its Pix key) or the acquirer (it made the charge with another amount).
   */
  | {
      readonly kind: 'refused';
      readonly code: string;
      readonly reason: string;
      readonly fault?: 'connection' | 'acquirer';
    }
  /** Nothing can have happened: the request was never sent (as after its time), or was turned away whole. */
  | { readonly kind: 'unavailable' }
  /** A time-out or a 5xx: the charge may exist. A later `getPixCharge` finds out. */
  | { readonly kind: 'unknown' };

/**
 * How a Pix charge is created. `local` needs no network (the code is made here). Charge and code then commit in one
 * transaction. `remote` calls the acquirer between the intent and the outcome, never inside a transaction.
 */
export type PixIssuer =
  | { readonly kind: 'local'; issue(request: PixChargeRequest): { readonly brCode: string } }
  | { readonly kind: 'remote'; issue(request: PixChargeRequest): Promise<PixIssueOutcome> };

/** API Pix: `GET /cob/{txid}`. */
export type PixChargeState =
  | {
      readonly kind: 'found';
      readonly brCode: string;
      readonly ended: PixChargeEnd | null;
      /** Reported Pix that paid the charge: hints, each confirmed by `getPix`. */
      readonly payments: readonly NotificationHint[];
      /** The acquirer made the charge with another amount and it was cancelled: never show it as payable. */
      readonly isOtherAmount?: true;
    }
  /** The acquirer answers that the charge does not exist. If it cannot be reached, the method throws instead. */
  | { readonly kind: 'not_found' };

/** How a charge ended without payment. */
export interface PixChargeEnd {
  readonly end: 'expired' | 'refused' | 'removed';
  readonly reason: string;
  readonly at: Date;
}

/** API Pix: `GET /pix/{e2eid}`: money that arrived. */
export interface ReceivedPix {
  readonly endToEndId: string;
  /** Null for a Pix that was not made from a charge of ours. */
  readonly txid: string | null;
  readonly amount: Amount;
  readonly settledAt: Date;
  /** The acquirer's fee for this Pix, in cents. */
  readonly fee: Amount;
  /** CPF or CNPJ bare, or null when the bank did not report it. */
  readonly payerDocument: string | null;
}

/** API Pix: `GET /pix`, one Pix in the acquirer's own list of received payments. */
export interface StatementLine {
  readonly pix: ReceivedPix;
  readonly returns: readonly StatementReturn[];
}

/** Money of a Pix that went back, or is on its way back. */
export interface StatementReturn {
  readonly returnId: string;
  /** Cents. */
  readonly amount: Amount;
  readonly state: 'in_progress' | 'returned' | 'failed';
  /**
   * `requested`: somebody of the account asked for it, here or in the bank's app; `dispute`: the bank took it (MED).
   */
  readonly cause: 'requested' | 'dispute';
  /** The hint to store in the inbox for this return. */
  readonly hint: NotificationHint;
}

/** An entry of the acquirer's list that cannot be read: its amount or its account is not known. */
export interface UnreadableLine {
  /** A Pix, or a return of a Pix. */
  readonly what: 'pix' | 'return';
  /** The end-to-end id of the Pix; null where the id cannot be read either. */
  readonly endToEndId: string | null;
  /** Null: the entry is a Pix, or a return without a readable id. */
  readonly returnId: string | null;
  /** The hint to store in the inbox for this entry; null: no id to query was readable. */
  readonly hint: NotificationHint | null;
}

/** The acquirer has the queried object, but its answer cannot be read or fetched. */
export class UnreadableAnswer extends Error {
  override readonly name = 'UnreadableAnswer';

  /** @param what as "a Pix" */
  constructor(what: string, options?: ErrorOptions) {
    super(`the acquirer has ${what} that cannot be read`, options);
  }
}

/**
 * `from` (included) and `to` (excluded) are times of the Pix. `withReturns` limits the list to Pix that were returned
 * at least in part.
 */
export interface StatementFilter {
  readonly from: Date;
  readonly to: Date;
  readonly withReturns?: boolean;
  /** End-to-end ids of Pix that are settled here. These Pix are ours, whichever key the list names. */
  readonly settled?: ReadonlySet<string>;
}

/**
 * (reference, returnId) names a return permanently: a repeated request under the same name never pays a second time.
 */
export interface ReturnName {
  /** The account that was paid. */
  readonly accountId: string;
  readonly way: RefundWay;
  /** The acquirer's id of the payment: for a Pix, its end-to-end id. */
  readonly reference: string;
  /** Chosen by us before the first attempt; 1 to 35 letters and digits. */
  readonly returnId: string;
}

/**
 * A request to send money back. API Pix: `PUT /pix/{e2eid}/devolucao/{id}` for a devolution, a Pix-out by our id for a
 * cashout.
 */
export interface ReturnRequest extends ReturnName {
  /** `refund`: the merchant requested it; `unwanted`: money that pays no charge is sent back automatically. */
  readonly cause: 'refund' | 'unwanted';
  readonly amount: Amount;
  readonly currency: string;
  /** `cashout`: the Pix key that receives the money; null otherwise. */
  readonly destination: string | null;
}

/**
 * Why an acquirer did not send money back. The acquirer's own words stay in the adapter's log: they may name people.
 */
export type ReturnFailure = 'amount_exceeded' | 'destination_invalid' | 'insufficient_funds' | 'too_late' | 'refused';

export type ReturnState =
  | { readonly kind: 'in_progress' }
  /**
   * `bankReference`: what the payer's bank shows, a devolution's rtrId or a cashout's end-to-end id; null when unknown.
   * `fee`: what the acquirer charges for it, in cents.
   */
  | { readonly kind: 'returned'; readonly bankReference: string | null; readonly fee: Amount }
  /** Final: no money has moved, and under this name none will. */
  | { readonly kind: 'failed'; readonly reason: ReturnFailure }
  | { readonly kind: 'not_found' };

/** Every method but Pix, which has a shape of its own. */
export type OrderMethod = Exclude<PaymentMethod, 'PIX'>;

/**
 * Data that a payer needs to pay by each method, as the acquirer issued it. A method has an entry once it was issued.
 */
export interface Artefacts {
  readonly CREDIT_CARD?: { readonly redirectUrl: string };
  /** The MB WAY app asks the payer: nothing to show. */
  readonly MBWAY?: Record<string, never>;
  readonly MULTIBANCO?: { readonly entity: string; readonly reference: string };
  readonly BOLETO?: { readonly barcode: string; readonly line: string; readonly pdfUrl: string };
  /** `amount` is decimal, as the payer types it. */
  readonly CRYPTO?: {
    readonly address: string;
    readonly amount: string;
    readonly network: string;
    readonly currency: string;
  };
}

/**
 * An order by one method. We choose the txid: a repeated request, or a request for another method, is about the same
 * order.
 */
export interface OrderRequest {
  readonly txid: string;
  readonly method: OrderMethod;
  /** In the smallest unit of `currency`. */
  readonly amount: Amount;
  readonly currency: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** Page that the payer returns to after paying by card; null: none. */
  readonly returnUrl: string | null;
  /** E.164, for MB WAY. */
  readonly phone: string | null;
  readonly merchant: { readonly name: string };
  readonly payer: { readonly name: string | null; readonly document: string | null };
}

export type OrderOutcome =
  | { readonly kind: 'issued'; readonly artefacts: Artefacts }
  /** Refused, as a Pix charge may be. */
  | { readonly kind: 'refused'; readonly code: string; readonly reason: string }
  | { readonly kind: 'unavailable' }
  | { readonly kind: 'unknown' };

/** Money that arrived by another method than Pix. */
export interface ReceivedPayment {
  /** The acquirer's permanent and unique id of this payment. */
  readonly reference: string;
  readonly txid: string;
  readonly method: OrderMethod;
  readonly amount: Amount;
  readonly settledAt: Date;
  readonly fee: Amount;
  readonly payerDocument: string | null;
}

/** An event of an order other than a payment. */
export interface OrderEvent {
  readonly txid: string;
  readonly kind: 'processing' | 'expired' | 'refused' | 'removed';
  readonly reason: string;
  readonly at: Date;
}

/** The part of an acquirer for every method but Pix. As with Pix, a method that throws leaves the outcome unknown. */
export interface OrderDesk {
  issue(request: OrderRequest): Promise<OrderOutcome>;
  /** Like `getPix`, for other methods. @returns null when the acquirer knows of no such payment */
  getPayment(reference: string): Promise<ReceivedPayment | null>;
  /** @param reference as the notification named it @returns null when the acquirer knows of no such event */
  getEvent(reference: string): Promise<OrderEvent | null>;
}

/** `med` is for Pix; the others are for cards. */
export const DISPUTE_TYPES = ['med', 'chargeback', 'dispute', 'fraud'] as const;
export type DisputeType = (typeof DISPUTE_TYPES)[number];

/** The harm that the payer reports. */
export const DISPUTE_METHODS = ['scam', 'unauthorized', 'coercion', 'invasion', 'other'] as const;
export type DisputeMethod = (typeof DISPUTE_METHODS)[number];

/**
 * A payer's claim to get money back through the bank, in its whole present state: no earlier state is needed to apply
 * it. Times are the bank's.
 */
export interface Dispute {
  /** The bank's own id of the dispute. */
  readonly reference: string;
  readonly type: DisputeType;
  /** The account that was paid, where references are unique only within an account; null where they are worldwide. */
  readonly accountId: string | null;
  /** The payment: its reference (the end-to-end id of a Pix) or, if the bank does not name it, our txid. */
  readonly paymentReference: string | null;
  readonly txid: string | null;
  /** The claimed amount, in the smallest unit of the payment's currency. */
  readonly amount: Amount;
  /** `closed`: ruled, see `result`; `canceled`: withdrawn by the payer. */
  readonly status: 'created' | 'delivered' | 'closed' | 'canceled';
  /** `agreed`: decided for the payer; `disagreed`: decided for the merchant; null until it is decided. */
  readonly result: 'agreed' | 'disagreed' | null;
  readonly method: DisputeMethod | null;
  readonly reason: string | null;
  /** The person who opened the dispute, if the bank names one. */
  readonly payerName: string | null;
  readonly payerDocument: string | null;
  /** When the merchant's time to answer ends; null when the bank does not say. */
  readonly responseDeadline: Date | null;
  readonly openedAt: Date;
  /** When the bank last changed the dispute: of two states the later one counts. */
  readonly updatedAt: Date;
  readonly closedAt: Date | null;
}

/** The acquirer's answer about a charge or order at this moment. */
export interface AcquirerStatus {
  /** The status in the acquirer's own words. */
  readonly status: string;
  /** The acquirer's answer, without tax ids of people. */
  readonly raw: Record<string, unknown>;
  /** Names of the fields of `raw` by which somebody could pay. */
  readonly payable?: readonly string[];
}

/** The payment whose receipt is requested. */
export interface ReceiptRequest {
  /** The account that was paid. */
  readonly accountId: string;
  readonly reference: string;
  readonly merchant: { readonly name: string };
  readonly currency: string;
}

/** An event that the acquirer reported: only a hint. Nothing happens before a query to the acquirer confirms it. */
export interface NotificationHint {
  readonly kind: 'pix' | 'charge' | 'payment' | 'order' | 'dispute' | 'return' | 'payout';
  /**
   * The id to query the acquirer by. `pix`: the end-to-end id; `charge`: the txid; `payment`: the payment's reference;
   * `order`: the event's reference; `dispute`: the bank's own id; `return`: `<end-to-end id>/<return id>/<status>`;
   * `payout`: `<send id>/<what changed>`. If references are unique within one account only, this id also names the account.
   */
  readonly reference: string;
  /**
   * For a `pix`: the txid of the charge that it reportedly pays; that charge does not expire before the answer. For a
   * `dispute`: the txid of the payment's charge; that charge is not refunded before the answer.
   */
  readonly txid?: string | null;
  /**
   * A `pix` as the acquirer's list or its charge shows it. These data count if the acquirer does not find the Pix by
   * its id.
   */
  readonly shown?: ReceivedPix | null;
}

/**
 * The interface to a bank or PSP, modelled on BACEN's API Pix. An adapter translates and does nothing else. Calls may
 * take seconds and are never made inside a database transaction. A method that throws leaves the outcome unknown: the
 * caller keeps its state and a sweeper queries again.
 */
export interface Acquirer {
  readonly name: string;
  readonly capabilities: AcquirerCapabilities;
  readonly pixIssuer: PixIssuer;
  /**
   * @param amount the requested amount: a charge with another one is cancelled
   * @throws UnreadableAnswer when the charge exists, but the answer about it or about its payments cannot be read
   */
  getPixCharge(txid: string, amount?: Amount): Promise<PixChargeState>;
  /**
   * @param reference as the notification named it
   * @param txid of the charge that the Pix reportedly pays: queried too if the Pix itself names another charge or none
   * @returns null when the acquirer knows of no such Pix; `foreign` when it went to a key that is not ours
   * @throws UnreadableAnswer when the Pix exists, but the answer cannot be read
   */
  getPix(reference: string, txid?: string | null): Promise<ReceivedPix | 'foreign' | null>;
  /**
   * How long a settled Pix may be missing in the acquirer's answers. An expired charge is queried only after that time.
   */
  settlementLagMs(): Promise<number>;
  /**
   * The payments that arrived, oldest first, page by page, with entries that cannot be read; null if there is no such
   * list.
   */
  readonly statement: ((filter: StatementFilter) => AsyncIterable<StatementLine | UnreadableLine>) | null;
  /** The end of the time that the list shows now; absent where there is no list, or it shows everything at once. */
  readonly listedUntil?: () => Date;
  requestReturn(request: ReturnRequest): Promise<ReturnState>;
  getReturn(request: ReturnRequest): Promise<ReturnState>;
  /**
   * The dispute in its present state.
   * @returns null when the acquirer knows of none by this reference
   * @throws as `getPix`
   */
  getDispute(reference: string): Promise<Dispute | null>;
  /** Null for an acquirer of Pix only. */
  readonly orders: OrderDesk | null;
  /** Absent for an acquirer that cannot send money. */
  readonly payouts?: PayoutDesk | undefined;
  /**
   * Cancels a charge or order, so that it can no longer be paid (API Pix: `PATCH /cob/{txid}`). Repeating is allowed. A
   * charge that does not exist, has ended or was paid is no error: its payment is reported as a notification.
   */
  cancel(txid: string): Promise<void>;
  /** The state right now. @returns null when the acquirer knows of no such charge or order */
  getStatus(txid: string): Promise<AcquirerStatus | null>;
  /** @returns a PDF, or null when this payment has none; called only where `capabilities.receipts` */
  getReceipt(request: ReceiptRequest): Promise<Buffer | null>;
}
