/**
 * CPF and CNPJ. Sources: Receita Federal, check digits by modulo 11; alphanumeric CNPJ by Instrução Normativa RFB
 * 2.229/2024, in force since July 2026. An alphanumeric CNPJ has twelve characters 0-9 A-Z and two digits; each
 * character is worth its ASCII code less 48.
 */

export type TaxIdKind = 'cpf' | 'cnpj';

const CPF = /^[0-9]{11}$/;
const CNPJ = /^[0-9A-Z]{12}[0-9]{2}$/;

/**
 * Returns the bare upper-case form of a CPF or CNPJ with right check digits, or null. Only the usual separators (`.`,
 * `-`, `/`) and blanks are dropped: any other character means the text is something else.
 */
export function normalizeTaxId(input: string): string | null {
  // Checked before upper-casing, which turns ſ into S and ß into SS: a text nobody typed would become a valid CNPJ.
  if (!/^[0-9A-Za-z.\-/\s]*$/.test(input)) return null;
  const bare = input.replace(/[.\-/\s]/g, '').toUpperCase();
  if (CPF.test(bare)) return isCpf(bare) ? bare : null;
  if (CNPJ.test(bare)) return isCnpj(bare) ? bare : null;
  return null;
}

/**
 * Whether a normalized tax id is a CPF or a CNPJ. Throws a TypeError for a text that `normalizeTaxId` cannot have
 * returned.
 */
export function taxIdKind(bare: string): TaxIdKind {
  if (CPF.test(bare)) return 'cpf';
  if (CNPJ.test(bare)) return 'cnpj';
  throw new TypeError('taxIdKind takes a tax id that normalizeTaxId has returned');
}

/**
 * Masks a tax id for people: `***.456.789-**`, as Pix receipts mask a CPF. A CNPJ keeps its first two characters and
 * its branch. Any other text becomes `***`, so that it never appears in the clear.
 */
export function maskTaxId(bare: string): string {
  if (CPF.test(bare)) return `***.${bare.slice(3, 6)}.${bare.slice(6, 9)}-**`;
  if (CNPJ.test(bare)) return `${bare.slice(0, 2)}.***.***/${bare.slice(8, 12)}-**`;
  return '***';
}

/** Writes a bare tax id with its marks, `123.456.789-09` or `12.345.678/0001-95`; any other text is returned as it is. */
export function formatTaxId(bare: string): string {
  if (CPF.test(bare)) return `${bare.slice(0, 3)}.${bare.slice(3, 6)}.${bare.slice(6, 9)}-${bare.slice(9)}`;
  if (!CNPJ.test(bare)) return bare;
  return `${bare.slice(0, 2)}.${bare.slice(2, 5)}.${bare.slice(5, 8)}/${bare.slice(8, 12)}-${bare.slice(12)}`;
}

function isCpf(bare: string): boolean {
  // Repeated digits (000… to 999…) satisfy the arithmetic but were never issued.
  if (/^([0-9])\1{10}$/.test(bare)) return false;
  return endsInCheckDigits(bare, 11);
}

function isCnpj(bare: string): boolean {
  // Among repeated digits only zeros satisfy the arithmetic.
  if (bare === '0'.repeat(14)) return false;
  return endsInCheckDigits(bare, 9);
}

function endsInCheckDigits(bare: string, maxWeight: number): boolean {
  const base = bare.slice(0, -2);
  const first = checkDigit(base, maxWeight);
  return bare === `${base}${first}${checkDigit(`${base}${first}`, maxWeight)}`;
}

/** Weights run 2, 3, … from the right. A CNPJ starts again at 2 after 9; a CPF is too short for that. */
function checkDigit(text: string, maxWeight: number): number {
  let sum = 0;
  let weight = 2;
  for (let index = text.length - 1; index >= 0; index -= 1) {
    sum += (text.charCodeAt(index) - 48) * weight;
    weight = weight === maxWeight ? 2 : weight + 1;
  }
  const rest = sum % 11;
  return rest < 2 ? 0 : 11 - rest;
}
