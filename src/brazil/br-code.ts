/**
 * BR Code (EMV QRCPS-MPM for Pix), writing side. Sources: BACEN, Manual do BR Code 2.0.1 and Manual de Padrões para
 * Iniciação do Pix, chapter 2. The reading side is `br-code.parser.ts`.
 */
import {
  AMOUNT_MAX,
  CITY_MAX,
  INFO_MAX,
  NAME_MAX,
  NO_TXID,
  PIX_GUI,
  isBrCodeTxid,
  isPixKey,
  locationFault,
  toBrCodeText,
  writeAmount,
} from './br-code.rules.js';
import { BrCodeError, type DynamicBrCode, type StaticBrCode } from './br-code.types.js';
import { TLV_VALUE_MAX, crc16, writeTlv } from './tlv.js';

/** Objects 59 and 60 are mandatory: a name in another script alone still needs to give a payable code. */
const NAME_FALLBACK = 'RECEBEDOR';
const CITY_FALLBACK = 'BRASIL';

/**
 * Writes the "copia e cola" text of a Pix code, CRC included; `parseBrCode` reads it back. Throws a BrCodeError whose
 * message says what to change: `location_*`, `key_invalid`, `info_too_long`, `amount_invalid`, `txid_too_long`,
 * `txid_invalid`.
 */
export function encodeBrCode(input: DynamicBrCode | StaticBrCode): string {
  const account = input.kind === 'dynamic' ? dynamicAccount(input) : staticAccount(input);
  const payload =
    writeTlv('00', '01') +
    // 12 = may be paid once. A static code may be paid any number of times and, as in the manual's example, leaves it
    // out.
    (input.kind === 'dynamic' ? writeTlv('01', '12') : '') +
    writeTlv('26', account) +
    writeTlv('52', '0000') +
    writeTlv('53', '986') +
    amountObject(input.amount) +
    writeTlv('58', 'BR') +
    writeTlv('59', toBrCodeText(input.merchantName, NAME_MAX) || NAME_FALLBACK) +
    writeTlv('60', toBrCodeText(input.merchantCity, CITY_MAX) || CITY_FALLBACK) +
    writeTlv('62', writeTlv('05', checkedTxid(input.txid))) +
    '6304';
  // The CRC covers its own id and length: a reader that stops before them would compute another value.
  return payload + crc16(payload);
}

function dynamicAccount(input: DynamicBrCode): string {
  const fault = locationFault(input.location);
  if (fault !== null) throw new BrCodeError(fault.code, fault.message);
  return writeTlv('00', PIX_GUI) + writeTlv('25', input.location);
}

function staticAccount(input: StaticBrCode): string {
  if (!isPixKey(input.key)) {
    throw new BrCodeError(
      'key_invalid',
      'the Pix key must be a valid CPF or CNPJ without punctuation, a phone as +55…, a lower-case e-mail or a UUID',
    );
  }
  const account = writeTlv('00', PIX_GUI) + writeTlv('01', input.key);
  const info = toBrCodeText(input.info ?? '', Number.MAX_SAFE_INTEGER);
  if (info === '') return account;
  const room = Math.min(INFO_MAX, TLV_VALUE_MAX - account.length - 4);
  // Cutting would silently change the merchant's text for the payer.
  if (info.length > room) {
    throw new BrCodeError(
      'info_too_long',
      `the text for the payer has ${info.length} characters and ${Math.max(room, 0)} fit beside this key: shorten it`,
    );
  }
  return account + writeTlv('02', info);
}

function amountObject(amount: number | undefined): string {
  if (amount === undefined) return '';
  if (!Number.isSafeInteger(amount) || amount < 1 || amount > AMOUNT_MAX) {
    throw new BrCodeError('amount_invalid', `the amount must be integer cents from 1 to ${AMOUNT_MAX}`);
  }
  return writeTlv('54', writeAmount(amount));
}

function checkedTxid(txid: string = NO_TXID): string {
  if (isBrCodeTxid(txid)) return txid;
  if (/^[A-Za-z0-9]{26,}$/.test(txid)) {
    throw new BrCodeError(
      'txid_too_long',
      `the txid has ${txid.length} characters and object 62-05 holds 25: leave it out of a dynamic code, its location carries it`,
    );
  }
  throw new BrCodeError('txid_invalid', 'the txid must be 1 to 25 letters and digits, or *** for none');
}
