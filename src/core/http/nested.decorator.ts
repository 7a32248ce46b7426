import { getMetadataStorage, IsObject, ValidateNested } from 'class-validator';

const NESTED = Symbol('nested DTO');

type Constructor = new () => object;

/** A field that is itself a DTO: an object, validated by the rules of `type`. */
export function Nested(type: () => Constructor): PropertyDecorator {
  return (target, property) => {
    Reflect.defineMetadata(NESTED, type, target, property);
    IsObject({ message: 'must be an object' })(target, property);
    ValidateNested()(target, property);
  };
}

/**
 * Makes a DTO out of parsed JSON. class-transformer is not used for it: it reads `value.constructor` of every object
 * on its way, so the body {"metadata": {"constructor": 1}} would be a crash. Nor is class-validator's white list: it
 * looks names up in a plain object and so takes `hasOwnProperty` for a known field.
 * @returns the instance with the known fields, and the paths of the unknown ones
 */
export function instantiate<T extends object>(
  type: new () => T,
  value: object,
  path = '',
): { dto: T; unknown: string[] } {
  const dto = new type();
  const known = fieldsOf(type);
  const unknown: string[] = [];
  for (const [key, inner] of Object.entries(value)) {
    if (!known.has(key)) {
      unknown.push(`${path}${key}`);
      continue;
    }
    const nested = Reflect.getMetadata(NESTED, type.prototype as object, key) as (() => Constructor) | undefined;
    const made =
      nested && inner !== null && typeof inner === 'object' && !Array.isArray(inner)
        ? instantiate(nested(), inner as object, `${path}${key}.`)
        : { dto: inner as unknown, unknown: [] };
    unknown.push(...made.unknown);
    Object.defineProperty(dto, key, { value: made.dto, enumerable: true, configurable: true, writable: true });
  }
  return { dto, unknown };
}

const fieldsByType = new Map<Constructor, ReadonlySet<string>>();

/** Names that have a rule, in their order, inherited ones too: a field without any is not one that may be sent. */
export function fieldsOf(type: Constructor): ReadonlySet<string> {
  let fields = fieldsByType.get(type);
  if (!fields) {
    const rules = getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
    fieldsByType.set(type, (fields = new Set(rules.map((rule) => rule.propertyName))));
  }
  return fields;
}
