import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import cors, { type CorsOptions } from 'cors';
import type { RequestHandler } from 'express';
import helmet from 'helmet';
import type { Config } from '../config/index.js';
import { stampAnswer } from './request-id.interceptor.js';

/**
 * The policy of answers that are no page: a browser loads, runs and frames nothing in them. Pages bring a policy of
 * their own.
 */
const NOTHING = { 'default-src': ["'none'"], 'base-uri': ["'none'"], 'frame-ancestors': ["'none'"] };
/** The documentation: its own files, the two stylesheets inside its page and the pictures inside its own stylesheet. */
const DOCS =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/**
 * Devices and payment sheets of the browser, which no page of ours uses. Writing to the clipboard stays allowed, for
 * copying the code.
 */
const PERMISSIONS =
  'accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), magnetometer=(), microphone=(), midi=(), payment=(), usb=()';

const YEAR_SECONDS = 31_536_000;
const PREFLIGHT_SECONDS = 600;

/** Sets security headers on every answer, and tells browsers which other origins may read some answers. */
export function browserHeaders(config: Config): RequestHandler {
  const security = headersOf(
    helmet({
      contentSecurityPolicy: { useDefaults: false, directives: NOTHING },
      // Only this host: other hosts of the domain belong to its owner.
      strictTransportSecurity: config.publicBaseUrl.startsWith('https:')
        ? { maxAge: YEAR_SECONDS, includeSubDomains: false }
        : false,
      xFrameOptions: { action: 'deny' },
      referrerPolicy: { policy: 'no-referrer' },
      // This header would hide the checkout window's end from merchants who wait for it.
      crossOriginOpenerPolicy: false,
      // Only browsers that are no longer in use read these.
      originAgentCluster: false,
      xDnsPrefetchControl: false,
      xDownloadOptions: false,
      xPermittedCrossDomainPolicies: false,
      xXssProtection: false,
    }),
  );
  const sharing = config.dashboardOrigins.length > 0 ? crossOrigin(config.dashboardOrigins) : null;
  return (request, response, next) => {
    for (const [name, value] of security) response.setHeader(name, value);
    response.setHeader('Permissions-Policy', PERMISSIONS);
    // No cache may keep answers to an account, including refusals and tokens of the login.
    if (request.url.startsWith('/v1/')) response.setHeader('Cache-Control', 'no-store');
    if (/^\/docs(?:[/?]|$)/.test(request.url)) response.setHeader('Content-Security-Policy', DOCS);
    // Neither a controller nor `sendError` answers here: the documentation and preflights.
    if (request.method === 'OPTIONS' || /^\/(?:docs|openapi[./]|\?|$)/.test(request.url)) {
      stampAnswer(request, response);
    }
    if (sharing) sharing(request, response, next);
    else next();
  };
}

/** Returns the headers that a middleware sets alike on every answer: computed once, not with every request. */
function headersOf(middleware: ReturnType<typeof helmet>): [string, string][] {
  const request = new IncomingMessage(new Socket());
  const response = new ServerResponse(request);
  middleware(request, response, () => undefined);
  return response.getHeaderNames().map((name) => [name, String(response.getHeader(name))]);
}

/**
 * Allows the dashboard on an origin of its own, which calls with a token in `Authorization`. The header `apikey`, which
 * every other route needs, is not allowed: a key does not belong in a browser. The dashboard's pages send files to
 * signed URLs of the storage, and show them. Without cookies there are no credentials to share.
 */
function crossOrigin(origins: readonly string[]): RequestHandler {
  const open: CorsOptions = {
    origin: [...origins],
    methods: 'GET, HEAD, POST, PATCH, DELETE',
    allowedHeaders: 'Authorization, Content-Type, Idempotency-Key, X-Request-Id',
    exposedHeaders: 'X-Request-Id, X-Api-Version, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Retry-After',
    maxAge: PREFLIGHT_SECONDS,
  };
  // The signature in the URL is the credential. A browser sets Content-Length by itself.
  const files: CorsOptions = {
    ...open,
    methods: 'GET, HEAD, PUT',
    allowedHeaders: 'Content-Type',
    exposedHeaders: 'X-Request-Id, Content-Disposition',
  };
  const api = cors(open);
  const storage = cors(files);
  return (request, response, next) => {
    // Set Vary on every answer: a cache must not give one origin the answer to another.
    response.setHeader('Vary', 'Origin');
    const { origin } = request.headers;
    if (origin === undefined || !origins.includes(origin)) next();
    else if (request.url.startsWith('/v1/')) api(request, response, next);
    else if (request.url.startsWith('/storage/')) storage(request, response, next);
    else next();
  };
}
