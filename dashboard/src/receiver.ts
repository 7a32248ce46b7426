import { parseBrCode } from '../../src/brazil/br-code.parser.js';
import { normalizePixKey, type PixKey, type PixKeyKind } from '../../src/brazil/pix-key.js';
import { maskTaxId, normalizeTaxId } from '../../src/brazil/tax-id.js';
import type { ShownDestinationBody } from '../../src/payouts/dto/payout-destination.body.js';
import type { PayoutTargetDto } from '../../src/payouts/dto/payout.dto.js';

/** Fields of the form for a receiver, as typed. */
export const RECEIVER = {
  type: 'pix_key',
  ...{ key: '', tax_id: '', br_code: '' },
  ...{ bank: '', ispb: '', branch: '', number: '', account_type: 'checking', name: '' },
};
export type TypedReceiver = Readonly<Record<keyof typeof RECEIVER, string>>;

/** Value of the list of banks for a bank that is not in it. */
export const OTHER_BANK = 'other';

/** Digits that may be a phone without its country, or a mistyped CPF. */
const BARE_PHONE = /^[1-9]{2}9?\d{8}$/;
const SEPARATED_PHONE = /^(?:\([1-9]{2}\) ?|[1-9]{2}[ -])9?\d{4}[ -]?\d{4}$/;

/** Reads a Pix key as people type it, also a phone without its country. @returns null: not a key, or not yet */
export function detectKey(typed: string): PixKey | null {
  const text = typed.trim();
  return SEPARATED_PHONE.test(text) ? normalizePixKey(`+55${text}`) : normalizePixKey(text);
}

/** Whether a phone of these digits would need its country: they are read as a CPF, or as nothing. */
export function mayBePhone(typed: string): boolean {
  return BARE_PHONE.test(typed.trim()) && normalizePixKey(`+55${typed.trim()}`) !== null;
}

export function isDocument(kind: PixKeyKind | undefined): boolean {
  return kind === 'cpf' || kind === 'cnpj';
}

export interface ReadCode {
  /** Cents; null: the payer decides. */
  readonly amount: number | null;
  readonly name: string;
}

/** Reads a Pix code. @returns null: not a code that can be paid once, or not yet */
export function readCode(typed: string): ReadCode | null {
  try {
    const code = parseBrCode(typed.trim());
    return code.kind === 'recurrence' ? null : { amount: code.amount, name: code.merchantName };
  } catch {
    return null;
  }
}

/** The receiver as the service takes it; null while a field is missing or wrong. */
export function targetOf(typed: TypedReceiver): PayoutTargetDto | null {
  const taxId = normalizeTaxId(typed.tax_id);
  switch (typed.type) {
    case 'pix_key': {
      const key = detectKey(typed.key);
      if (key === null) return null;
      if (isDocument(key.kind)) return { type: 'pix_key', key: key.key };
      return taxId === null ? null : { type: 'pix_key', key: key.key, tax_id: taxId };
    }
    case 'br_code':
      return readCode(typed.br_code) && { type: 'br_code', br_code: typed.br_code.trim() };
    default: {
      const ispb = typed.bank === OTHER_BANK ? typed.ispb.trim() : typed.bank;
      const branch = typed.branch.trim();
      const number = typed.number.trim();
      const name = typed.name.trim();
      if (!/^\d{8}$/.test(ispb) || !/^\d{1,4}$/.test(branch) || !/^[\d.\s-]{1,19}[0-9Xx]$/.test(number)) return null;
      if (name === '' || taxId === null) return null;
      const type = typed.account_type as NonNullable<PayoutTargetDto['account_type']>;
      return { type: 'bank_account', ispb, branch, number, account_type: type, name, tax_id: taxId };
    }
  }
}

/** A new receiver in the form of saved ones, but with its key in full: the person compares it with what was meant. */
export function shownReceiver(target: PayoutTargetDto): ShownDestinationBody {
  const key = target.key === undefined ? null : normalizePixKey(target.key);
  const taxId = target.tax_id ?? (key && isDocument(key.kind) ? key.key : null);
  const { ispb, branch, number, account_type: accountType } = target;
  return {
    type: target.type,
    ...(key === null ? {} : { key: isDocument(key.kind) ? groupTaxId(key.key) : key.key, key_type: key.kind }),
    ...(ispb === undefined ? {} : { ispb }),
    ...(branch === undefined ? {} : { branch }),
    ...(number === undefined ? {} : { number }),
    ...(accountType === undefined ? {} : { account_type: accountType }),
    tax_id: taxId === null ? null : maskTaxId(taxId),
  };
}

/** Writes a CPF or CNPJ with its usual separators, in which people compare it. */
function groupTaxId(bare: string): string {
  return bare.length === 11
    ? bare.replace(/^(.{3})(.{3})(.{3})(..)$/, '$1.$2.$3-$4')
    : bare.replace(/^(..)(.{3})(.{3})(.{4})(..)$/, '$1.$2.$3/$4-$5');
}
