import type { IncomingMessage } from 'node:http';
import type { Request } from 'express';
import { setImmediate } from 'node:timers/promises';
import { SetMetadata } from '@nestjs/common';
import { ApiError, badRequest, invalidRequest } from '../errors/index.js';
import { within } from '../within.js';
import { Found, scanJson } from './json-scan.js';

/** docs/contract.md#bodies-and-values */
export const MAX_BODY_BYTES = 64 * 1024;
const BYTES_PER_TOKEN = 16 * 1024;
const VALUES_PER_TOKEN = 100;
/** Bytes of an unwanted body that are read and dropped, so that its sender gets the answer; then we hang up. */
export const MAX_DRAIN_BYTES = 16 * 1024 * 1024;

/** What a body that is read as a whole has time for; files, which are streams, have the server's longer time. */
const BODY_MS = 10_000;

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });

/** A caller whose body took longer to come is authenticated again: its key or login may have ended meanwhile. */
const LATE_MS = 100;

/** Reading a smaller one takes no time worth waiting for. */
const LARGE_BODY_BYTES = 8 * 1024;
let lastTurn: Promise<unknown> = Promise.resolve();

export const READS_BODY = Symbol('reads its body');

/** The handler takes the request's stream, whatever is in it; without this its body is JSON, and read before it. */
export function ReadsBody(): MethodDecorator {
  return SetMetadata(READS_BODY, true);
}

/** A body that was JSON, with what is wrong with its texts, keys and numbers; an empty one is one without fields. */
export class JsonBody {
  constructor(
    readonly value: object = {},
    readonly found = new Found(),
    /** How many are in it. */
    readonly values = 0,
  ) {}
}

/**
 * What a request takes from its caller's bucket: a token for each 16 KiB that its body begins, and at least one. Told by
 * the headers, before anything of the body is read; one that does not say its length counts as the largest.
 */
export function bodyTokensOf(request: Pick<IncomingMessage, 'headers'>): number {
  return Math.max(1, Math.ceil(bodyBytesOf(request) / BYTES_PER_TOKEN));
}

/** How large the headers say that a body is, at most as large as one may be; one that does not say it is the largest. */
export function bodyBytesOf({ headers }: Pick<IncomingMessage, 'headers'>): number {
  if (headers['transfer-encoding'] !== undefined) return MAX_BODY_BYTES;
  return Math.min(Number(headers['content-length'] ?? 0), MAX_BODY_BYTES);
}

/** Event of a request whose body was parsed, with the number of values that are in it. */
export const PARSED = 'parsed';

/** What these take from it, wherever they go: each is stored, read and sent again many times as large as it was sent. */
export function valueTokensOf(values: number): number {
  return Math.floor(values / VALUES_PER_TOKEN);
}

/** What an answer takes from it: a token for each 16 KiB after the first. */
export function answerTokensOf(bytes: number): number {
  return Math.max(0, Math.ceil(bytes / BYTES_PER_TOKEN) - 1);
}

/**
 * The bytes of a body, read to their end.
 * @returns null for more than `maxBytes`
 * @throws ApiError 400 when the body is not whole within ten seconds, or its connection ends before
 */
export async function readBytes(request: IncomingMessage, maxBytes: number): Promise<Buffer | null> {
  if (request.complete && !request.readableEnded) {
    // All of it is here, and counts although its sender may have hung up since.
    const bytes = (request.read() as Buffer | null) ?? Buffer.alloc(0);
    return bytes.length > maxBytes ? null : bytes;
  }
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const brokenOff = (): void => reject(badRequest('invalid_request', 'The body broke off.'));
    const timer = setTimeout(
      () => reject(badRequest('invalid_request', `The body was not sent within ${BODY_MS / 1000} s.`)),
      BODY_MS,
    );
    if (request.destroyed || request.readableEnded) brokenOff();
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= maxBytes) chunks.push(chunk);
      else if (size > MAX_DRAIN_BYTES) request.destroy();
    });
    request.on('end', () => {
      clearTimeout(timer);
      resolve(size > maxBytes ? null : Buffer.concat(chunks, size));
    });
    request.on('error', brokenOff).on('close', () => {
      clearTimeout(timer);
      brokenOff();
    });
  });
}

/**
 * Reads and throws away what still comes of a body after its request was answered, for a while: a connection that is
 * closed with unread bytes takes the answer back.
 */
export async function drain(request: IncomingMessage, forMs: number): Promise<void> {
  const rest = readBytes(request, 0).catch(() => null);
  await within(forMs, rest);
}

/**
 * The body as JSON, read when it is its turn: in one turn of the event loop one large body, for several that arrive
 * together would keep everybody else waiting for all of them.
 * @throws as parseBody; 401 or 403 for a caller who is not let in any more when it has come
 */
export async function readJson(request: Pick<Request, 'admitAgain'> & IncomingMessage): Promise<JsonBody> {
  const { headers } = request;
  const askedAt = performance.now();
  if (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined) return new JsonBody();
  const bytes = await readBytes(request, MAX_BODY_BYTES);
  if (performance.now() - askedAt > LATE_MS) await request.admitAgain?.();
  if (bytes !== null && bytes.length > LARGE_BODY_BYTES) await (lastTurn = lastTurn.then(() => setImmediate()));
  const body = parseBody(bytes, headers['content-type']);
  request.emit(PARSED, body.values);
  return body;
}

/** Whether a Content-Type is JSON in UTF-8. Clients also write `utf8`, and a semicolon with nothing behind it. */
function isUtf8Json(contentType: string): boolean {
  const [type = '', ...parameters] = contentType.toLowerCase().split(';');
  const isUtf8 = (parameter: string): boolean => /^(?:charset ?= ?"?utf-?8"?)?$/.test(parameter.trim());
  return type.trim() === 'application/json' && parameters.every(isUtf8);
}

/**
 * Bytes → JSON, after the guards and before the validation.
 * @param bytes null for too many
 * @throws ApiError 400, 413 or 415
 */
export function parseBody(bytes: Buffer | null, contentType = ''): JsonBody {
  if (bytes === null) {
    throw new ApiError(
      413,
      'invalid_request_error',
      'payload_too_large',
      `The body is larger than ${MAX_BODY_BYTES} bytes.`,
    );
  }
  if (bytes.length === 0) return new JsonBody();
  if (!isUtf8Json(contentType)) {
    throw new ApiError(
      415,
      'invalid_request_error',
      'unsupported_media_type',
      'Send the body as JSON with the header Content-Type: application/json.',
    );
  }
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    throw badRequest('invalid_request', 'The body is not valid UTF-8.');
  }
  const { found, isExcessive, values } = scanJson(text);
  if (isExcessive) throw invalidRequest(found.named, found.unnamed);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw badRequest('invalid_request', 'The body is not valid JSON.');
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    throw badRequest('invalid_request', 'The body must be a JSON object.');
  }
  // Of "metadata" keys that begin with "_" are dropped, and this one before anybody copies it.
  const { metadata } = value as { metadata?: unknown };
  if (typeof metadata === 'object' && metadata !== null) Reflect.deleteProperty(metadata, '__proto__');
  return new JsonBody(value, found, values);
}
