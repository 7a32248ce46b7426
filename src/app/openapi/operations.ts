import type { OpenAPIObject } from '@nestjs/swagger';
import {
  AT_DOOR,
  COMMON_HEADERS,
  type DocumentedError,
  ERROR_EXTENSION,
  RATE_LIMIT_HEADERS,
  readingErrors,
  sharedError,
} from '../../core/http/index.js';
import { type Answer, errorAnswers, sharedHeaders } from './answers.js';

export type Operation = NonNullable<OpenAPIObject['paths'][string]['get']>;
type Body = Exclude<Operation['requestBody'], { $ref: string } | undefined>;
type Schema = NonNullable<NonNullable<OpenAPIObject['components']>['schemas']>[string];
/** An operation as Nest builds it, with the extensions of our decorators. */
type Drafted = Operation & Readonly<Record<string, unknown>>;

const MODE = {
  name: 'mode',
  in: 'path' as const,
  required: true,
  description: 'Mode of the data: `test` or `live`.',
  schema: { type: 'string' as const, enum: ['test', 'live'] },
};

/** Completes operations: the path and login of the dashboard's door, common headers and parameters, error answers. */
export function completeOperations(document: OpenAPIObject): OpenAPIObject {
  const paths: OpenAPIObject['paths'] = {};
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, drafted] of Object.entries(methods) as [string, Drafted][]) {
      const isAtDoor = drafted[AT_DOOR] === true;
      const shownPath = isAtDoor ? path.replace('/v1/', '/v1/dashboard/{mode}/') : path;
      const operation = isAtDoor ? atDoor(drafted, method === 'get') : drafted;
      paths[shownPath] = { ...paths[shownPath], [method]: complete(document, shownPath, method, operation) };
    }
  }
  return { ...document, paths };
}

/** An operation of people, in the mode of the path: every member reads, and API keys get 404. */
function atDoor(operation: Drafted, isRead: boolean): Drafted {
  const { [AT_DOOR]: _isAtDoor, ...rest } = operation;
  const others = Object.entries(rest).filter(([key]) => !OF_KEYS.includes(key));
  const parameters = [MODE, ...(operation.parameters ?? [])];
  const shown = {
    ...Object.fromEntries(others),
    security: [{ dashboard: [] }],
    parameters,
    tags: ['Decisions'],
  } as unknown as Drafted;
  return isRead ? shown : withErrors(shown, sharedError('forbidden'), sharedError('totp_setup_required'));
}

const OF_KEYS = ['api_key_expired', 'ip_not_allowed', 'account_suspended'].map((code) => `${ERROR_EXTENSION}${code}`);

function withErrors(operation: Drafted, ...errors: readonly DocumentedError[]): Drafted {
  const extensions = errors.map((error) => [`${ERROR_EXTENSION}${error.code}`, error] as const);
  return { ...(Object.fromEntries(extensions) as Record<string, unknown>), ...operation };
}

function complete(document: OpenAPIObject, path: string, method: string, drafted: Drafted): Operation {
  const isApi = path.startsWith('/v1/');
  const body = drafted.requestBody as Body | undefined;
  const json = body?.content['application/json'];
  // An empty body counts as an object without fields.
  if (isApi && body && json) body.required = requiredOf(document, json.schema).length > 0;
  const reads = {
    fields: isApi,
    body: isApi && method !== 'get' && (body === undefined || json !== undefined),
    path: path.includes('{'),
  };
  const isPersonsWrite = method !== 'get' && drafted.security?.some((scheme) => 'dashboard' in scheme) === true;
  const entries = Object.entries(drafted);
  const declared = entries
    .filter(([key]) => key.startsWith(ERROR_EXTENSION))
    .map(([, error]) => error as DocumentedError);
  const errors = [
    ...readingErrors(reads),
    ...(isPersonsWrite ? [sharedError('foreign_page')] : []),
    // Operators belong to no account.
    ...(isPersonsWrite && !path.startsWith('/v1/operations/') ? [sharedError('account_suspended')] : []),
    ...declared,
  ];
  const rest = Object.fromEntries(entries.filter(([key]) => !key.startsWith(ERROR_EXTENSION))) as unknown as Operation;
  const responses = { ...errorAnswers(errors), ...drafted.responses };
  for (const [status, answer] of Object.entries(responses) as [string, Answer][]) {
    if ('$ref' in answer) continue;
    const counted = isApi && status.startsWith('2') ? sharedHeaders(RATE_LIMIT_HEADERS) : {};
    answer.headers = { ...sharedHeaders(COMMON_HEADERS), ...counted, ...answer.headers };
  }
  return {
    ...rest,
    security: drafted.security ?? [],
    parameters: [...(isApi ? [{ $ref: '#/components/parameters/X-Request-Id' }] : []), ...(drafted.parameters ?? [])],
    responses,
  };
}

/** The required fields of a schema. */
function requiredOf(document: OpenAPIObject, schema: Schema | undefined): readonly string[] {
  if (schema === undefined) return [];
  if (!('$ref' in schema)) return schema.required ?? [];
  return requiredOf(document, document.components?.schemas?.[schema.$ref.split('/').at(-1) ?? '']);
}
