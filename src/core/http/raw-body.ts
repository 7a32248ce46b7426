import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route reads its body itself, as a stream: `request.body` is one, and nothing of it has been read. */
    streamBody?: boolean;
    /** The route takes its body as it came, whatever it is: `request.body` stays a `RawBody`, of at most so many bytes. */
    rawBody?: { maxBytes: number };
  }
}

/** The largest body: docs/contract.md#bodies-and-values. */
export const MAX_BODY_BYTES = 256 * 1024;
/** What is read and thrown away of a body that is too large, so that its sender hears the answer; past it we hang up. */
const MAX_DRAIN_BYTES = 16 * 1024 * 1024;

/** The body as it came. It is parsed after the guards: an unauthenticated caller learns nothing about its body. */
export class RawBody {
  constructor(
    readonly bytes: Buffer,
    readonly contentType: string,
    readonly tooLarge: boolean,
  ) {}
}

/** `type/subtype`, as Fastify reads it. */
const MEDIA_TYPE = /^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+\s*(?:;|$)/;

export function registerRawBodyParser(instance: FastifyInstance): void {
  instance.removeAllContentTypeParsers();
  // Fastify itself refuses a malformed media type before any guard has run: a stranger would hear 415 instead of 401.
  instance.addHook('onRequest', (request, _reply, done) => {
    const { headers } = request.raw;
    const type = headers['content-type'];
    if (type !== undefined && !MEDIA_TYPE.test(type)) headers['content-type'] = 'application/octet-stream';
    done();
  });
  instance.addContentTypeParser('*', (request: FastifyRequest, payload, done) => {
    if (request.routeOptions.config.streamBody === true) {
      done(null, payload);
      return;
    }
    const maxBytes = request.routeOptions.config.rawBody?.maxBytes ?? MAX_BODY_BYTES;
    const chunks: Buffer[] = [];
    let size = 0;
    payload.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= maxBytes) chunks.push(chunk);
      else if (size > MAX_DRAIN_BYTES) request.raw.destroy();
    });
    payload.on('end', () => {
      const tooLarge = size > maxBytes;
      const contentType = request.headers['content-type'] ?? '';
      done(null, new RawBody(tooLarge ? Buffer.alloc(0) : Buffer.concat(chunks), contentType, tooLarge));
    });
    payload.on('error', (error: Error) => done(error, undefined));
  });
}

/**
 * Reads and throws away what is left of a body that nobody wants, so that its sender hears the answer; past 16 MiB we
 * hang up.
 */
export function discard(body: Readable): void {
  if (body.readableEnded || body.destroyed) return;
  let size = 0;
  body.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > MAX_DRAIN_BYTES) body.destroy();
  });
  // It is already being answered.
  body.on('error', () => undefined);
}
