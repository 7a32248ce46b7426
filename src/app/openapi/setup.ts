import { SwaggerModule } from '@nestjs/swagger';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { createHash } from 'node:crypto';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { RequestHandler } from 'express';
import { type Config, CONFIG } from '../../core/config/index.js';
import { type Limited, limitedByAddress } from '../../core/http/index.js';
import { RateLimiter } from '../../core/rate-limit/index.js';
import { AUDIENCES, type AudienceName, documentFor } from './audiences.js';
import { buildDocument } from './document.js';

/**
 * The OpenAPI documents, made on their first request: `/openapi.json` for merchants, `/openapi/<audience>.json` for the
 * others and `/openapi/all.json` for everything; the page at `/docs`.
 */
export function setupOpenApi(app: NestExpressApplication, baseUrl: string): void {
  const all = once(() => buildDocument(app, baseUrl));
  const merchants = once(() => documentFor('merchants', all()));
  const limited = limitedByAddress(app.get<Config>(CONFIG).rateLimit, app.get(RateLimiter));
  serveDocs(app, limited);
  SwaggerModule.setup('docs', app, merchants, {
    // Served below: Nest would write both again for each request.
    raw: false,
    customSiteTitle: 'Recebe API',
  });
  serveDocument(app, limited, '/openapi.json', merchants);
  serveDocument(app, limited, '/openapi/all.json', all);
  for (const audience of Object.keys(AUDIENCES) as AudienceName[]) {
    if (audience === 'merchants') continue;
    serveDocument(app, limited, `/openapi/${audience}.json`, () => documentFor(audience, all()));
  }
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null;
  return () => (made ??= { value: make() }).value;
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

/** Serves a document: written and compressed once, answered with 304 to a client that has it; limited by address. */
function serveDocument(app: NestExpressApplication, limited: Limited, path: string, create: () => object): void {
  const written = once(() => {
    const plain = Buffer.from(JSON.stringify(create()));
    const params = { [constants.BROTLI_PARAM_QUALITY]: 5 };
    const bodies = { br: brotliCompressSync(plain, { params }), gzip: gzipSync(plain), identity: plain };
    return { bodies, etag: `W/"${createHash('sha256').update(plain).digest('base64url')}"` };
  });
  const serve: RequestHandler = (request, response) => {
    const { bodies, etag } = written();
    response.set({ ETag: etag, 'Cache-Control': 'no-cache', Vary: 'Accept-Encoding' });
    const known = (request.headers['if-none-match'] ?? '').split(',').map((one) => one.trim());
    // A strong validator of the same text fits too.
    if (known.includes(etag) || known.includes(etag.slice(2))) return void response.status(304).end();
    const encoding = (request.acceptsEncodings('br', 'gzip', 'identity') || 'identity') as keyof typeof bodies;
    if (encoding !== 'identity') response.set('Content-Encoding', encoding);
    const body = bodies[encoding];
    response.set({ 'Content-Type': 'application/json; charset=utf-8', 'Content-Length': body.length }).end(body);
  };
  app.getHttpAdapter().getInstance().get(path, limited(path, 1), serve);
}
