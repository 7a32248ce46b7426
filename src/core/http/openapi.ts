import { applyDecorators } from '@nestjs/common';
import { ApiExtension, ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ERROR_TYPES } from '../errors/index.js';
import { EnumOf, Text } from './properties.js';

/** Headers that every answer carries. */
export const COMMON_HEADERS = {
  'X-Request-Id': {
    description:
      'Names this request in our logs; quote it when you ask for help. Yours is kept when it matches `^[A-Za-z0-9_-]{8,128}$`.',
    schema: { type: 'string' as const, example: 'req_7f3c2a1b9d4e4f5a8b6c7d8e9f0a1b2c' },
  },
  'X-Api-Version': {
    description: 'Version of the contract.',
    schema: { type: 'string' as const, example: '2026-11-01' },
  },
};

/** Headers of answers that were counted against the caller's rate limit. */
export const RATE_LIMIT_HEADERS = {
  'RateLimit-Limit': {
    description: 'Requests that may be made at once.',
    schema: { type: 'integer' as const, example: 400 },
  },
  'RateLimit-Remaining': { description: 'Requests left.', schema: { type: 'integer' as const, example: 399 } },
  'RateLimit-Reset': { description: 'Seconds until all are back.', schema: { type: 'integer' as const, example: 1 } },
};

export const RETRY_AFTER = {
  'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer' as const, example: 1 } },
};

/** The request id that callers may send. */
export const REQUEST_ID = {
  name: 'X-Request-Id',
  in: 'header' as const,
  required: false,
  description: 'Your own id for this request, `^[A-Za-z0-9_-]{8,128}$`; echoed.',
  schema: { type: 'string' as const },
};

export class ErrorDetailBody {
  @Text('Path of the field.', 'customer.document') param!: string;
  @Text('`required`, `invalid`, `unknown_field`, `duplicate_key`, `inexact_number`, `invalid_characters` …', 'invalid')
  code!: string;
  @Text('What the field must be.', 'must be a valid CPF or CNPJ') message!: string;
}

export class ErrorInnerBody {
  @EnumOf('Class of the error.', ERROR_TYPES) type!: string;
  @Text('Stable code to program against.', 'invalid_request') code!: string;
  @Text('For people; may change.', 'amount: must be an integer from 1 to 999999999999, in cents: R$ 19,90 is 1990')
  message!: string;
  @ApiPropertyOptional({ description: 'The first field concerned.', example: 'amount' }) param?: string;
  @ApiPropertyOptional({
    description: 'Every violation of the request, at most 50; `message` says how many there are.',
    type: [ErrorDetailBody],
  })
  details?: ErrorDetailBody[];
}

export class ErrorBody {
  @ApiProperty({ description: 'What went wrong.', type: ErrorInnerBody }) error!: ErrorInnerBody;
  @Text('Same as the X-Request-Id header.', 'req_7f3c2a1b9d4e4f5a8b6c7d8e9f0a1b2c') request_id!: string;
}

/** Errors that operations share. An operation declares others by `ApiRefusal`. */
const SHARED = {
  invalid_request: [400, 'A field breaks a rule; `details` lists every violation.'],
  idempotency_key_required: [400, 'The header Idempotency-Key is missing.'],
  unauthorized: [401, 'The API key or the token is missing or invalid.'],
  api_key_expired: [401, 'The API key has ended.'],
  forbidden: [403, 'The role of the caller does not allow it.'],
  ip_not_allowed: [403, 'The address of the caller is not among `allowed_ips` of the API key.'],
  account_suspended: [403, 'The operator of the service has suspended the account.'],
  totp_setup_required: [403, 'In production a second factor has to be set first.'],
  foreign_page: [403, 'A write with a cookie did not come from a page of this service.'],
  'fraud.velocity_exceeded': [403, 'The document was used too often within a minute.'],
  'fraud.amount_limit_exceeded': [403, 'The amount is above the limit of the account.'],
  'fraud.document_blocked': [403, 'The account has blocked the document.'],
  not_found: [404, 'The id is unknown, malformed, or of another account or mode.'],
  idempotency_key_reused: [409, 'Another body was sent under this key.'],
  idempotency_key_in_use: [409, 'The first request under this key is still running; wait as Retry-After says.'],
  payload_too_large: [413, 'The body is over 64 KiB.'],
  unsupported_media_type: [415, 'The body must be application/json.'],
  no_provider_configured: [422, 'The account has no connection to a bank that offers it.'],
  rate_limited: [429, 'Wait as Retry-After says.'],
  internal_error: [500, 'Repeating is safe.'],
  service_unavailable: [503, 'A part of this service is not available; repeat with backoff.'],
  provider_unavailable: [503, 'The bank or PSP gave no usable answer; repeat with backoff.'],
} as const satisfies Record<string, readonly [status: number, meaning: string]>;

export type SharedError = keyof typeof SHARED;

export const SHARED_ERRORS = Object.keys(SHARED) as readonly SharedError[];

export const FRAUD_ERRORS = [
  'fraud.velocity_exceeded',
  'fraud.amount_limit_exceeded',
  'fraud.document_blocked',
] as const satisfies readonly SharedError[];

export const REPEATED_ERRORS = [
  'idempotency_key_reused',
  'idempotency_key_in_use',
] as const satisfies readonly SharedError[];

/** An error answer of an operation, as the document shows it. */
export interface DocumentedError {
  readonly code: string;
  readonly status: number;
  readonly meaning: string;
}

export function sharedError(code: SharedError): DocumentedError {
  const [status, meaning] = SHARED[code];
  return { code, status, meaning };
}

/** Prefix of the extensions that hold an operation's errors. The document's builder makes its answers from them. */
export const ERROR_EXTENSION = 'x-error-';

function declared(errors: readonly DocumentedError[]): MethodDecorator & ClassDecorator {
  return applyDecorators(...errors.map((error) => ApiExtension(`${ERROR_EXTENSION}${error.code}`, error)));
}

/** Documents error answers that many operations share. `readingErrors` adds those that follow from the parts it reads. */
export function ApiErrors(...codes: readonly SharedError[]): MethodDecorator & ClassDecorator {
  return declared(codes.map(sharedError));
}

/**
 * Documents error answers of one status that mean something of their own at this operation.
 * @param meanings by `error.code`; each is a sentence
 */
export function ApiRefusal(
  status: number,
  meanings: Readonly<Record<string, string>>,
): MethodDecorator & ClassDecorator {
  return declared(Object.entries(meanings).map(([code, meaning]) => ({ code, status, meaning })));
}

/** Extension of an operation that exists at the dashboard's door only. `completeOperations` removes it again. */
export const AT_DOOR = 'x-at-door';

/**
 * Returns the errors that follow from the parts of the request that an operation reads.
 * @param reads.fields whether it reads fields of query or body, or only refuses unknown ones
 * @param reads.body whether it reads a JSON body, or only refuses a body that is not empty
 * @param reads.path whether it reads ids in the path
 */
export function readingErrors(reads: {
  readonly fields: boolean;
  readonly body: boolean;
  readonly path: boolean;
}): DocumentedError[] {
  return [
    ...(reads.fields ? [sharedError('invalid_request')] : []),
    ...(reads.path ? [sharedError('not_found')] : []),
    ...(reads.body ? [sharedError('payload_too_large'), sharedError('unsupported_media_type')] : []),
  ];
}

/** Form of a CPF or CNPJ in the OpenAPI document. No pattern can check the check digits. */
export const TAX_ID_FORM = {
  type: 'string' as const,
  minLength: 11,
  maxLength: 40,
  pattern: '^[0-9A-Za-z.\\-/\\s]*$',
};

/** Pattern that every accepted e-mail address fits. Blank texts fit too, for fields that may be blank. */
export const EMAIL_FORM = '^\\s*$|^.+@.+$';

/** Makes the pattern of an id, bare or with one of the prefixes. */
export function idForm(...prefixes: readonly string[]): { type: 'string'; pattern: string } {
  const uuid = '[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}';
  const prefix = prefixes.length > 0 ? `(${prefixes.join('|')})?` : '';
  return { type: 'string', pattern: `^${prefix}${uuid}$` };
}
