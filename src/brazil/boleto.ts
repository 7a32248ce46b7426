/**
 * Boletos de cobrança: bar code of 44 digits and digitable line of 47. Source: FEBRABAN, Layout Padrão do Código de
 * Barras / convenção "Cobrança Registrada"; due-date factor after its reset: FEBRABAN, comunicado on 22/02/2025.
 */
import { DateTime } from 'luxon';
import { SAO_PAULO } from './sao-paulo.js';

/** The bar code has ten digits for cents. */
export const MAX_BOLETO_AMOUNT = 9_999_999_999;

export interface Boleto {
  /** COMPE code of the bank, 3 digits. */
  readonly bank: string;
  /** Cents of BRL, 1 to `MAX_BOLETO_AMOUNT`. */
  readonly amount: number;
  /** Any instant of the due day in São Paulo. */
  readonly dueAt: Date;
  /** The bank's own number of the boleto, 25 digits. */
  readonly freeField: string;
}

/** Currency code of the real. */
const CURRENCY = '9';
const BASE_DATE = DateTime.fromISO('1997-10-07', { zone: 'utc' });

/** The 44 digits of the bar code. Throws a RangeError for parts that do not fit. */
export function boletoBarcode({ bank, amount, dueAt, freeField }: Boleto): string {
  if (!/^\d{3}$/.test(bank)) throw new RangeError('a bank code has 3 digits');
  if (!/^\d{25}$/.test(freeField)) throw new RangeError('the free field has 25 digits');
  if (!Number.isSafeInteger(amount) || amount < 1 || amount > MAX_BOLETO_AMOUNT) {
    throw new RangeError(`the amount must be an integer from 1 to ${MAX_BOLETO_AMOUNT}`);
  }
  const rest = `${dueDateFactor(dueAt)}${String(amount).padStart(10, '0')}${freeField}`;
  return `${bank}${CURRENCY}${modulo11(`${bank}${CURRENCY}${rest}`)}${rest}`;
}

/** The 47 digits that people type, from the 44 of the bar code. Throws a RangeError for an invalid bar code. */
export function boletoLine(barcode: string): string {
  if (!isBoletoBarcode(barcode)) throw new RangeError('this is not the bar code of a boleto');
  const free = barcode.slice(19);
  const fields = [`${barcode.slice(0, 4)}${free.slice(0, 5)}`, free.slice(5, 15), free.slice(15)];
  return `${fields.map((field) => `${field}${modulo10(field)}`).join('')}${barcode[4]}${barcode.slice(5, 19)}`;
}

/** The line as it is printed: `00190.50095 40144.816069 06809.350314 3 37370000000100`. */
export function formatBoletoLine(line: string): string {
  return line.replace(/^(.{5})(.{5})(.{5})(.{6})(.{5})(.{6})(.)(.{14})$/, '$1.$2 $3.$4 $5.$6 $7 $8');
}

/** Whether the text has 44 digits, and the fifth is the check digit of the others. */
export function isBoletoBarcode(text: string): boolean {
  return /^\d{44}$/.test(text) && text[4] === modulo11(`${text.slice(0, 4)}${text.slice(5)}`);
}

/**
 * Days from 7 October 1997 to the due day, four digits. The factor reached 9999 on 21 February 2025 and began again at
 * 1000 on the next day. Readers take the nearest date, so a factor repeats every 9000 days.
 */
export function dueDateFactor(dueAt: Date): string {
  const day = DateTime.fromJSDate(dueAt, { zone: SAO_PAULO });
  const days = DateTime.utc(day.year, day.month, day.day).diff(BASE_DATE, 'days').days;
  if (!(days >= 1000)) throw new RangeError('there are due-date factors since 3 July 2000');
  return String(days < 10_000 ? days : ((days - 1000) % 9000) + 1000);
}

/** Weights 2 to 9 from the right; a result of 0, 10 or 11 becomes 1. */
function modulo11(digits: string): string {
  let sum = 0;
  for (let index = 0; index < digits.length; index += 1) {
    sum += Number(digits[digits.length - 1 - index]) * (2 + (index % 8));
  }
  const digit = 11 - (sum % 11);
  return digit >= 10 ? '1' : String(digit);
}

/** Weights 2, 1, 2 … from the right; the digits of products above 9 are added. */
function modulo10(digits: string): string {
  let sum = 0;
  for (let index = 0; index < digits.length; index += 1) {
    const product = Number(digits[digits.length - 1 - index]) * (2 - (index % 2));
    sum += product > 9 ? product - 9 : product;
  }
  return String((10 - (sum % 10)) % 10);
}
