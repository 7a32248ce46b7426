/** Keys of DICT, the directory of Pix. Source: BACEN, Manual Operacional do DICT, "Chaves Pix", and API DICT, type Key. */
import { normalizeTaxId, taxIdKind } from './tax-id.js';

export type PixKeyKind = 'cpf' | 'cnpj' | 'email' | 'phone' | 'random';

export interface PixKey {
  readonly kind: PixKeyKind;
  /** The key as DICT writes it. */
  readonly key: string;
}

/** DICT's own pattern, lower case only. */
const EMAIL =
  /^[a-z0-9.!#$&'*+/=?^_`{|}~-]+@[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/;
const MAX_EMAIL = 77;
/** Area code without zeros, then 9 digits of a mobile or 8 of a landline. */
const PHONE = /^\+55[1-9]{2}(?:9[0-9]{8}|[2-5][0-9]{7})$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/**
 * Returns a Pix key as DICT writes it, or null. The kinds cannot be confused: a phone starts with +55, because 11
 * digits alone are a CPF.
 */
export function normalizePixKey(input: string): PixKey | null {
  const text = input.trim();
  if (text.includes('@')) {
    // Checked before lower-casing, which turns the Kelvin sign into k: a text nobody typed would become somebody's
    // address.
    if (!/^[\x21-\x7e]*$/.test(text)) return null;
    const key = text.toLowerCase();
    return key.length <= MAX_EMAIL && EMAIL.test(key) ? { kind: 'email', key } : null;
  }
  if (text.startsWith('+')) {
    const key = `+${text.slice(1).replace(/[ ().-]/g, '')}`;
    return PHONE.test(key) ? { kind: 'phone', key } : null;
  }
  if (/^[0-9A-Fa-f-]{36}$/.test(text)) {
    const key = text.toLowerCase();
    return UUID.test(key) ? { kind: 'random', key } : null;
  }
  const taxId = normalizeTaxId(text);
  return taxId === null ? null : { kind: taxIdKind(taxId), key: taxId };
}
