import { getSchemaPath, type OpenAPIObject } from '@nestjs/swagger';
import type { ErrorType } from '../../core/errors/index.js';
import {
  COMMON_HEADERS,
  type DocumentedError,
  ErrorBody,
  RATE_LIMIT_HEADERS,
  REQUEST_ID,
  RETRY_AFTER,
  SHARED_ERRORS,
  sharedError,
} from '../../core/http/index.js';

type Components = NonNullable<OpenAPIObject['components']>;
export type Answer = NonNullable<Components['responses']>[string];

/** Returns references to shared headers, by their names. */
export function sharedHeaders(headers: object): Record<string, { $ref: string }> {
  return Object.fromEntries(Object.keys(headers).map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** The parts that many operations share: headers, the parameter of the request id, answers with one common error. */
export function sharedComponents(): Pick<Components, 'headers' | 'parameters' | 'responses'> {
  return {
    headers: { ...COMMON_HEADERS, ...RATE_LIMIT_HEADERS, ...RETRY_AFTER },
    parameters: { 'X-Request-Id': REQUEST_ID },
    responses: Object.fromEntries(SHARED_ERRORS.map((code) => [componentName(code), answerOf([sharedError(code)])])),
  };
}

/** Returns the error answers of an operation by their status. */
export function errorAnswers(errors: readonly DocumentedError[]): Record<string, Answer> {
  const byStatus = new Map<number, Map<string, DocumentedError>>();
  for (const error of errors) {
    const codes = byStatus.get(error.status) ?? new Map<string, DocumentedError>();
    byStatus.set(error.status, codes.set(error.code, error));
  }
  return Object.fromEntries([...byStatus].map(([status, codes]) => [status, answer([...codes.values()])]));
}

function answer(errors: readonly DocumentedError[]): Answer {
  const [only, ...others] = errors;
  const isShared =
    only !== undefined &&
    others.length === 0 &&
    SHARED_ERRORS.some((code) => sharedError(code).meaning === only.meaning);
  return isShared ? { $ref: `#/components/responses/${componentName(only.code)}` } : answerOf(errors);
}

/** A schema that restricts some fields of an object and leaves the others open. */
const OPEN = { type: 'object' as const, additionalProperties: true };

function answerOf(errors: readonly DocumentedError[]): Answer {
  const status = errors[0]?.status ?? 0;
  const codes = errors.map(({ code }) => code);
  const schema = {
    allOf: [
      { $ref: getSchemaPath(ErrorBody) },
      { ...OPEN, properties: { error: { ...OPEN, properties: { code: { enum: codes } } } } },
    ],
  };
  const examples = Object.fromEntries(errors.map((error) => [error.code, { value: exampleOf(error) }]));
  const mayWait = status === 409 || status === 429 || status === 503;
  return {
    description: errors.map(({ code, meaning }) => `\`${code}\`: ${meaning}`).join(' '),
    headers: sharedHeaders({ ...COMMON_HEADERS, ...(mayWait ? RETRY_AFTER : {}) }),
    content: { 'application/json': { schema, examples } },
  };
}

function exampleOf(error: DocumentedError): object {
  return {
    error: { type: typeOf(error), code: error.code, message: error.meaning },
    request_id: COMMON_HEADERS['X-Request-Id'].schema.example,
  };
}

const TYPES: Readonly<Record<number, ErrorType>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  409: 'conflict_error',
  413: 'invalid_request_error',
  415: 'invalid_request_error',
  422: 'business_error',
  429: 'rate_limit_error',
};

function typeOf({ code, status }: DocumentedError): ErrorType {
  if (code.startsWith('fraud.')) return 'fraud_error';
  if (code === 'provider_unavailable') return 'provider_error';
  if (status === 409 && code.startsWith('idempotency_')) return 'idempotency_error';
  return TYPES[status] ?? 'api_error';
}

/** `rate_limited` → `RateLimited`. */
function componentName(code: string): string {
  return code.replaceAll(/(?:^|[._])([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
