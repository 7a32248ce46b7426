import { rule } from '../../core/http/index.js';
import { normalizeTaxId } from '../../brazil/index.js';

/** A CPF or CNPJ with valid check digits (docs/contract.md#tax-ids). */
export function IsTaxId(): PropertyDecorator {
  return rule(
    'isTaxId',
    (value) => typeof value === 'string' && value.length <= 40 && normalizeTaxId(value) !== null,
    'must be a CPF or CNPJ with valid check digits',
  );
}
