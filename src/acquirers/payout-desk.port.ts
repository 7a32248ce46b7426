import type { Amount } from '../core/money/index.js';

/** Types of a bank account in Brazil. */
export const BANK_ACCOUNT_TYPES = ['checking', 'savings', 'payment'] as const;
export type BankAccountType = (typeof BANK_ACCOUNT_TYPES)[number];

/** The receiver of a payout. Tax ids are CPF or CNPJ without punctuation. */
export type PayoutTarget =
  /** `key` as the key directory writes it: e-mail in small letters, phone in E.164, CPF and CNPJ without punctuation. */
  | { readonly type: 'pix_key'; readonly key: string; readonly taxId: string | null }
  /** A Pix code to pay; `taxId` if its key is a CPF or CNPJ. */
  | { readonly type: 'br_code'; readonly brCode: string; readonly taxId: string | null }
  | {
      readonly type: 'bank_account';
      /** 8 digits. */
      readonly ispb: string;
      /** 1 to 4 digits. */
      readonly branch: string;
      /** Digits, with the check digit as last. */
      readonly number: string;
      readonly accountType: BankAccountType;
      readonly name: string;
      readonly taxId: string;
    };

export type PayoutTargetType = PayoutTarget['type'];

/** Names a payout permanently: a repeated send under the same name never pays a second time. */
export interface PayoutName {
  /** The account that pays. */
  readonly accountId: string;
  /** Derived from our id before the first attempt; 1 to 35 letters and digits. */
  readonly sendId: string;
}

/** A payout that may have been sent. */
export interface SentPayout extends PayoutName {
  /** Cents of BRL. */
  readonly amount: Amount;
}

/** A request to send money. */
export interface PayoutOrder extends SentPayout {
  readonly target: PayoutTarget;
  /** The receiver's tax id is the account's own: a PSP may check that before it sends. Null: send to anyone. */
  readonly ownTaxId: string | null;
  /** Text for the receiver, at most 140 characters. */
  readonly description: string | null;
}

/** Why a PSP did not send money. The PSP's own words stay in the adapter's log, as they may name people. */
export const PAYOUT_REFUSALS = [
  'destination_invalid',
  'destination_mismatch',
  'insufficient_funds',
  'limit_exceeded',
  'rejected_by_receiver',
  'refused',
] as const;
export type PayoutRefusal = (typeof PAYOUT_REFUSALS)[number];

/** The answer to a send. A desk never throws. An answer that it cannot understand is `unknown`. */
export type PayoutAnswer =
  | { readonly kind: 'accepted'; readonly endToEndId: string | null }
  /** Final: no money has moved, and under this name none will. */
  | { readonly kind: 'refused'; readonly reason: PayoutRefusal }
  /**
   * Nothing can have happened: the request was not sent, or was turned away whole. The PSP is out of key look-ups, limits
   * requests, or works on another send.
   */
  | { readonly kind: 'not_now'; readonly retryAfterMs: number }
  /** The money may be on its way. Only a look-up may follow. */
  | { readonly kind: 'unknown' };

/** Money of a payout that came back. */
export interface PayoutReturn {
  /** The PSP's id of the return, unique within its payout. */
  readonly returnId: string;
  readonly endToEndId: string | null;
  /** Cents. */
  readonly amount: Amount;
  /** The PSP's reason in its own code; null if it gives none. */
  readonly reason: string | null;
  readonly at: Date;
}

/** The state of a payout at its PSP. */
export type PayoutState =
  | {
      readonly kind: 'processing';
      /** `review`: the PSP holds the payout to examine it. */
      readonly reason: 'sent' | 'review';
      readonly endToEndId: string | null;
    }
  | {
      readonly kind: 'paid';
      readonly endToEndId: string | null;
      readonly at: Date;
      /** The PSP's fee in cents. */
      readonly fee: Amount;
      /** All returns so far, in any order. */
      readonly returns: readonly PayoutReturn[];
    }
  /** The money is not with the receiver and will not be. A payout that was paid may still become this. */
  | { readonly kind: 'failed'; readonly reason: PayoutRefusal }
  | { readonly kind: 'not_found' }
  /** The PSP cannot be reached, or its answer cannot be read. */
  | { readonly kind: 'unknown' };

/** A report about a payout: a `NotificationHint` of this kind. */
export interface PayoutHint {
  readonly kind: 'payout';
  /** `<send id>/<what changed>` */
  readonly reference: string;
}

/** A payout in the PSP's own list. */
export interface ListedPayout {
  /** Null: the PSP names no id of ours, as for a payout that was sent in its app. */
  readonly sendId: string | null;
  readonly endToEndId: string | null;
  readonly amount: Amount;
  readonly state: Extract<PayoutState, { kind: 'processing' | 'paid' | 'failed' }>;
  readonly at: Date;
  /** The hint to store in the inbox for this payout; null if it names no id of ours. */
  readonly hint: PayoutHint | null;
}

/** An entry of the PSP's list whose amount or state cannot be read. */
export interface UnreadablePayout extends Pick<ListedPayout, 'sendId' | 'endToEndId' | 'at' | 'hint'> {
  readonly amount: null;
  readonly state: { readonly kind: 'unknown' };
}

/** Money of ours at a PSP. */
export interface PayoutBalance {
  /** Cents that can be sent. */
  readonly available: Amount;
  /** Cents that the PSP blocks, by its own name of the cause. */
  readonly blocked: Readonly<Record<string, Amount>>;
}

export interface PayoutDeskCapabilities {
  readonly targets: readonly PayoutTargetType[];
  /** Types of a `bank_account` that can be paid. */
  readonly accountTypes: readonly BankAccountType[];
  /** How many sends may be under way at once; null: any number. */
  readonly maxUnderWay: number | null;
  /**
   * Whether "not found" proves that no money was or will be sent. The answer counts once `quietMs` have passed since the
   * last send. False: an operator decides.
   */
  readonly isNotFoundFinal: boolean;
  /** Longer than the PSP's own review: 30 minutes by day, 60 at night. */
  readonly quietMs: number;
}

/**
 * The part of an acquirer that sends money. Calls may take seconds and are never made inside a database transaction. No
 * method throws but `list` and `balance`.
 */
export interface PayoutDesk {
  readonly capabilities: PayoutDeskCapabilities;
  send(order: PayoutOrder): Promise<PayoutAnswer>;
  /** Needs no receiver: the receiver of a payout may be erased once it is paid, and its money may still come back. */
  lookUp(sent: SentPayout): Promise<PayoutState>;
  /**
   * Payouts that were sent between two times, in any order, with all their returns so far. A return is found at the time
   * of its payout, however late it came. Null if the PSP has no such list.
   */
  readonly list: ((from: Date, to: Date) => AsyncIterable<ListedPayout | UnreadablePayout>) | null;
  /** Null if the PSP does not report its balance. */
  readonly balance: (() => Promise<PayoutBalance>) | null;
}
