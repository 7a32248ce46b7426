import { readFileSync } from 'node:fs';
import { Ajv, type ValidateFunction } from 'ajv';
import { parse } from 'yaml';
import { isHere, pathOf } from './needs.js';

type Json = Record<string, unknown>;
type Method = 'get' | 'put' | 'post' | 'patch' | 'delete';

/** BACEN's own OpenAPI document of API Pix. Each check returns texts of faults: none when the input is valid. */
export interface PixApiDocument {
  readonly path: string;
  /** @param path of the request, without the query string */
  validateRequest(method: string, path: string, body: unknown, query?: Readonly<Record<string, string>>): string[];
  validateResponse(method: string, path: string, status: number, body: unknown): string[];
  /** A callback's body. */
  validateCallback(body: unknown): string[];
}

/** The document, or undefined where it is not here: it is BACEN's and no part of the project. */
export function pixApiDocument(): PixApiDocument | undefined {
  return isHere('pixApiDocument') ? load(pathOf('pixApiDocument')) : undefined;
}

function load(path: string): PixApiDocument {
  const document = parse(readFileSync(path, 'utf8')) as Json;
  // An erratum: a list of Pix must have `cobs`, which is none of its properties and not in the document's own example.
  const list = at(document, '#/components/schemas/PixConsultados');
  list['required'] = (list['required'] as string[]).filter((name) => name !== 'cobs');
  const check = validator(document);

  const operationOf = (method: string, asked: string): { operation: Json; params: Json } | null => {
    for (const [template, item] of Object.entries(document['paths'] as Record<string, Json>)) {
      const names = [...template.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
      const pattern = new RegExp(`^${template.replace(/\{\w+\}/g, '([^/]+)')}$`);
      const match = pattern.exec(asked);
      const operation = item[method.toLowerCase() as Method] as Json | undefined;
      // `/{pixUrlAccessToken}` is not of the API but of the payers' apps, and would match anything.
      if (!match || !operation || template === '/{pixUrlAccessToken}') continue;
      const params = Object.fromEntries(names.map((name, index) => [name, decodeURIComponent(match[index + 1] ?? '')]));
      return { operation: { ...operation, parameters: both(item, operation) }, params };
    }
    return null;
  };
  const parameters = (operation: Json): Json[] =>
    (operation['parameters'] as Json[]).map((each) => deref(document, each));

  return {
    path,
    validateRequest(method, asked, body, query = {}) {
      const found = operationOf(method, asked);
      if (!found) return [`${method} ${asked} is not in the document`];
      const { operation, params } = found;
      const declared = parameters(operation);
      const named = (where: string): Json[] => declared.filter((each) => each['in'] === where);
      const errors = named('path').flatMap((each) =>
        whole(each['schema'] as Json, params[String(each['name'])], document)
          ? []
          : [`path ${String(each['name'])} is malformed`],
      );
      for (const name of Object.keys(query)) {
        if (!named('query').some((each) => each['name'] === name)) errors.push(`query ${name} is not in the document`);
      }
      for (const each of named('query')) {
        const value = query[String(each['name'])];
        if (value === undefined && each['required'] === true) errors.push(`query ${String(each['name'])} is missing`);
        if (value !== undefined) errors.push(...check(each['schema'] as Json, value, { coerce: true }));
      }
      const requestBody = operation['requestBody'] as Json | undefined;
      if (!requestBody) return body === undefined || body === null ? errors : [...errors, 'a body where there is none'];
      return [...errors, ...check(contentOf(deref(document, requestBody)), body)];
    },
    validateResponse(method, asked, status, body) {
      const found = operationOf(method, asked);
      if (!found) return [`${method} ${asked} is not in the document`];
      const response = (found.operation['responses'] as Record<string, Json>)[String(status)];
      if (!response) return [`${method} ${asked} never answers ${status}`];
      const schema = contentOf(deref(document, response));
      return Object.keys(schema).length === 0 ? [] : check(schema, body);
    },
    validateCallback(body) {
      return check(contentOf(at(document, '#/components/requestBodies/WebhookPixBody')), body);
    },
  };
}

function both(item: Json, operation: Json): Json[] {
  return [
    ...((item['parameters'] as Json[] | undefined) ?? []),
    ...((operation['parameters'] as Json[] | undefined) ?? []),
  ];
}

function contentOf({ content }: Json): Json {
  const [media] = Object.values((content ?? {}) as Record<string, Json>);
  return (media?.['schema'] as Json | undefined) ?? {};
}

function deref(document: Json, value: Json): Json {
  return typeof value['$ref'] === 'string' ? at(document, value['$ref']) : value;
}

function at(document: Json, pointer: string): Json {
  return pointer
    .slice(2)
    .split('/')
    .reduce<Json>((value, name) => value[name] as Json, document);
}

/** Patterns of the document are not anchored; of a path the whole is meant. */
function whole(schema: Json, value: unknown, document: Json): boolean {
  const { pattern, maxLength } = deref(document, schema) as { pattern?: string; maxLength?: number };
  const text = String(value);
  return (pattern === undefined || new RegExp(`^(?:${pattern})$`).test(text)) && text.length <= (maxLength ?? 1_000);
}

function validator(document: Json): (schema: Json, value: unknown, options?: { coerce: boolean }) => string[] {
  const dateTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/;
  const formats = {
    'date-time': (text: string): boolean => dateTime.test(text) && !Number.isNaN(Date.parse(text)),
    date: /^\d{4}-\d{2}-\d{2}$/,
    // The document calls a location without a scheme a URI, in its own examples.
    uri: /^[^\s<>"{}|\\^`]+$/,
    int32: {
      type: 'number' as const,
      validate: (value: number) => Number.isInteger(value) && Math.abs(value) < 2 ** 31,
    },
    int64: { type: 'number' as const, validate: Number.isSafeInteger },
  };
  const plain = new Ajv({ strict: false, allErrors: true, formats });
  const coercing = new Ajv({ strict: false, allErrors: true, formats, coerceTypes: true });
  const compiled = new Map<string, ValidateFunction>();
  return (schema, value, { coerce } = { coerce: false }) => {
    const key = `${coerce} ${JSON.stringify(schema)}`;
    let validate = compiled.get(key);
    if (!validate) {
      const root = { type: 'object', properties: { value: schema }, components: document['components'] };
      validate = (coerce ? coercing : plain).compile(root);
      compiled.set(key, validate);
    }
    if (validate({ value })) return [];
    return (validate.errors ?? []).map(
      ({ instancePath, message }) => `${instancePath.replace('/value', '') || '/'} ${message ?? ''}`,
    );
  };
}
