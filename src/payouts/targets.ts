import { BANK_ACCOUNT_TYPES, type BankAccountType, type PayoutTarget } from '../acquirers/index.js';
import { BrCodeError, maskTaxId, normalizePixKey, normalizeTaxId, parseBrCode, taxIdKind } from '../brazil/index.js';
import type { Violation } from '../core/errors/index.js';
import { UNKNOWN_FIELD } from '../core/http/index.js';
import type { Amount } from '../core/money/index.js';
import { hasControls, visibleLength } from '../core/text.js';

/** A receiver as answers and events show it: keys and tax ids are masked. */
export type ShownTarget =
  | { readonly type: 'pix_key'; readonly key: string; readonly key_type: string; readonly tax_id: string | null }
  | { readonly type: 'br_code'; readonly key: string | null; readonly tax_id: string | null }
  | {
      readonly type: 'bank_account';
      readonly ispb: string;
      readonly branch: string;
      readonly number: string;
      readonly account_type: string;
      readonly tax_id: string;
    };

/** A receiver as a request sends it. */
interface SentTarget {
  readonly type: PayoutTarget['type'];
  readonly key?: string;
  readonly tax_id?: string;
  readonly br_code?: string;
  readonly ispb?: string;
  readonly branch?: string;
  readonly number?: string;
  readonly account_type?: BankAccountType;
  readonly name?: string;
}

type Field = Exclude<keyof SentTarget, 'type'>;

/** Fields of each type of receiver. */
export const TARGET_FIELDS: Readonly<Record<PayoutTarget['type'], readonly Field[]>> = {
  pix_key: ['key', 'tax_id'],
  br_code: ['br_code'],
  bank_account: ['ispb', 'branch', 'number', 'account_type', 'name', 'tax_id'],
};

const TYPES = Object.keys(TARGET_FIELDS) as PayoutTarget['type'][];
/** Characters of a field at most: those of a BR Code. */
const MAX_LENGTH = 512;

/**
 * Reads a receiver.
 * @param path of the object in the body, for errors; empty: the body itself
 * @param amount of the payout, which a code with an amount must equal; null: no payout yet
 */
export function readTarget(
  value: Readonly<Record<string, unknown>>,
  path: string,
  amount: number | null,
): { readonly target: PayoutTarget | null; readonly violations: readonly Violation[] } {
  const violations: Violation[] = [];
  const wrong = (field: string, code: string, message: string): void => {
    violations.push({ param: path === '' ? field : `${path}.${field}`, code, message });
  };
  const type = TYPES.find((one) => one === value['type']);
  if (type === undefined) {
    wrong('type', value['type'] === undefined ? 'required' : 'invalid', `must be one of ${TYPES.join(', ')}`);
    return { target: null, violations };
  }
  const own = TARGET_FIELDS[type];
  const isField = (name: string): name is Field => TYPES.some((one) => TARGET_FIELDS[one].includes(name as Field));
  for (const [name, sent] of Object.entries(value)) {
    if (name === 'type') continue;
    if (!isField(name)) wrong(name, UNKNOWN_FIELD.code, UNKNOWN_FIELD.message);
    else if (!own.includes(name)) wrong(name, 'invalid', `must not be sent with the type ${type}`);
    else if (typeof sent !== 'string' || sent.length > MAX_LENGTH || hasControls(sent)) {
      wrong(name, 'invalid', `must be a text of at most ${MAX_LENGTH} characters on one line`);
    }
  }
  if (violations.length > 0) return { target: null, violations };
  const sent = value as unknown as SentTarget;
  for (const field of own) {
    // Whether a key needs a tax id, its kind says.
    const isOptional = type === 'pix_key' && field === 'tax_id';
    if (sent[field] === undefined && !isOptional) wrong(field, 'required', 'is required');
  }
  const target = violations.length > 0 ? null : READERS[type](sent, amount, wrong);
  return { target: violations.length > 0 ? null : target, violations };
}

type Wrong = (field: Field, code: string, message: string) => void;

const READERS: Readonly<
  Record<PayoutTarget['type'], (sent: SentTarget, amount: number | null, wrong: Wrong) => PayoutTarget | null>
> = { pix_key: pixKeyOf, br_code: brCodeOf, bank_account: bankAccountOf };

function pixKeyOf({ key = '', tax_id }: SentTarget, _amount: number | null, wrong: Wrong): PayoutTarget | null {
  const found = normalizePixKey(key);
  if (!found) {
    wrong('key', 'invalid', 'must be a Pix key: a valid CPF or CNPJ, e-mail, phone as +5511987654321, or a random key');
    return null;
  }
  // A CPF or CNPJ that is the key names its owner.
  const named = documentOf(key);
  if (named === null && tax_id === undefined) wrong('tax_id', 'required', 'is required with this kind of key');
  const taxId = tax_id === undefined ? named : taxIdOf(tax_id, wrong);
  if (named !== null && taxId !== named) wrong('tax_id', 'invalid', 'must be the CPF or CNPJ that is the key');
  return { type: 'pix_key', key: found.key, taxId };
}

/** @returns the cents that a Pix code asks for; null for other receivers, and for a code without an amount */
export function codeAmountOf(target: PayoutTarget): Amount | null {
  if (target.type !== 'br_code') return null;
  const code = parseBrCode(target.brCode);
  return code.kind === 'recurrence' ? null : code.amount;
}

function brCodeOf({ br_code = '' }: SentTarget, amount: number | null, wrong: Wrong): PayoutTarget | null {
  try {
    const code = parseBrCode(br_code.trim());
    if (code.kind === 'recurrence') {
      wrong('br_code', 'invalid', 'must be a code that is paid once, not an offer of Pix Automático');
      return null;
    }
    if (amount !== null && code.amount !== null && code.amount !== amount) {
      wrong('br_code', 'amount_mismatch', `must have the amount of the payout: the code says ${code.amount} cents`);
    }
    const key = code.kind === 'static' ? normalizePixKey(code.key) : null;
    const taxId = key === null ? null : documentOf(key.key);
    return { type: 'br_code', brCode: br_code.trim(), taxId };
  } catch (error) {
    if (!(error instanceof BrCodeError)) throw error;
    wrong('br_code', 'invalid', `must be a Pix code (copia e cola): ${error.message}`);
    return null;
  }
}

function bankAccountOf(sent: SentTarget, _amount: number | null, wrong: Wrong): PayoutTarget | null {
  const { ispb = '', branch = '', number = '', account_type: accountType = 'checking', name = '' } = sent;
  const digits = number.replaceAll(/[.\s-]/g, '');
  if (!/^\d{8}$/.test(ispb)) wrong('ispb', 'invalid', 'must have 8 digits');
  if (!/^\d{1,4}$/.test(branch)) wrong('branch', 'invalid', 'must have 1 to 4 digits, without the check digit');
  if (!/^\d{1,19}[0-9Xx]$/.test(digits)) {
    wrong('number', 'invalid', 'must have 2 to 20 digits, with the check digit as last');
  }
  if (!BANK_ACCOUNT_TYPES.includes(accountType)) {
    wrong('account_type', 'invalid', `must be one of ${BANK_ACCOUNT_TYPES.join(', ')}`);
  }
  if (visibleLength(name) === 0 || name.length > 120) wrong('name', 'invalid', 'must have 1 to 120 characters');
  const taxId = taxIdOf(sent.tax_id ?? '', wrong);
  if (taxId === null) return null;
  return { type: 'bank_account', ispb, branch, number: digits.toUpperCase(), accountType, name: name.trim(), taxId };
}

function taxIdOf(sent: string, wrong: Wrong): string | null {
  const taxId = normalizeTaxId(sent);
  if (taxId === null) wrong('tax_id', 'invalid', 'must be a CPF or CNPJ with right check digits');
  return taxId;
}

/** @returns the CPF or CNPJ that is the key; null for another key */
function documentOf(key: string | undefined): string | null {
  const found = key === undefined ? null : normalizePixKey(key);
  return found !== null && (found.kind === 'cpf' || found.kind === 'cnpj') ? found.key : null;
}

/** Whether the receiver is the merchant: the same tax id, or another establishment of the same CNPJ. */
export function isOwn(taxId: string | null, accountTaxId: string | null): boolean {
  if (taxId === null || accountTaxId === null) return false;
  if (taxId === accountTaxId) return true;
  return (
    taxIdKind(taxId) === 'cnpj' && taxIdKind(accountTaxId) === 'cnpj' && taxId.slice(0, 8) === accountTaxId.slice(0, 8)
  );
}

export function shownTarget(target: PayoutTarget): ShownTarget {
  const taxId = target.taxId === null ? null : maskTaxId(target.taxId);
  switch (target.type) {
    case 'pix_key': {
      const kind = normalizePixKey(target.key)?.kind ?? 'random';
      return { type: 'pix_key', key: maskedKey(kind, target.key), key_type: kind, tax_id: taxId };
    }
    case 'br_code': {
      const code = parseBrCode(target.brCode);
      const key = code.kind === 'static' ? normalizePixKey(code.key) : null;
      return { type: 'br_code', key: key && maskedKey(key.kind, key.key), tax_id: taxId };
    }
    case 'bank_account': {
      const { ispb, branch, number, accountType } = target;
      return {
        type: 'bank_account',
        ispb,
        branch,
        number: `***${lastThirdOf(number)}`,
        account_type: accountType,
        tax_id: maskTaxId(target.taxId),
      };
    }
  }
}

function maskedKey(kind: string, key: string): string {
  switch (kind) {
    case 'email': {
      const [local = '', host = ''] = key.split('@');
      return `${local.length < 3 ? '' : local.slice(0, 1)}***@${host}`;
    }
    case 'phone':
      return `${key.slice(0, 3)}***${lastThirdOf(key.slice(3))}`;
    case 'random':
      return `********-****-****-****-********${key.slice(-4)}`;
    default:
      return maskTaxId(key);
  }
}

/** The end of a text that a mask may show: at most a third of it, and at most 3 characters. */
function lastThirdOf(text: string): string {
  return text.slice(text.length - Math.min(3, Math.floor(text.length / 3)));
}

/**
 * Text by which equal receivers are found, however they are written: the parts that decide where the money goes. A code
 * with a key goes where the key goes, whatever amount it has.
 */
export function identityOf(target: PayoutTarget): string {
  switch (target.type) {
    case 'pix_key':
      return JSON.stringify([target.type, target.key]);
    case 'br_code': {
      const key = keyOfCode(target.brCode);
      return JSON.stringify(key === null ? [target.type, target.brCode] : ['pix_key', key]);
    }
    case 'bank_account': {
      const [branch, number] = [target.branch.padStart(4, '0'), target.number.replace(/^0+(?=\d)/, '')];
      return JSON.stringify([target.type, target.ispb, branch, number, target.accountType]);
    }
  }
}

/** @returns the key of a static code, as the key directory writes it; null for a dynamic code */
function keyOfCode(brCode: string): string | null {
  const code = parseBrCode(brCode);
  return code.kind === 'static' ? (normalizePixKey(code.key)?.key ?? null) : null;
}

/** The whole receiver, in the names of requests: for the person whose data it is. */
export function exportedTarget(target: PayoutTarget): Readonly<Record<string, string | null>> {
  switch (target.type) {
    case 'pix_key':
      return { type: target.type, key: target.key, tax_id: target.taxId };
    case 'br_code':
      return { type: target.type, br_code: target.brCode, tax_id: target.taxId };
    case 'bank_account': {
      const { type, ispb, branch, number, accountType, name, taxId } = target;
      return { type, ispb, branch, number, account_type: accountType, name, tax_id: taxId };
    }
  }
}

/** Pix keys that an e-mail or a phone may be. @param phone digits only, with or without Brazil's prefix */
export function keysOf(email: string | null, phone: string | null): string[] {
  const written = [email, ...(phone === null ? [] : [`+${phone}`, `+55${phone}`])];
  return written.flatMap((key) => (key === null ? null : normalizePixKey(key)?.key) ?? []);
}
