import cors, { type FastifyCorsOptions } from '@fastify/cors';
import helmet from '@fastify/helmet';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Config } from '../config/index.js';

/** Of answers that are no page: nothing in them is ever to be loaded, run or framed. Pages bring a policy of their own. */
const NOTHING = { 'default-src': ["'none'"], 'base-uri': ["'none'"], 'frame-ancestors': ["'none'"] };
/** The documentation: its own files, the two stylesheets inside its page and the pictures inside its own stylesheet. */
const DOCS =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const YEAR_SECONDS = 31_536_000;
const PREFLIGHT_SECONDS = 600;

/** What browsers are told: security headers on every answer, and which other origins may read some. */
export function registerBrowserHeaders(instance: FastifyInstance, config: Config): void {
  void instance.register(helmet, {
    contentSecurityPolicy: { useDefaults: false, directives: NOTHING },
    // Only this host: what else the owner of the domain serves is not ours to decide.
    strictTransportSecurity: config.publicBaseUrl.startsWith('https:')
      ? { maxAge: YEAR_SECONDS, includeSubDomains: false }
      : false,
    xFrameOptions: { action: 'deny' },
    referrerPolicy: { policy: 'no-referrer' },
    // Merchants open the checkout in a window and wait for its end, which this would hide from them.
    crossOriginOpenerPolicy: false,
    // For browsers that are gone.
    originAgentCluster: false,
    xDnsPrefetchControl: false,
    xDownloadOptions: false,
    xPermittedCrossDomainPolicies: false,
    xXssProtection: false,
  });
  instance.addHook('onRequest', (request, reply, done) => {
    if (/^\/docs(?:[/?]|$)/.test(request.url)) reply.header('Content-Security-Policy', DOCS);
    done();
  });
  if (config.dashboardOrigins.length > 0) void instance.register(cors, { delegator: corsFor(config.dashboardOrigins) });
}

const CLOSED: FastifyCorsOptions = { origin: false };

/**
 * The dashboard, on an origin of its own, calls with a token in `Authorization`. The header `apikey` is not allowed,
 * which every other route needs: a key has no business in a browser. Its pages send files to signed URLs of the storage,
 * and show them. Without cookies there are no credentials to share.
 */
function corsFor(
  origins: readonly string[],
): (request: FastifyRequest, answer: (error: null, options: FastifyCorsOptions) => void) => void {
  const open: FastifyCorsOptions = {
    origin: [...origins],
    methods: ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE'],
    allowedHeaders: ['Authorization', 'Content-Type', 'X-Request-Id'],
    exposedHeaders: [
      'X-Request-Id',
      'X-Api-Version',
      'RateLimit-Limit',
      'RateLimit-Remaining',
      'RateLimit-Reset',
      'Retry-After',
    ],
    maxAge: PREFLIGHT_SECONDS,
    strictPreflight: false,
  };
  // Their signature is the credential. A browser sets Content-Length by itself.
  const files: FastifyCorsOptions = {
    ...open,
    methods: ['GET', 'HEAD', 'PUT'],
    allowedHeaders: ['Content-Type'],
    exposedHeaders: ['X-Request-Id', 'Content-Disposition'],
  };
  return ({ url, headers }, answer) => {
    const { origin } = headers;
    if (origin === undefined || !origins.includes(origin)) answer(null, CLOSED);
    else if (url.startsWith('/v1/')) answer(null, open);
    else answer(null, url.startsWith('/storage/') ? files : CLOSED);
  };
}
