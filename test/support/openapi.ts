import type { TestService } from './service.js';

export interface Schema {
  $ref?: string;
  type?: string | string[];
  description?: string;
  examples?: unknown[];
  enum?: unknown[];
  format?: string;
  properties?: Record<string, Schema>;
  additionalProperties?: boolean;
  items?: Schema;
  allOf?: Schema[];
}
export interface ResponseDoc {
  description?: string;
  headers?: Record<string, { description?: string; schema?: Schema }>;
  content?: Record<string, { schema?: Schema; examples?: Record<string, { value: unknown }> }>;
}
export interface Operation {
  operationId: string;
  summary?: string;
  description?: string;
  tags?: string[];
  security?: Record<string, string[]>[];
  parameters?: { name: string; in: string; required?: boolean; description?: string; schema?: Schema }[];
  requestBody?: { required?: boolean; content: Record<string, { schema: Schema }> };
  responses: Record<string, ResponseDoc>;
}
export interface OpenApiDocument extends Record<string, unknown> {
  info: { title: string; version: string; description: string };
  servers: { url: string }[];
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema>; securitySchemes: Record<string, object> };
}

/** Every schema below this one with its path; `$ref`s are not followed. */
export function within(schema: Schema | undefined, path: string): { path: string; schema: Schema }[] {
  if (!schema) return [];
  return [
    { path, schema },
    ...Object.entries(schema.properties ?? {}).flatMap(([name, inner]) => within(inner, `${path}.${name}`)),
    ...within(schema.items, `${path}[]`),
    ...(schema.allOf ?? []).flatMap((inner) => within(inner, path)),
  ];
}

/** With the objects that list their properties closed: an answer with a field that is not documented is wrong. */
export function closed<T>(value: T): T {
  if (Array.isArray(value)) return value.map(closed) as T;
  if (typeof value !== 'object' || value === null) return value;
  const copy = Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, closed(inner as unknown)]));
  const schema = copy as Schema;
  const isObject = [schema.type].flat().includes('object');
  if (isObject && schema.properties && schema.additionalProperties === undefined) {
    schema.additionalProperties = false;
  }
  return copy as T;
}

export interface Documented {
  readonly document: OpenApiDocument;
  readonly operations: readonly { method: string; path: string; operation: Operation }[];
}

/** Replaces references to shared headers, parameters and answers by what they name; schemas stay references. */
function resolved<T>(value: T, document: OpenApiDocument): T {
  if (Array.isArray(value)) return value.map((inner) => resolved(inner as unknown, document)) as T;
  if (typeof value !== 'object' || value === null) return value;
  const [, section = '', name = ''] =
    /^#\/components\/(headers|parameters|responses)\/(.+)$/.exec(String((value as { $ref?: unknown }).$ref)) ?? [];
  const components = document.components as unknown as Record<string, Record<string, T>>;
  const shared = components[section]?.[name];
  if (shared !== undefined) return resolved(shared, document);
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, resolved(inner as unknown, document)]),
  ) as T;
}

/** The document of all operations as the service gives it to anybody who asks. */
export async function readDocument(service: TestService): Promise<Documented> {
  const { body: document } = await service.call<OpenApiDocument>('GET', '/openapi/all.json');
  const paths = resolved(document.paths, document);
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
  return { document: { ...document, paths }, operations };
}
