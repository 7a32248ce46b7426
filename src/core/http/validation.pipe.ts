import { type ArgumentMetadata, Injectable, type PipeTransform } from '@nestjs/common';
import { validate, type ValidationError } from 'class-validator';
import { invalidRequest, type Violation } from '../errors/index.js';
import { scanJson } from './json-scan.js';
import { instantiate } from './nested.decorator.js';

/** Named in one answer: a body can hold tens of thousands, and an answer many times its size. */
export const MAX_UNKNOWN = 50;

/**
 * Validates bodies and queries against their DTO and lists every violation at once. Unknown fields are violations: a
 * misspelt `expected_payer_tax_id` must never silently drop a payer lock (decisions §2.4).
 */
@Injectable()
export class ValidationPipe implements PipeTransform {
  async transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    const type = metadata.metatype as (new () => object) | undefined;
    if ((metadata.type !== 'body' && metadata.type !== 'query') || !type || type === (Object as unknown)) return value;
    const input = value ?? {};
    const broken = scanJson(input);
    // Values that no rule can be asked about safely.
    if (broken.some((violation) => violation.code !== 'invalid_characters')) throw invalidRequest(broken);
    const { dto, unknown } = instantiate(type, input);
    const errors = await validate(dto, {
      forbidUnknownValues: false,
      validationError: { target: false, value: false },
    });
    const violations = [...flatten(errors, ''), ...unknown.slice(0, MAX_UNKNOWN).map(unknownField), ...broken];
    if (violations.length > 0) throw invalidRequest(violations);
    return dto;
  }
}

export function unknownField(path: string): Violation {
  return { param: path.slice(0, 200), code: 'unknown_field', message: 'is not a known field' };
}

function flatten(errors: readonly ValidationError[], path: string): Violation[] {
  return errors.flatMap((error) => {
    const param = (path === '' ? error.property : `${path}.${error.property}`).slice(0, 200);
    // Rules that say the same (an integer, at least 1, at most 9: one text) are one violation to who reads it.
    const own = Object.entries(error.constraints ?? {})
      .map(([rule, message]) => ({ param, code: codeOf(rule), message }))
      .filter(({ message }, index, all) => all.findIndex((other) => other.message === message) === index);
    // A missing field breaks each of its rules; saying so once is clearer.
    const required = own.find((violation) => violation.code === 'required');
    return [...(required ? [required] : own), ...flatten(error.children ?? [], param)];
  });
}

function codeOf(rule: string): string {
  return rule === 'isDefined' ? 'required' : 'invalid';
}
