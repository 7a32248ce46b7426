import type { OpenAPIObject } from '@nestjs/swagger';

type Json = Readonly<Record<string, unknown>>;

const SCHEMAS = '#/components/schemas/';

/** Names that would hide a global of the languages in which clients are written. */
const RENAMED: Readonly<Record<string, string>> = { ErrorBody: 'ApiError', ErrorInnerBody: 'ApiErrorInner' };

/**
 * Returns the name of a class as clients see it: `ChargeBody` is `Charge`, `CreateChargeDto` is `CreateChargeRequest`.
 */
export function schemaName(className: string): string {
  return RENAMED[className] ?? className.replace(/Body$/, '').replace(/Dto$/, 'Request');
}

/**
 * Turns the OpenAPI 3.0 schemas of @nestjs/swagger into JSON Schema 2020-12, as OpenAPI 3.1 has it, under the names of
 * `schemaName`.
 * @throws Error if two classes would have one name
 */
export function modernSchemas(document: OpenAPIObject): OpenAPIObject {
  const renamed = Object.entries(document.components?.schemas ?? {}).map(
    ([name, schema]) => [schemaName(name), schema] as const,
  );
  const schemas = Object.fromEntries(renamed);
  if (Object.keys(schemas).length < renamed.length) throw new Error('Two schemas have the same name.');
  return modern({ ...document, components: { ...document.components, schemas } }, false) as OpenAPIObject;
}

/** @param isSchema whether the value is a schema, whose `example` and `nullable` are no keywords of JSON Schema */
function modern(value: unknown, isSchema: boolean): unknown {
  if (Array.isArray(value)) return value.map((inner) => modern(inner, isSchema));
  if (typeof value !== 'object' || value === null) return value;
  const { $ref } = value as { $ref?: unknown };
  if (typeof $ref === 'string' && $ref.startsWith(SCHEMAS)) {
    return { ...value, $ref: `${SCHEMAS}${schemaName($ref.slice(SCHEMAS.length))}` };
  }
  return isSchema ? modernSchema(value as Json) : mapValues(value as Json, (inner, key) => modernPart(inner, key));
}

/** A value outside of schemas: examples stay as they are, and `schema` and `schemas` lead to schemas. */
function modernPart(value: unknown, key: string): unknown {
  if (key === 'example' || key === 'examples') return value;
  if (key === 'schemas') return mapValues(value as Json, (schema) => modern(schema, true));
  return modern(value, key === 'schema');
}

function modernSchema({ nullable, example, ...schema }: Json): Json {
  const inner = mapValues(schema, (value, key) => {
    if (key === 'enum' || key === 'default') return value;
    if (key === 'properties')
      return mapValues(value as Json, (property) => modern(withDefaultInWords(property as Json), true));
    return modern(value, true);
  });
  const shown = example === undefined ? inner : { ...inner, examples: [example] };
  return nullable === true ? orNull(shown) : shown;
}

/** Tells a field's default in its description: generators take a field with `default` for one that is always sent. */
function withDefaultInWords({ default: value, ...property }: Json): Json {
  if (value === undefined) return property;
  const description = typeof property['description'] === 'string' ? `${property['description']} ` : '';
  return { ...property, description: `${description}Default: \`${JSON.stringify(value)}\`.` };
}

/** Adds null to the values that a schema accepts. */
function orNull({ type, enum: values, description, examples, ...rest }: Json): Json {
  const about = {
    ...(description === undefined ? {} : { description }),
    ...(examples === undefined ? {} : { examples }),
  };
  const isPlain = typeof type === 'string' && rest['allOf'] === undefined && rest['anyOf'] === undefined;
  if (!isPlain) return { anyOf: [rest, { type: 'null' }], ...about };
  const choice = Array.isArray(values) ? { enum: [...(values as unknown[]), null] } : {};
  return { type: [type, 'null'], ...rest, ...choice, ...about };
}

function mapValues(value: Json, change: (inner: unknown, key: string) => unknown): Json {
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, change(inner, key)]));
}
