import type { NestExpressApplication } from '@nestjs/platform-express';
import { Ajv } from 'ajv';
import { buildDocument } from '../../src/app/openapi/document.js';
import { closed } from './openapi.js';

type Body = Readonly<Record<string, unknown>>;

interface Webhooks {
  readonly webhooks: Readonly<
    Record<string, { post: { requestBody: { content: { 'application/json': { schema: { $ref: string } } } } } }>
  >;
}

type Validate = (body: Body) => string[];

const validators = new WeakMap<NestExpressApplication, Validate>();

/** Returns what is wrong with delivered bodies according to the schemas of the OpenAPI document. */
export function eventFaults(app: NestExpressApplication, bodies: readonly Body[]): string[] {
  if (bodies.length === 0) return [];
  const validate = validators.get(app) ?? validatorOf(app);
  validators.set(app, validate);
  return [...new Set(bodies.flatMap(validate))];
}

function validatorOf(app: NestExpressApplication): Validate {
  const document = buildDocument(app, 'https://pay.example.com');
  const { webhooks } = document as unknown as Webhooks;
  const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false });
  ajv.addSchema(closed(document), 'openapi');
  return (body) => {
    const name = String(body['type'] ?? body['event']);
    const ref = webhooks[name]?.post.requestBody.content['application/json'].schema.$ref;
    if (ref === undefined) return [`${name} is not documented`];
    return ajv.validate(`openapi${ref}`, body) ? [] : [`${name}: ${ajv.errorsText(ajv.errors)}`];
  };
}
