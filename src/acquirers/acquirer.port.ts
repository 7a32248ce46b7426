import type { Amount } from '../core/money/index.js';

export const PAYMENT_METHODS = ['PIX', 'CREDIT_CARD', 'MBWAY', 'MULTIBANCO', 'BOLETO', 'CRYPTO'] as const;
export type PaymentMethod = (typeof PAYMENT_METHODS)[number];

/** How a Pix is refunded: by its end-to-end id, or as a new Pix to a key. */
export type RefundStrategy = 'devolution' | 'cashout';

/** How money goes back to who paid: a Pix by one of its strategies, a card payment to its card. */
export type RefundWay = RefundStrategy | 'card';

/** What an acquirer can do; a use case asks here instead of trying. */
export interface AcquirerCapabilities {
  readonly methods: readonly PaymentMethod[];
  /** The ways money of each method can go back; a method without an entry cannot be refunded. */
  readonly refunds: Partial<Record<PaymentMethod, readonly RefundWay[]>>;
  readonly receipts: boolean;
  /** Among what its end-to-end ids and references name one payment: all that there is, or what one account was paid. */
  readonly references: 'worldwide' | 'of the account';
}

/** API Pix: `PUT /cob/{txid}`. We choose the txid, so a request whose answer was lost can be repeated or asked for. */
export interface PixChargeRequest {
  readonly txid: string;
  /** Cents of BRL. */
  readonly amount: Amount;
  /** It cannot be paid from then on, however late the acquirer makes it. */
  readonly expiresAt: Date;
  readonly merchant: { readonly name: string; readonly city: string };
  readonly payer: { readonly name: string | null; readonly document: string | null };
}

export type PixIssueOutcome =
  | { readonly kind: 'issued'; readonly brCode: string }
  /**
   * The acquirer said no; nothing exists there that could be paid. `fault`: it is not the charge's, but that of the
   * connection (its Pix key), or of the acquirer (it made the charge with another amount).
   */
  | {
      readonly kind: 'refused';
      readonly code: string;
      readonly reason: string;
      readonly fault?: 'connection' | 'acquirer';
    }
  /** Nothing can have happened: the request never left, for its time was over too, or was turned away whole. */
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
  | {
      readonly kind: 'found';
      readonly brCode: string;
      readonly ended: PixChargeEnd | null;
      /** The Pix that have arrived for it: hints, confirmed one by one by `getPix`. */
      readonly payments: readonly NotificationHint[];
      /** The acquirer made the charge with another amount and it was taken back: never show it as payable. */
      readonly isOtherAmount?: true;
    }
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
  /** What the acquirer charges for it, in cents. */
  readonly fee: Amount;
  /** CPF or CNPJ bare, or null when the bank did not report it. */
  readonly payerDocument: string | null;
}

/** API Pix: `GET /pix`, one Pix of the acquirer's own list of what arrived. */
export interface StatementLine {
  readonly pix: ReceivedPix;
  readonly returns: readonly StatementReturn[];
}

/** Money of a Pix that went back, or is to. */
export interface StatementReturn {
  readonly returnId: string;
  /** Cents. */
  readonly amount: Amount;
  readonly state: 'in_progress' | 'returned' | 'failed';
  /** `requested`: somebody of the account asked for it, here or in the bank's app; `dispute`: the bank took it (MED). */
  readonly cause: 'requested' | 'dispute';
  /** What to store in the inbox for it. */
  readonly hint: NotificationHint;
}

/** An entry of that list that cannot be read: its amount or its account is not known. */
export interface UnreadableLine {
  /** A Pix, or money of one that went back or is to. */
  readonly what: 'pix' | 'return';
  /** The end-to-end id of the Pix; null where not even that can be read. */
  readonly endToEndId: string | null;
  /** Null: it is a Pix, or the return has no id that can be read. */
  readonly returnId: string | null;
  /** What to store in the inbox for it; null: there is nothing that could be asked for. */
  readonly hint: NotificationHint | null;
}

/** The acquirer has what it was asked for, and its answer about it cannot be read, or cannot be had. */
export class UnreadableAnswer extends Error {
  override readonly name = 'UnreadableAnswer';

  /** @param what as "a Pix" */
  constructor(what: string, options?: ErrorOptions) {
    super(`the acquirer has ${what} that cannot be read`, options);
  }
}

/** Times are of the Pix, `from` included, `to` not. `withReturns`: only Pix of which money went back. */
export interface StatementFilter {
  readonly from: Date;
  readonly to: Date;
  readonly withReturns?: boolean;
  /** End-to-end ids of Pix that are settled here: ours, whichever key the list names. */
  readonly settled?: ReadonlySet<string>;
}

/** (reference, returnId) names a return for ever: asking under the same name again never pays a second time. */
export interface ReturnName {
  /** The account that was paid. */
  readonly accountId: string;
  readonly way: RefundWay;
  /** What the acquirer knows the payment by: the end-to-end id of a Pix. */
  readonly reference: string;
  /** Chosen by us before the first attempt; 1 to 35 letters and digits. */
  readonly returnId: string;
}

/** Money that goes back. API Pix: `PUT /pix/{e2eid}/devolucao/{id}` for a devolution, a Pix-out by our id for a cashout. */
export interface ReturnRequest extends ReturnName {
  /** `refund`: the merchant wants it; `unwanted`: money that pays no charge goes back by itself. */
  readonly cause: 'refund' | 'unwanted';
  readonly amount: Amount;
  readonly currency: string;
  /** `cashout`: the Pix key it goes to; null otherwise. */
  readonly destination: string | null;
}

/** Why an acquirer did not send money back. Its own words stay in the adapter's log: they may name people. */
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

/** What a payer needs to pay by each of the methods, as the acquirer made it. An entry is there once it was issued. */
export interface Artefacts {
  readonly CREDIT_CARD?: { readonly redirectUrl: string };
  /** The payer is asked in the MB WAY app: nothing to show. */
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

/** An order by one method. We choose the txid: repeating a request, or one for another method, is about the same order. */
export interface OrderRequest {
  readonly txid: string;
  readonly method: OrderMethod;
  /** In the smallest unit of `currency`. */
  readonly amount: Amount;
  readonly currency: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** Where the payer goes after a card's page; null: nowhere. */
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

/** Money that did arrive by another method than Pix. */
export interface ReceivedPayment {
  /** What the acquirer knows this payment by, for ever and for it alone. */
  readonly reference: string;
  readonly txid: string;
  readonly method: OrderMethod;
  readonly amount: Amount;
  readonly settledAt: Date;
  readonly fee: Amount;
  readonly payerDocument: string | null;
}

/** What happened to an order besides money arriving. */
export interface OrderEvent {
  readonly txid: string;
  readonly kind: 'processing' | 'expired' | 'refused' | 'removed';
  readonly reason: string;
  readonly at: Date;
}

/** The part of an acquirer for everything but Pix. As with Pix, what throws leaves the outcome unknown. */
export interface OrderDesk {
  issue(request: OrderRequest): Promise<OrderOutcome>;
  /** Like `getPix`, for other methods. @returns null when the acquirer knows of no such payment */
  getPayment(reference: string): Promise<ReceivedPayment | null>;
  /** @param reference as the notification named it @returns null when the acquirer knows of no such event */
  getEvent(reference: string): Promise<OrderEvent | null>;
}

/** `med`: of a Pix; the others are of cards. */
export const DISPUTE_TYPES = ['med', 'chargeback', 'dispute', 'fraud'] as const;
export type DisputeType = (typeof DISPUTE_TYPES)[number];

/** How the payer says to have been harmed. */
export const DISPUTE_METHODS = ['scam', 'unauthorized', 'coercion', 'invasion', 'other'] as const;
export type DisputeMethod = (typeof DISPUTE_METHODS)[number];

/**
 * Money that a payer wants back through the bank, in its whole present state: to apply it, no earlier state
 * is needed. Times are the bank's.
 */
export interface Dispute {
  /** The bank's own id of it. */
  readonly reference: string;
  readonly type: DisputeType;
  /** The account that was paid, where references are unique only within an account; null where they are worldwide. */
  readonly accountId: string | null;
  /** The payment: its reference (of a Pix the end-to-end id) or, where the bank does not say it, our txid. */
  readonly paymentReference: string | null;
  readonly txid: string | null;
  /** What is claimed, in the smallest unit of the payment's currency. */
  readonly amount: Amount;
  /** `closed`: ruled, see `result`; `canceled`: withdrawn by the payer. */
  readonly status: 'created' | 'delivered' | 'closed' | 'canceled';
  /** `agreed`: with the payer; `disagreed`: with the merchant; null until it is ruled. */
  readonly result: 'agreed' | 'disagreed' | null;
  readonly method: DisputeMethod | null;
  readonly reason: string | null;
  /** Who opened it, where the bank says so. */
  readonly payerName: string | null;
  readonly payerDocument: string | null;
  /** Until when the merchant may answer; null when the bank does not say. */
  readonly responseDeadline: Date | null;
  readonly openedAt: Date;
  /** When the bank last changed anything of it: of two states the later one holds. */
  readonly updatedAt: Date;
  readonly closedAt: Date | null;
}

/** What the acquirer says of a charge or order at this moment. */
export interface AcquirerStatus {
  /** The status in the acquirer's own words. */
  readonly status: string;
  /** Its answer, without documents of people. */
  readonly raw: Record<string, unknown>;
  /** Names the fields of `raw` by which somebody could pay. */
  readonly payable?: readonly string[];
}

/** Which payment a receipt is asked for. */
export interface ReceiptRequest {
  /** The account that was paid. */
  readonly accountId: string;
  readonly reference: string;
  readonly merchant: { readonly name: string };
  readonly currency: string;
}

/** Something the acquirer said happened: only a hint, nothing is done before it is confirmed by asking. */
export interface NotificationHint {
  readonly kind: 'pix' | 'charge' | 'payment' | 'order' | 'dispute' | 'return';
  /**
   * What the acquirer is asked by: `pix`: the end-to-end id; `charge`: the txid; `payment`: the payment's reference;
   * `order`: the event's; `dispute`: the bank's own id of it; `return`: `<end-to-end id>/<return id>/<status>`. Where references are of an account, with what tells the
   * accounts apart.
   */
  readonly reference: string;
  /**
   * Of a `pix`: the txid of the charge that it is said to pay, whose expiry waits for the answer. Of a `dispute`: the txid
   * of the payment's charge, of which nothing is refunded before the answer.
   */
  readonly txid?: string | null;
  /** A `pix` as the acquirer's list or its charge shows it; believed where the acquirer does not know it by its id. */
  readonly shown?: ReceivedPix | null;
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
  /**
   * @param amount as asked for: a charge with another one is taken back
   * @throws UnreadableAnswer when there is one and the answer about it, or about what has paid it, cannot be read
   */
  getPixCharge(txid: string, amount?: Amount): Promise<PixChargeState>;
  /**
   * @param reference as the notification named it
   * @param txid of the charge that it is said to pay: asked about where the Pix itself names another charge or none
   * @returns null when the acquirer knows of no such Pix; `foreign` when it went to a key that is not ours
   * @throws UnreadableAnswer when it does and its answer cannot be read
   */
  getPix(reference: string, txid?: string | null): Promise<ReceivedPix | 'foreign' | null>;
  /**
   * How long after its settlement a Pix may still be missing in the acquirer's answers: a charge past its expiry is asked
   * about after that time.
   */
  settlementLagMs(): Promise<number>;
  /** What has arrived, oldest first, page by page, with what of it cannot be read; null where there is no such list. */
  readonly statement: ((filter: StatementFilter) => AsyncIterable<StatementLine | UnreadableLine>) | null;
  /** The end of what the list shows now; absent where there is no list, or it shows everything at once. */
  readonly listedUntil?: () => Date;
  requestReturn(request: ReturnRequest): Promise<ReturnState>;
  getReturn(request: ReturnRequest): Promise<ReturnState>;
  /** The dispute as it is now. @returns null when the acquirer knows of none by this reference @throws as `getPix` */
  getDispute(reference: string): Promise<Dispute | null>;
  /** Null for an acquirer of Pix only. */
  readonly orders: OrderDesk | null;
  /**
   * Takes a charge or order back, so that it can no longer be paid (API Pix: `PATCH /cob/{txid}`). May be repeated, and
   * one that is not there, is over or was paid is no error: money that came comes as a notification.
   */
  cancel(txid: string): Promise<void>;
  /** The state right now. @returns null when the acquirer knows of no such charge or order */
  getStatus(txid: string): Promise<AcquirerStatus | null>;
  /** @returns a PDF, or null when there is none for this payment; asked only where `capabilities.receipts` */
  getReceipt(request: ReceiptRequest): Promise<Buffer | null>;
}
