/**
 * Fields of both kinds of codes that can be written. Name and city may be any text: they are transliterated and cut.
 */
interface BrCodeInput {
  readonly merchantName: string;
  readonly merchantCity: string;
  /**
   * Integer cents, 1 to 999 999 999 999 (object 54 has 13 characters). If left out, the payer's app asks or fetches it.
   */
  readonly amount?: number;
  /** 1 to 25 alphanumerics; default `***` (none). An acquirer's txid of 26 to 35 does not fit in any BR Code. */
  readonly txid?: string;
}

/** A code whose charge is fetched from `location`; payers' apps ignore its amount and txid. */
export interface DynamicBrCode extends BrCodeInput {
  readonly kind: 'dynamic';
  /** Where the charge is served, without scheme: `host/path`, at most 77 characters. */
  readonly location: string;
}

/** A code that pays to a Pix key. */
export interface StaticBrCode extends BrCodeInput {
  readonly kind: 'static';
  /** A Pix key in its DICT form: CPF or CNPJ bare, `+5511…`, lower-case e-mail or lower-case UUID. */
  readonly key: string;
  /** Text shown to the payer; transliterated. Key and text together have at most 73 characters. */
  readonly info?: string;
}

interface BrCodeCommon {
  readonly merchantName: string;
  readonly merchantCity: string;
  /** Four digits, `0000` when not informed. */
  readonly merchantCategoryCode: string;
  readonly postalCode: string | null;
  /** Integer cents. */
  readonly amount: number | null;
  /** Null when the code carries `***` or no txid. */
  readonly txid: string | null;
  /** True when object 01 is `12`: the code may be paid once. */
  readonly singleUse: boolean;
}

/** A code that was read. `recurrenceLocation` is the Pix Automático offer that any kind may carry (object 80 to 99). */
export type BrCode =
  | (BrCodeCommon & {
      readonly kind: 'static';
      readonly key: string;
      readonly info: string | null;
      /** ISPB of the Pix Saque facilitator (object 26-03). */
      readonly withdrawalFacilitator: string | null;
      readonly recurrenceLocation: string | null;
    })
  | (BrCodeCommon & {
      readonly kind: 'dynamic';
      readonly location: string;
      readonly recurrenceLocation: string | null;
    })
  | (BrCodeCommon & { readonly kind: 'recurrence'; readonly recurrenceLocation: string });

/**
 * The level of a fault.
 * - `envelope`: TLV, character set or CRC is wrong. Nothing of the payload can be trusted.
 * - `rule`: a mandatory object of the BR Code is missing or wrong. A payer's app would refuse it.
 * - `strict`: many apps read it, but the Pix manuals do not allow it.
 */
export type BrCodeLevel = 'envelope' | 'rule' | 'strict';

export type BrCodeErrorCode =
  | 'too_long'
  | 'not_ascii'
  | 'crc_missing'
  | 'crc_mismatch'
  | 'tlv_malformed'
  | 'format_invalid'
  | 'initiation_invalid'
  | 'gui_missing'
  | 'gui_repeated'
  | 'key_or_location_missing'
  | 'key_and_location'
  | 'key_too_long'
  | 'key_invalid'
  | 'location_invalid'
  | 'location_has_scheme'
  | 'location_too_long'
  | 'info_too_long'
  | 'withdrawal_invalid'
  | 'category_invalid'
  | 'currency_invalid'
  | 'country_invalid'
  | 'amount_invalid'
  | 'name_invalid'
  | 'city_invalid'
  | 'postal_code_invalid'
  | 'txid_missing'
  | 'txid_too_long'
  | 'txid_invalid';

/** A fault of a payload. */
export interface BrCodeViolation {
  readonly level: BrCodeLevel;
  readonly code: BrCodeErrorCode;
  readonly message: string;
}

/** A BR Code that cannot be written or read. The message says what to change and holds no payer data. */
export class BrCodeError extends Error {
  override readonly name = 'BrCodeError';

  constructor(
    readonly code: BrCodeErrorCode,
    message: string,
    readonly level: BrCodeLevel = 'rule',
  ) {
    super(message);
  }
}
