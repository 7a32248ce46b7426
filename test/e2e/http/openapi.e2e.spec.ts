import { beforeAll, describe, expect, it } from '@jest/globals';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv } from 'ajv';
import { type Documented, type OpenApiDocument, readDocument, type Schema, within } from '../../support/openapi.js';
import { eventFaults } from '../../support/event-schemas.js';
import { ROUTES, shownRoute } from '../../rules/route-table.js';
import { TestService } from '../../support/service.js';

/** Where a guarded operation may be refused by the edge, whatever it does. */
const GUARD_ANSWERS = ['401', '429', '500', '503'];
const RATE_LIMIT_HEADERS = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'];

describe('the OpenAPI document', () => {
  const service = TestService.forSpec();
  let document: OpenApiDocument;
  let operations: Documented['operations'];
  let schemas: { path: string; schema: Schema }[];

  beforeAll(async () => {
    ({ document, operations } = await readDocument(service));
    schemas = [
      ...Object.entries(document.components.schemas).flatMap(([name, schema]) => within(schema, name)),
      ...operations.flatMap(({ operation }) =>
        // Error answers restate the schema of all errors with their own codes.
        Object.entries(operation.responses)
          .filter(([status]) => status < '400')
          .flatMap(([status, response]) =>
            Object.values(response.content ?? {}).flatMap(({ schema }) =>
              within(schema, `${operation.operationId} ${status}`),
            ),
          ),
      ),
    ];
  });

  it('is valid OpenAPI for an independent validator', async () => {
    const validator = new Validator();
    const result = await validator.validate(structuredClone(document));
    expect(result.errors ?? []).toEqual([]);
    expect(result.valid).toBe(true);
    expect(validator.version).toBe('3.1');
  });

  it('is invalid for that validator when it has a mistake', async () => {
    const broken = structuredClone(document);
    (broken.paths['/v1/charges']?.['post'] as { parameters: unknown }).parameters = 'none';
    expect((await new Validator().validate(broken)).valid).toBe(false);
  });

  it('has no reference to a missing schema', () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)].map(
      ([, name]) => name,
    );
    expect(references.length).toBeGreaterThan(20);
    expect(references.filter((name) => !Object.hasOwn(document.components.schemas, name ?? ''))).toEqual([]);
  });

  it('names its version, server, key and tags', () => {
    expect(document.info.version).toBe('2026-11-01');
    expect(document.info.description).toContain('Idempotency-Key');
    expect(document.servers).toEqual([{ url: 'https://pay.example.com', description: 'This service' }]);
    expect(document.components.securitySchemes).toEqual({
      apikey: { type: 'apiKey', in: 'header', name: 'apikey', description: expect.any(String) },
      dashboard: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: expect.any(String) },
    });
    const used = new Set(operations.flatMap(({ operation }) => operation.tags ?? ['none']));
    expect([...used].sort()).toEqual(document.tags.map(({ name }) => name).sort());
  });

  it('has a summary, a description and a unique id for every operation', () => {
    expect(operations.filter(({ operation }) => !operation.summary || !operation.description)).toEqual([]);
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('has exactly the routes of the API', () => {
    const documented = operations.map(({ method, path }) => `${method} ${path}`).sort();
    const routes = Object.entries(ROUTES).filter(
      ([route]) => !/^GET \/(?:docs\b.*|dashboard\b.*|openapi\b.*)?$/.test(route),
    );
    expect(documented).toEqual(routes.map(([route, row]) => shownRoute(route, row).shown).sort());
  });

  it('describes every property of every schema', () => {
    const properties = schemas.flatMap(({ path, schema }) =>
      Object.entries(schema.properties ?? {}).map(([name, property]) => ({ name: `${path}.${name}`, property })),
    );
    expect(properties.length).toBeGreaterThan(60);
    expect(properties.filter(({ property }) => !property.description).map(({ name }) => name)).toEqual([]);
  });

  it('gives an example of every plain value that its own schema accepts', () => {
    const ajv = new Ajv({
      strict: false,
      formats: { 'date-time': true, date: true, uri: true, uuid: true, binary: true, password: true },
    });
    const properties = schemas.flatMap(({ path, schema }) =>
      Object.entries(schema.properties ?? {}).map(([name, property]) => ({ name: `${path}.${name}`, property })),
    );
    const plain = properties.filter(
      ({ property }) => ['string', 'integer', 'number'].includes([property.type].flat()[0] ?? '') && !property.enum,
    );
    expect(plain.filter(({ property }) => property.examples === undefined).map(({ name }) => name)).toEqual([]);
    const shown = properties.filter(({ property }) => property.examples !== undefined);
    expect(
      shown
        .filter(({ property }) => property.examples?.every((example) => ajv.validate(property, example)) !== true)
        .map(({ name }) => name),
    ).toEqual([]);
  });

  it('describes every parameter once, with names of headers in any case', () => {
    for (const { operation, path } of operations) {
      const parameters = operation.parameters ?? [];
      expect(
        parameters.filter(({ description }) => !description).map(({ name }) => `${operation.operationId} ${name}`),
      ).toEqual([]);
      const names = parameters.map((parameter) => `${parameter.in} ${parameter.name.toLowerCase()}`);
      expect({ id: operation.operationId, names }).toEqual({ id: operation.operationId, names: [...new Set(names)] });
      const inPath = parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => `{${name}}`);
      expect(path.match(/\{[^}]+\}/g) ?? []).toEqual(inPath);
    }
  });

  it('says which financial writes require an Idempotency-Key', () => {
    const needing = operations.filter(({ operation }) =>
      operation.parameters?.some(({ name, required }) => name === 'Idempotency-Key' && required === true),
    );
    expect(needing.map(({ path }) => path).sort()).toEqual([
      ...['/v1/charges', '/v1/payment-links', '/v1/payouts', '/v1/pix/charges'],
    ]);
    for (const { operation } of needing)
      expect(Object.keys(operation.responses)).toEqual(expect.arrayContaining(['400', '409']));
  });

  it('says which operations may have no body', () => {
    const optional = operations.filter(
      ({ path, operation }) => path.startsWith('/v1/') && operation.requestBody?.required === false,
    );
    expect(optional.map(({ operation }) => operation.operationId).sort()).toEqual([
      ...['approvePayout', 'approvePayoutDestination', 'changeAccount', 'changeNotices', 'changeOperationsAccount'],
      ...['changePaymentLink', 'eraseCustomer', 'issueApiKey', 'refusePayout', 'rotateApiKey', 'rotateDefaultSecret'],
      ...['rotateEndpointSecret', 'updateEndpoint'],
    ]);
  });

  it('states the security of each operation as it is, and the answers of its guards', () => {
    const schemeOf = { public: [], 'api-key': ['apikey'], dashboard: ['dashboard'] };
    const rows = new Map(
      Object.entries(ROUTES).map(([route, row]) => {
        const { shown, access } = shownRoute(route, row);
        return [shown, { ...row, access }];
      }),
    );
    for (const { method, path, operation } of operations) {
      const row = rows.get(`${method} ${path}`);
      const schemes = (operation.security ?? []).flatMap((scheme) => Object.keys(scheme));
      expect({ id: operation.operationId, schemes }).toEqual({
        id: operation.operationId,
        schemes: row && schemeOf[row.access],
      });
      const refused = Object.values(row?.expected ?? {}).includes(403);
      if (refused) expect(Object.keys(operation.responses)).toContain('403');
    }
    for (const { operation } of operations.filter((candidate) => candidate.operation.security?.length !== 0)) {
      const id = operation.operationId;
      expect({ id, statuses: Object.keys(operation.responses) }).toEqual({
        id,
        statuses: expect.arrayContaining(GUARD_ANSWERS),
      });
      const [success = ''] = Object.keys(operation.responses).filter((status) => status.startsWith('2'));
      expect({ id, headers: Object.keys(operation.responses[success]?.headers ?? {}) }).toEqual({
        id,
        headers: expect.arrayContaining(RATE_LIMIT_HEADERS),
      });
    }
  });

  it('documents the headers of every answer', () => {
    for (const { operation } of operations) {
      for (const [status, response] of Object.entries(operation.responses)) {
        const headers = response.headers ?? {};
        const what = `${operation.operationId} ${status}`;
        expect({ what, description: response.description }).toEqual({ what, description: expect.stringMatching(/./) });
        expect({ what, headers: Object.keys(headers) }).toEqual({
          what,
          headers: expect.arrayContaining(['X-Request-Id', 'X-Api-Version']),
        });
        if (status === '429' || status === '503') {
          const isHealth = what === 'getReadiness 503';
          expect({ what, retryAfter: 'Retry-After' in headers }).toEqual({ what, retryAfter: !isHealth });
        }
        for (const [name, header] of Object.entries(headers)) {
          expect({ what, name, description: header.description }).toEqual({
            what,
            name,
            description: expect.stringMatching(/./),
          });
        }
      }
    }
  });

  it('has a webhook for each event name, which the sample of the event fits', async () => {
    const { testKey } = await service.merchant();
    const catalog = await service.call<{ event: string }[]>('GET', '/v1/webhooks/event-catalog');
    const names = catalog.body.map(({ event }) => event);
    expect(Object.keys(document['webhooks'] as object).sort()).toEqual([...names].sort());
    const { app } = service.runtime;
    for (const name of names) {
      const path = `/v1/webhooks/event-catalog/${name}/sample`;
      const { status, body } = await service.call('GET', path, { key: testKey });
      if (status === 404) continue;
      expect(eventFaults(app, [body])).toEqual([]);
      expect(eventFaults(app, [{ ...body, data: { ...(body['data'] as object), unknown: 1 } }])).not.toEqual([]);
      expect(eventFaults(app, [{ ...body, data: {} }])).not.toEqual([]);
    }
  });

  it('is one document for each audience, which together have every operation once', async () => {
    const parts = await Promise.all(
      ['/openapi.json', ...['people', 'operators', 'payers', 'psps'].map((name) => `/openapi/${name}.json`)].map(
        async (path) => (await service.call<OpenApiDocument>('GET', path)).body,
      ),
    );
    const idsOf = ({ paths }: OpenApiDocument): string[] =>
      Object.values(paths).flatMap((methods) => Object.values(methods).map(({ operationId }) => operationId));
    expect(parts.flatMap(idsOf).sort()).toEqual(idsOf(document).sort());
    for (const part of parts) {
      const result = await new Validator().validate(structuredClone(part));
      expect(result.errors ?? []).toEqual([]);
      const text = JSON.stringify(part);
      for (const [, name = ''] of text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
        expect(Object.keys(part.components.schemas)).toContain(name);
      }
    }
    const [merchants] = parts;
    expect(Object.keys(merchants?.components.securitySchemes ?? {})).toEqual(['apikey']);
  });

  it('names operations and schemas as a client reads them', () => {
    for (const { operation } of operations) expect(operation.operationId).toMatch(/^[a-z]+(?:[A-Z][a-z]*)+$/);
    for (const name of Object.keys(document.components.schemas)) expect(name).toMatch(/^[A-Z][A-Za-z]+(?<!Body|Dto)$/);
  });

  it('is sent compressed to clients that ask for it', async () => {
    for (const [accepted, encoding] of [
      ['br', 'br'],
      ['gzip', 'gzip'],
      ['identity', null],
    ] as const) {
      const answer = await fetch(`${service.url}/openapi.json`, { headers: { 'Accept-Encoding': accepted } });
      expect(answer.headers.get('content-encoding')).toBe(encoding);
      expect(((await answer.json()) as OpenApiDocument).info.title).toBe('Recebe');
    }
  });

  it('is shown to people at /docs, which loads every file from the service', async () => {
    const page = await service.call('GET', '/docs');
    expect(page.status).toBe(200);
    expect(page.headers.get('content-type')).toMatch(/^text\/html/);
    expect(page.text).toContain('Recebe API');
    const files = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, file]) => file ?? '');
    expect(files.length).toBeGreaterThan(2);
    for (const file of files) {
      const target = new URL(file, `${service.url}/docs`);
      expect(target.origin).toBe(new URL(service.url).origin);
      const answer = await service.call('GET', `${target.pathname}${target.search}`);
      expect({ file, status: answer.status }).toEqual({ file, status: 200 });
    }
  });
});
