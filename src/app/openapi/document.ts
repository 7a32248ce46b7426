import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { API_VERSION } from '../../core/api-version.js';
import { ErrorBody } from '../../core/http/index.js';
import { EventCatalog } from '../../outbox/index.js';
import { sharedComponents } from './answers.js';
import { ALL_TAGS, neededBy } from './audiences.js';
import { completeOperations } from './operations.js';
import { modernSchemas } from './schemas.js';
import { webhookModels, withWebhooks } from './webhooks.js';

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

/** Builds the OpenAPI 3.1 document of all operations. */
export function buildDocument(app: NestExpressApplication, baseUrl: string): OpenAPIObject {
  const config = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Recebe: everything')
    .setDescription(DESCRIPTION)
    .setVersion(API_VERSION)
    .setLicense('MIT', 'https://opensource.org/license/mit')
    .addServer(baseUrl, 'This service')
    .addApiKey({ type: 'apiKey', in: 'header', name: 'apikey', description: '`ak_test_…` or `ak_live_…`.' }, 'apikey')
    .addBearerAuth({ type: 'http', description: 'The token of POST /v1/auth/login.' }, 'dashboard')
    .build();
  const catalog = app.get(EventCatalog);
  const drafted = SwaggerModule.createDocument(app, config, {
    operationIdFactory: operationId,
    extraModels: [ErrorBody, ...webhookModels(catalog)],
  });
  const components = { ...drafted.components, ...sharedComponents() };
  const operations = completeOperations({ ...drafted, tags: [...ALL_TAGS], components });
  const whole = modernSchemas(withWebhooks(operations, catalog));
  return { ...whole, components: neededBy(whole) };
}

/**
 * Returns the name of an operation as clients call it. A method that is one verb gets the noun of its controller:
 * `create` of `ChargesController` is `createCharge`, `list` and `count` are `listCharges` and `countCharges`. A method name with a capital letter is used unchanged.
 */
function operationId(controller: string, method: string): string {
  if (/[A-Z]/.test(method)) return method;
  const plural = controller.replace(/Controller$/, '');
  return `${method}${['list', 'count'].includes(method) ? plural : singular(plural)}`;
}

function singular(plural: string): string {
  return plural.replace(/ies$/, 'y').replace(/([^s])s$/, '$1');
}
