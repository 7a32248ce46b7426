import { applyDecorators } from '@nestjs/common';
import { plainToInstance, Transform } from 'class-transformer';
import { OptionalField, rule } from './validators.js';

/** Digits alone: no sign, exponent, leading zero or other base; few enough for a number to keep. */
const INTEGER = /^(?:0|[1-9]\d{0,14})$/;

/**
 * Reads a field of a query from its text. Bodies are not read this way: `docs/design/requests.md` says why.
 * @param read returns null for any other text, which stays a text: the field's rule then refuses it
 */
export function FromText(read: (text: string) => unknown): PropertyDecorator {
  return Transform(({ obj, key }: { obj: Record<string, unknown>; key: string }) => {
    // The text as it was sent: a class that overrides a field of its base has the last word.
    const sent = obj[key];
    return typeof sent === 'string' ? (read(sent) ?? sent) : sent;
  });
}

/**
 * Reads the texts of a query in place, by the `FromText` of each field. Lists and objects never reach class-transformer:
 * `metadata[constructor]=1` would make it throw.
 */
export function readTexts<T extends object>(type: new () => T, query: T): void {
  const texts = Object.entries(query).filter(([, value]) => typeof value === 'string');
  const read = plainToInstance(type, Object.fromEntries(texts));
  for (const [name] of texts) Reflect.set(query, name, Reflect.get(read, name));
}

/** An integer of a query. */
export function IsQueryInteger(
  min: number,
  max: number,
  message = `must be an integer from ${min} to ${max}`,
): PropertyDecorator {
  const isKept = (value: unknown): boolean => Number.isInteger(value) && Number(value) >= min && Number(value) <= max;
  return applyDecorators(
    FromText((text) => (INTEGER.test(text) ? Number(text) : null)),
    rule('isQueryInteger', isKept, message),
  );
}

/** A field of a query that is an integer. @param standard counts if it is left out */
export function QueryInteger(
  description: string,
  minimum: number,
  maximum: number,
  standard: number,
): PropertyDecorator {
  return applyDecorators(
    OptionalField({ description, minimum, maximum, default: standard, type: 'integer' }),
    IsQueryInteger(minimum, maximum),
  );
}
