import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { RequestHandler, Response } from 'express';
import { type Config, CONFIG, type StorageConfig } from '../core/config/index.js';
import { notFound } from '../core/errors/index.js';
import { limitedByAddress, sendError, stampAnswer } from '../core/http/index.js';
import { RateLimiter } from '../core/rate-limit/index.js';

/** The built pages, beside this file after a build, and beside the bundle that contains it. */
const BUILT = join(import.meta.dirname, '../dashboard');
const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};
/** The page that shows every component, and its script. */
const GALLERY = /^(?:_ui\.html|gallery-.*)$/;
const ENCODINGS = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;
const YEAR_SECONDS = 31_536_000;

/**
 * Serves the dashboard at `/dashboard`: the build's files, and for every other path the page itself, which does its own
 * routing. `/` leads to it. Outside of production `/dashboard/_ui` shows the components of the pages.
 * @param directory of the build; without one `/` leads to the documentation
 */
export function serveDashboard(app: NestExpressApplication, directory = BUILT): void {
  const instance = app.getHttpAdapter().getInstance();
  const isBuilt = existsSync(join(directory, 'index.html'));
  const config = app.get<Config>(CONFIG);
  const limited = limitedByAddress(config.rateLimit, app.get(RateLimiter));
  instance.get(
    '/',
    limited('/', 10),
    (_request, response) =>
      void response
        .status(302)
        .location(isBuilt ? '/dashboard' : '/docs')
        .end(),
  );
  if (!isBuilt) return;
  const files = new Map(
    ['', 'assets'].flatMap((below) =>
      readdirSync(join(directory, below), { withFileTypes: true })
        .filter((entry) => entry.isFile() && extname(entry.name) in TYPES)
        .filter(({ name }) => !(config.production && GALLERY.test(name)))
        .map(({ name }) => [join('/', below, name), new BuiltFile(join(directory, below, name))] as const),
    ),
  );
  const policy = policyOf(config.storage);
  const serve: RequestHandler = (request, response) => {
    stampAnswer(request, response);
    const path = request.path.replace(/^\/dashboard/, '');
    const file = files.get(path);
    if (file && extname(path) !== '.html') {
      response.set(
        'Cache-Control',
        path.startsWith('/assets/') ? `public, max-age=${YEAR_SECONDS}, immutable` : 'no-cache',
      );
      file.send(request.headers['accept-encoding'], response);
    } else if (path.startsWith('/assets/')) {
      // The file may exist in a moment, when a process of a newer version answers.
      response.set('Cache-Control', 'no-store');
      sendError(request, response, notFound('route'));
    } else {
      response.set({ 'Cache-Control': 'no-cache', 'Content-Security-Policy': policy });
      const page = (path === '/_ui' && files.get('/_ui.html')) || files.get('/index.html');
      page?.send(request.headers['accept-encoding'], response);
    }
  };
  // A first visit requests a dozen files.
  for (const path of ['/dashboard', '/dashboard/{*path}']) instance.get(path, limited('/dashboard', 10), serve);
}

/** Allows only our own scripts, images, fonts and requests; evidence is uploaded to its storage. */
function policyOf(storage: StorageConfig): string {
  const store =
    storage.kind === 'disk'
      ? ''
      : ` ${storage.publicUrl ?? storage.endpoint ?? `https://${storage.bucket}.s3.${storage.region}.amazonaws.com`}`;
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "font-src 'self'",
    "img-src 'self' data: blob:",
    `connect-src 'self'${store}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/** Reads a file on its first request, in the requested encoding. */
class BuiltFile {
  readonly #bytes = new Map<string, Buffer>();

  constructor(private readonly path: string) {}

  send(acceptEncoding: string | undefined, response: Response): void {
    const accepted = (acceptEncoding ?? '')
      .split(',')
      .filter((one) => !/;\s*q=0(?:\.0*)?\s*$/.test(one))
      .map((one) => one.trim().split(';')[0]);
    const [encoding, extension] =
      ENCODINGS.find(([name, end]) => accepted.includes(name) && existsSync(this.path + end)) ?? [];
    response.vary('Accept-Encoding');
    if (encoding !== undefined) response.set('Content-Encoding', encoding);
    const bytes = this.#read(extension ?? '');
    response.set({ 'Content-Type': TYPES[extname(this.path)], 'Content-Length': String(bytes.length) }).end(bytes);
  }

  #read(extension: string): Buffer {
    const known = this.#bytes.get(extension) ?? readFileSync(this.path + extension);
    this.#bytes.set(extension, known);
    return known;
  }
}
