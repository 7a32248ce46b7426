import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { createHash } from 'node:crypto';
import type { RequestHandler } from 'express';
import { type Config, CONFIG } from '../core/config/index.js';
import {
  AT_DOOR,
  COMMON_HEADERS,
  type Limited,
  limitedByAddress,
  RATE_LIMIT_HEADERS,
  readingErrors,
  REQUEST_ID,
} from '../core/http/index.js';
import { RateLimiter } from '../core/rate-limit/index.js';
import { API_VERSION } from '../core/api-version.js';

const DESCRIPTION = `Payment collection for Brazil, Pix first.

- Every body is JSON; amounts are integers in the smallest currency unit (cents for BRL); times are ISO 8601 in UTC.
- Send your API key in the \`apikey\` header. Keys that start with \`ak_test_\` use the sandbox, \`ak_live_\` move money; the two modes see nothing of each other.
- People use the dashboard's routes with the token of \`POST /v1/auth/login\` as \`Authorization: Bearer <token>\`; keys and tokens never stand in for each other.
- Financial writes need an \`Idempotency-Key\`; payments and refunds carry theirs in the body, as \`idempotencyKey\`. Repeating a request with the same key and body gives the same answer and one charge.
- A date of a request is an instant with its zone (\`2026-11-21T12:30:00-03:00\`) or a day (\`2026-11-21\`), which is the whole of it in America/Sao_Paulo. One that no calendar has is an error.
- In optional fields that only describe (\`nullable\`) null and blanks count as left out; elsewhere null is an error.
- Unknown fields are errors, as are a key given twice in one object, and a number with more digits than JSON's readers keep. All violations of a request are listed in \`error.details\`, at most 50.
- The webhook is the source of truth for outcomes; reading a charge is for one-off checks.
- Webhooks may come more than once and in any order. Deduplicate on the event's \`id\`; of two events of one charge, or of one MED case, the one with the higher \`sequence\` (in the older \`payment.*\` family \`data.sequence\`) is the later one.`;

/** The OpenAPI document, made on its first request: `/openapi.json`, and as a page at `/docs`. */
export function setupOpenApi(app: NestExpressApplication, baseUrl: string): void {
  const config = new DocumentBuilder()
    .setTitle('Recebe')
    .setDescription(DESCRIPTION)
    .setVersion(API_VERSION)
    .setLicense('MIT', 'https://opensource.org/license/mit')
    .addServer(baseUrl, 'This service')
    .addApiKey({ type: 'apiKey', in: 'header', name: 'apikey', description: '`ak_test_…` or `ak_live_…`.' }, 'apikey')
    .addBearerAuth({ type: 'http', description: 'The token of POST /v1/auth/login.' }, 'dashboard')
    .addTag('Charges', 'Create and read Pix charges.')
    .addTag('Payments', 'The transaction format: six methods, refunds, receipts.')
    .addTag('Payment links', 'Pages that sell without a program.')
    .addTag('Customers', 'Who has paid, and what they bought, got back and disputed.')
    .addTag('Payouts', 'Send money to a bank account.')
    .addTag('MED', 'Disputes: contest or accept them, before their deadline.')
    .addTag('Wallets', 'Balances of the account.')
    .addTag('Reports', 'Files of the books: CSV, Excel, PDF, OFX and plain-text accounting.')
    .addTag('Events', 'What webhooks say, as a list and as a stream.')
    .addTag('Webhooks', 'Where events are sent.')
    .addTag('Dashboard', 'Log in and out.')
    .addTag('API keys', 'Issue, rotate and revoke keys.')
    .addTag('Account', 'Of the merchant, as payers see it.')
    .addTag('Members', 'People of the account.')
    .addTag('Audit events', 'Who did what.')
    .addTag('Request logs', 'What was asked of the API.')
    .addTag('Sandbox', 'Drive test charges.')
    .addTag('Checkout', 'Public pages for payers.')
    .addTag('Storage', 'Signed URLs to files, where the service keeps them itself.')
    .addTag('Callbacks', 'Where banks and PSPs tell of payments.')
    .addTag('Operators', 'For the staff of the platform.')
    .addTag('Operations', 'Health and metrics.')
    .build();
  const createDocument = (): OpenAPIObject =>
    withCommonHeaders(
      withDoor(
        SwaggerModule.createDocument(app, config, {
          operationIdFactory: (controller, method) => `${controller.replace('Controller', '').toLowerCase()}_${method}`,
        }),
      ),
    );
  const limited = limitedByAddress(app.get<Config>(CONFIG).rateLimit, app.get(RateLimiter));
  serveDocs(app, limited);
  SwaggerModule.setup('docs', app, createDocument, {
    // Served below: Nest would write both again for each request.
    raw: false,
    customSiteTitle: 'Recebe API',
  });
  serveDocument(app, limited, createDocument);
}

const ERROR = { $ref: '#/components/schemas/ErrorBody' };

type Operation = NonNullable<OpenAPIObject['paths'][string]['get']>;
type Body = Exclude<Operation['requestBody'], { $ref: string } | undefined>;
type Schema = NonNullable<NonNullable<OpenAPIObject['components']>['schemas']>[string];
type Answer = Exclude<Operation['responses'][string], { $ref: string } | undefined>;

const MODE = {
  name: 'mode',
  in: 'path' as const,
  required: true,
  description: 'Mode of the data: `test` or `live`.',
  schema: { type: 'string' as const, enum: ['test', 'live'] },
};

/** Moves operations of the dashboard's door to the path and the login by which people reach them. */
function withDoor(document: OpenAPIObject): OpenAPIObject {
  const paths: OpenAPIObject['paths'] = {};
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(methods) as ['post', Operation & { [AT_DOOR]?: true }][]) {
      const { [AT_DOOR]: isAtDoor = false, ...shown } = operation;
      const parameters = [MODE, ...(shown.parameters ?? [])];
      const at = isAtDoor ? path.replace('/v1/', '/v1/dashboard/{mode}/') : path;
      const security = [{ dashboard: [] }];
      paths[at] = { ...paths[at], [method]: isAtDoor ? { ...shown, security, parameters } : shown };
    }
  }
  return { ...document, paths };
}

/** Adds common headers and errors, so that each operation declares only its own. */
function withCommonHeaders(document: OpenAPIObject): OpenAPIObject {
  for (const [path, methods] of Object.entries(document.paths)) {
    const isApi = path.startsWith('/v1/');
    for (const [method, operation] of Object.entries(methods) as [string, Operation][]) {
      const body = operation.requestBody as Body | undefined;
      const json = body?.content['application/json'];
      // An empty body counts as an object without fields.
      if (isApi && body && json) body.required = requiredOf(document, json.schema).length > 0;
      const reads = {
        fields: isApi,
        body: isApi && method !== 'get' && (body === undefined || json !== undefined),
        path: path.includes('{'),
      };
      operation.responses = { ...readingErrors(reads, ERROR), ...operation.responses };
      if (isApi) operation.parameters = [REQUEST_ID, ...(operation.parameters ?? [])];
      for (const [status, answer] of Object.entries(operation.responses) as [string, Answer][]) {
        const counted = isApi && status.startsWith('2') ? RATE_LIMIT_HEADERS : {};
        answer.headers = { ...COMMON_HEADERS, ...counted, ...answer.headers };
      }
    }
  }
  return document;
}

/** The required fields of a schema. */
function requiredOf(document: OpenAPIObject, schema: Schema | undefined): readonly string[] {
  if (schema === undefined) return [];
  if (!('$ref' in schema)) return schema.required ?? [];
  return requiredOf(document, document.components?.schemas?.[schema.$ref.split('/').at(-1) ?? '']);
}

/** The start script of the page: Nest's own contains the whole document and is written again for each request. */
const DOCS_INIT = `window.onload = () => {
  window.ui = SwaggerUIBundle({
    url: '/openapi.json',
    dom_id: '#swagger-ui',
    deepLinking: true,
    presets: [SwaggerUIBundle.presets.apis, SwaggerUIStandalonePreset],
    plugins: [SwaggerUIBundle.plugins.DownloadUrl],
    layout: 'StandaloneLayout',
  });
};
`;

/** Registered before Nest's own routes of the same names. A page requests half a dozen files, some of them large. */
function serveDocs(app: NestExpressApplication, limited: Limited): void {
  const instance = app.getHttpAdapter().getInstance();
  instance.use('/docs', limited('/docs', 2));
  for (const path of ['/docs/swagger-ui-init.js', '/docs/docs/swagger-ui-init.js']) {
    instance.get(path, (_request, response) => void response.type('text/javascript').send(DOCS_INIT));
  }
}

/** `/openapi.json`: serialized once, answered with 304 to a client that has it; limited by address. */
function serveDocument(app: NestExpressApplication, limited: Limited, createDocument: () => OpenAPIObject): void {
  let written: { readonly text: Buffer; readonly etag: string } | null = null;
  const write = (): NonNullable<typeof written> => {
    const text = Buffer.from(JSON.stringify(createDocument()));
    return { text, etag: `"${createHash('sha256').update(text).digest('base64url')}"` };
  };
  const serve: RequestHandler = (request, response) => {
    const { text, etag } = (written ??= write());
    response.set({ ETag: etag, 'Cache-Control': 'no-cache' });
    if (request.headers['if-none-match'] === etag) response.status(304).end();
    else response.set({ 'Content-Type': 'application/json; charset=utf-8', 'Content-Length': text.length }).end(text);
  };
  app.getHttpAdapter().getInstance().get('/openapi.json', limited('/openapi.json', 1), serve);
}
