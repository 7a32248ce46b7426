import { buildMessage, ValidateBy } from 'class-validator';
import { normalizeTaxId } from '../../brazil/index.js';

/** A CPF or CNPJ with valid check digits (docs/contract.md#tax-ids). */
export function IsTaxId(): PropertyDecorator {
  return ValidateBy({
    name: 'isTaxId',
    validator: {
      validate: (value: unknown) => typeof value === 'string' && value.length <= 40 && normalizeTaxId(value) !== null,
      defaultMessage: buildMessage(() => 'must be a CPF or CNPJ with valid check digits'),
    },
  });
}
