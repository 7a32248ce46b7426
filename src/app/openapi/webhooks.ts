import type { Type } from '@nestjs/common';
import type { OpenAPIObject } from '@nestjs/swagger';
import { API_VERSION } from '../../core/api-version.js';
import type { EventCatalog, PublicEvent } from '../../outbox/index.js';

type Schema = Readonly<Record<string, unknown>>;
type Schemas = Readonly<Record<string, Schema & { properties?: Schema; required?: readonly string[] }>>;

const SAMPLE = {
  type: 'boolean',
  description: 'True: a sample; its ids belong to nothing that exists.',
  example: true,
};

const SEQUENCE = {
  type: 'integer',
  description: 'Number of the event among those of one subject, from 1: the higher of two is the later one.',
  example: 2,
};

/** Returns the classes whose schemas the webhooks need. */
export function webhookModels(catalog: EventCatalog): Type[] {
  const classes = [...catalog.shapes().values()].flat().flatMap(({ body, besideBody }) => [body, besideBody]);
  return [...new Set(classes.filter((model) => model !== undefined))];
}

/** Adds the webhooks: one for each event name of the catalog, with a schema of its whole body. */
export function withWebhooks(document: OpenAPIObject, catalog: EventCatalog): OpenAPIObject {
  const known = document.components?.schemas as unknown as Schemas;
  const webhooks: Record<string, object> = {};
  const schemas: Record<string, object> = {};
  for (const [name, events] of catalog.shapes()) {
    const [first] = events;
    if (first === undefined) continue;
    const component = `${pascalCase(name)}EventBody`;
    schemas[component] = first.family === 'canonical' ? canonical(name, events, known) : legacy(name, events, known);
    webhooks[name] = { post: operation(name, first, component) };
  }
  return {
    ...document,
    webhooks,
    components: { ...document.components, schemas: { ...document.components?.schemas, ...schemas } },
  };
}

/** `data.object` is what the reading operation of the subject shows; further fields stand beside it. */
function canonical(name: string, events: readonly PublicEvent[], known: Schemas): object {
  const beside = events.flatMap(({ besideBody }) => (besideBody ? [known[besideBody.name]] : []))[0];
  const description = 'The subject as the API shows it.';
  const object = { $ref: `#/components/schemas/${events[0]?.body.name ?? ''}`, description };
  const data = {
    type: 'object',
    description: 'The subject after the event.',
    required: ['object', ...(beside?.required ?? [])],
    properties: { object, ...beside?.properties },
  };
  return {
    type: 'object',
    required: ['id', 'object', 'api_version', 'type', 'created_at', 'sequence', 'data'],
    properties: {
      id: {
        type: 'string',
        description: 'One for each business event, under all of its names and in all deliveries.',
        example: 'evt_019aa0f07d5c7c3e9b1a2f4d6c8e0a12',
      },
      object: { type: 'string', description: 'Kind of object.', enum: ['event'] },
      api_version: { type: 'string', description: 'Version of the contract.', example: API_VERSION },
      type: { type: 'string', description: 'Name of the event.', enum: [name] },
      created_at: {
        type: 'string',
        format: 'date-time',
        description: 'When it happened.',
        example: '2026-11-21T12:00:00.000Z',
      },
      sequence: SEQUENCE,
      sample: SAMPLE,
      data,
    },
  };
}

/** A name with several sources may have fields that only some of them send. */
function legacy(name: string, events: readonly PublicEvent[], known: Schemas): object {
  const bodies = events.map(({ body }) => known[body.name] ?? {});
  const required = bodies[0]?.required?.filter((field) => bodies.every((body) => body.required?.includes(field))) ?? [];
  const properties = bodies.reduce<Schema>((all, body) => ({ ...all, ...body.properties }), {});
  const data = {
    type: 'object',
    description: 'The subject after the event.',
    required: [...required, 'sequence'],
    properties: { ...properties, sequence: SEQUENCE },
  };
  return {
    type: 'object',
    required: ['event', 'data'],
    properties: {
      event: { type: 'string', description: 'Name of the event.', enum: [name] },
      sample: SAMPLE,
      data,
    },
  };
}

function operation(name: string, { description, family }: PublicEvent, component: string): object {
  const schema = { $ref: `#/components/schemas/${component}` };
  const header = family === 'canonical' ? '`t=<unix>,v1=<hex>`' : '`sha256=<hex>`';
  return {
    operationId: `on${pascalCase(name)}`,
    tags: ['Webhooks'],
    summary: description,
    description: `A POST to each endpoint that is subscribed to \`${name}\`, signed in \`X-Service-Signature\` as ${header}.`,
    security: [],
    requestBody: { required: true, content: { 'application/json': { schema } } },
    responses: { '2XX': { description: 'Delivered. Any other answer is tried again.' } },
  };
}

/** `med_case.created` → `MedCaseCreated`. */
function pascalCase(name: string): string {
  return name.replaceAll(/(?:^|[._])([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
