import type { CustomerBody, CustomerTotalsBody } from '../../src/customers/dto/customer.body.js';
import { type Language, money } from './format.js';

/** A CPF or CNPJ with its punctuation; another tax id as it is. */
export function shownTaxId(taxId: string): string {
  if (/^\d{11}$/.test(taxId)) return taxId.replace(/^(.{3})(.{3})(.{3})(.{2})$/, '$1.$2.$3-$4');
  return /^[0-9A-Z]{12}\d{2}$/.test(taxId)
    ? taxId.replace(/^(.{2})(.{3})(.{3})(.{4})(.{2})$/, '$1.$2.$3/$4-$5')
    : taxId;
}

export function customerName({ name, email, tax_id: taxId }: CustomerBody): string {
  return name ?? email ?? (taxId === null ? '–' : shownTaxId(taxId));
}

/** A sum of each currency; a number with `+` where there may be more. */
export function totalOf(
  { totals, is_complete: isComplete }: CustomerBody,
  name: Exclude<keyof CustomerTotalsBody, 'currency'>,
  language: Language,
): string {
  const more = isComplete ? '' : '+';
  if (name === 'sales') return `${String(totals.reduce((sum, one) => sum + one.sales, 0))}${more}`;
  const shown = totals.filter((one) => one[name] > 0);
  return shown.length === 0 ? '–' : shown.map((one) => money(one[name], one.currency, language) + more).join(' · ');
}
