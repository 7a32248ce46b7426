import { getMetadataStorage, IsObject, ValidateNested } from 'class-validator';
import type { Found } from './json-scan.js';

const NESTED = Symbol('nested DTO');
const READ = Symbol('how a field is read');

type Constructor = new () => object;

export const UNKNOWN_FIELD = { code: 'unknown_field', message: 'is not a known field' };

/** A field that is itself a DTO: an object, validated by the rules of `type`. */
export function Nested(type: () => Constructor): PropertyDecorator {
  return (target, property) => {
    Reflect.defineMetadata(NESTED, type, target, property);
    IsObject({ message: 'must be an object' })(target, property);
    // `IsObject` and `ValidateNested` share one message, so the answer lists it once.
    ValidateNested({ message: 'must be an object' })(target, property);
  };
}

/**
 * Changes the sent value of a field before its rules see it.
 * @param read returns undefined for values that count as left out
 */
export function Reads(read: (sent: unknown) => unknown): PropertyDecorator {
  return (target, property) => Reflect.defineMetadata(READ, read, target, property);
}

/**
 * Makes a DTO out of parsed JSON. class-transformer must not be used for it (docs/design/requests.md), and neither must
 * class-validator's white list. The white list looks names up in a plain object and so takes `hasOwnProperty` for a
 * known field.
 * @param unknown collects the fields that the DTO does not have
 * @returns the instance with the known fields
 */
export function instantiate<T extends object>(type: new () => T, value: object, unknown: Found, path = ''): T {
  const dto = new type();
  const known = fieldsOf(type);
  for (const [key, sent] of Object.entries(value) as [string, unknown][]) {
    if (!known.has(key)) {
      unknown.add(() => `${path}${key}`, UNKNOWN_FIELD);
      continue;
    }
    const read = Reflect.getMetadata(READ, type.prototype as object, key) as ((sent: unknown) => unknown) | undefined;
    const inner = read ? read(sent) : sent;
    if (inner === undefined) continue;
    const nested = Reflect.getMetadata(NESTED, type.prototype as object, key) as (() => Constructor) | undefined;
    const isObject = inner !== null && typeof inner === 'object' && !Array.isArray(inner);
    // Any value but an object becomes null: class-validator would validate each of the ten thousand items of a list.
    const made: unknown = !nested ? inner : isObject ? instantiate(nested(), inner, unknown, `${path}${key}.`) : null;
    Object.defineProperty(dto, key, { value: made, enumerable: true, configurable: true, writable: true });
  }
  return dto;
}

const fieldsByType = new Map<Constructor, ReadonlySet<string>>();

/**
 * Returns the names that have a rule, in their order, inherited ones included. A field without a rule must not be sent.
 */
export function fieldsOf(type: Constructor): ReadonlySet<string> {
  let fields = fieldsByType.get(type);
  if (!fields) {
    const rules = getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
    fieldsByType.set(type, (fields = new Set(rules.map((rule) => rule.propertyName))));
  }
  return fields;
}
