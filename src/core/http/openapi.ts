import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional, ApiResponse } from '@nestjs/swagger';
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

const MEANINGS: Record<number, string> = {
  400: '`invalid_request` with every violation in `details`, or `idempotency_key_required`.',
  401: '`unauthorized`: missing or invalid API key or token. At login `invalid_credentials`.',
  403: '`forbidden`: not with this role (`API_KEY_ROLE_REQUIRED` on API keys); or `fraud.*` from the velocity guard.',
  404: '`not_found`: unknown, malformed, or of another account or mode.',
  409: '`idempotency_key_reused` (another body under the key) or `idempotency_key_in_use` (its first request is still running; see Retry-After).',
  413: '`payload_too_large`: body over 64 KiB.',
  415: '`unsupported_media_type`: the body must be application/json.',
  422: '`no_provider_configured`: a rule of the business was not met.',
  429: '`rate_limited`: wait as Retry-After says.',
  500: '`internal_error`: safe to repeat.',
  503: '`provider_unavailable` (an acquirer gave no usable answer) or `service_unavailable` (a part of this service): repeat with backoff.',
};

const RETRY_AFTER = {
  'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer' as const, example: 1 } },
};

/** Documents the error answers of an operation. `readingErrors` adds the ones that follow from the parts it reads. */
export function ApiErrors(...statuses: number[]): MethodDecorator & ClassDecorator {
  return applyDecorators(
    ...statuses.map((status) => {
      const headers = status === 409 || status === 429 || status === 503 ? RETRY_AFTER : {};
      return ApiResponse({ status, description: MEANINGS[status] ?? 'Error.', type: ErrorBody, headers });
    }),
  );
}

/** Extension of an operation that exists at the dashboard's door only. `setupOpenApi` removes it again. */
export const AT_DOOR = 'x-at-door';

/**
 * Returns the error answers that follow from the parts of the request that an operation reads.
 * @param reads.fields whether it reads fields of query or body, or only refuses unknown ones
 * @param reads.body whether it reads a JSON body, or only refuses a body that is not empty
 * @param reads.path whether it reads ids in the path
 */
export function readingErrors(
  reads: { readonly fields: boolean; readonly body: boolean; readonly path: boolean },
  schema: object,
): Record<number, { description: string; content: object }> {
  const { fields, body, path } = reads;
  const statuses = [...(fields ? [400] : []), ...(path ? [404] : []), ...(body ? [413, 415] : [])];
  const content = { 'application/json': { schema } };
  return Object.fromEntries(statuses.map((status) => [status, { description: MEANINGS[status] ?? '', content }]));
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

/** Documents an error answer that means something of its own at this operation. */
export function ApiRefusal(status: number, description: string): MethodDecorator {
  return ApiResponse({ status, description, type: ErrorBody });
}
