import type { TestService } from './service.js';

export interface Schema {
  $ref?: string;
  type?: string;
  description?: string;
  example?: unknown;
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
  content?: Record<string, { schema?: Schema }>;
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
  info: { version: string; description: string };
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
  if (schema.type === 'object' && schema.properties && schema.additionalProperties === undefined) {
    schema.additionalProperties = false;
  }
  return copy as T;
}

export interface Documented {
  readonly document: OpenApiDocument;
  readonly operations: readonly { method: string; path: string; operation: Operation }[];
}

/** The document as the service gives it to anybody who asks. */
export async function readDocument(service: TestService): Promise<Documented> {
  const { body: document } = await service.call<OpenApiDocument>('GET', '/openapi.json');
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
  return { document, operations };
}
