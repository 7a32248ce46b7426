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

/** Time limit for a body that is read as a whole. Files are streams and have the server's longer limit. */
const BODY_MS = 10_000;

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });

/** If a body took longer to arrive, its caller is authenticated again: the key or login may have ended meanwhile. */
const LATE_MS = 100;

/** Size below which a body is read without waiting for a turn. */
const LARGE_BODY_BYTES = 8 * 1024;
let lastTurn: Promise<unknown> = Promise.resolve();

export const READS_BODY = Symbol('reads its body');

/**
 * Gives the handler the request's stream. Without this decorator the body is parsed as JSON before the handler runs.
 */
export function ReadsBody(): MethodDecorator {
  return SetMetadata(READS_BODY, true);
}

/** A parsed JSON body, with the faults in its texts, keys and numbers. An empty body has no fields. */
export class JsonBody {
  constructor(
    readonly value: object = {},
    readonly found = new Found(),
    /** Number of values in the body. */
    readonly values = 0,
  ) {}
}

/**
 * Returns the tokens that a request takes from its caller's bucket: one for each started 16 KiB of body, at least one.
 * Uses only the headers, before the body is read; a body of unknown length counts as the largest.
 */
export function bodyTokensOf(request: Pick<IncomingMessage, 'headers'>): number {
  return Math.max(1, Math.ceil(bodyBytesOf(request) / BYTES_PER_TOKEN));
}

/**
 * Returns the size of a body by its headers, at most the largest allowed size; unknown length counts as the largest.
 */
export function bodyBytesOf({ headers }: Pick<IncomingMessage, 'headers'>): number {
  if (headers['transfer-encoding'] !== undefined) return MAX_BODY_BYTES;
  return Math.min(Number(headers['content-length'] ?? 0), MAX_BODY_BYTES);
}

/** Event of a request whose body was parsed, with the number of its values. */
export const PARSED = 'parsed';

/**
 * Returns the tokens for the values of a body: stored and sent again, each takes many times its size in the request.
 */
export function valueTokensOf(values: number): number {
  return Math.floor(values / VALUES_PER_TOKEN);
}

/** Returns the tokens for an answer: one for each 16 KiB after the first. */
export function answerTokensOf(bytes: number): number {
  return Math.max(0, Math.ceil(bytes / BYTES_PER_TOKEN) - 1);
}

/**
 * Reads a body to its end.
 * @returns null for more than `maxBytes`
 * @throws ApiError 400 when the body is not whole within ten seconds, or its connection ends before
 */
export async function readBytes(request: IncomingMessage, maxBytes: number): Promise<Buffer | null> {
  if (request.complete && !request.readableEnded) {
    // The whole body has arrived and counts, even if its sender has hung up since.
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
 * Reads and drops the rest of a body after its request was answered, for a while. If a connection is closed with unread
 * bytes, the caller may lose the answer.
 */
export async function drain(request: IncomingMessage, forMs: number): Promise<void> {
  const rest = readBytes(request, 0).catch(() => null);
  await within(forMs, rest);
}

/**
 * Reads the body as JSON. Large bodies are parsed one per turn of the event loop: several at once would keep all other
 * requests waiting.
 * @throws as parseBody; 401 or 403 for a caller whose access ended while the body arrived
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

/**
 * Returns whether a Content-Type is JSON in UTF-8. Clients also write `utf8`, or a semicolon with nothing behind it.
 */
function isUtf8Json(contentType: string): boolean {
  const [type = '', ...parameters] = contentType.toLowerCase().split(';');
  const isUtf8 = (parameter: string): boolean => /^(?:charset ?= ?"?utf-?8"?)?$/.test(parameter.trim());
  return type.trim() === 'application/json' && parameters.every(isUtf8);
}

/**
 * Parses bytes as JSON, after the guards and before the validation.
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
  // Keys of "metadata" that begin with "_" are dropped; `__proto__` goes first, before any code copies the object.
  const { metadata } = value as { metadata?: unknown };
  if (typeof metadata === 'object' && metadata !== null) Reflect.deleteProperty(metadata, '__proto__');
  return new JsonBody(value, found, values);
}
