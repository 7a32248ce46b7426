import { setImmediate } from 'node:timers/promises';
import { ApiError, badRequest, invalidRequest } from '../errors/index.js';
import { Found, scanJson } from './json-scan.js';
import { MAX_BODY_BYTES, type RawBody } from './raw-body.js';

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });

/** Reading a smaller one takes no time worth waiting for. */
const LARGE_BODY_BYTES = 8 * 1024;
let lastTurn: Promise<unknown> = Promise.resolve();

/**
 * Reads a body when it is its turn: in one turn of the event loop one large body, for several that arrive together
 * would keep everybody else waiting for all of them.
 * @throws as parseBody
 */
export async function readBody(raw: RawBody): Promise<{ value: object; found: Found }> {
  if (raw.bytes.length > LARGE_BODY_BYTES) await (lastTurn = lastTurn.then(() => setImmediate()));
  return parseBody(raw);
}

/**
 * Bytes → JSON, after the guards and before the validation.
 * @returns the object (an empty body is one without fields) and what is wrong with its texts, keys and numbers
 * @throws ApiError 400, 413 or 415
 */
export function parseBody(raw: RawBody): { value: object; found: Found } {
  if (raw.tooLarge) {
    throw new ApiError(
      413,
      'invalid_request_error',
      'payload_too_large',
      `The body is larger than ${MAX_BODY_BYTES} bytes.`,
    );
  }
  if (raw.bytes.length === 0) return { value: {}, found: new Found() };
  if (!/^application\/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?$/i.test(raw.contentType.trim())) {
    throw new ApiError(
      415,
      'invalid_request_error',
      'unsupported_media_type',
      'Send the body as JSON with the header Content-Type: application/json.',
    );
  }
  let text: string;
  try {
    text = decoder.decode(raw.bytes);
  } catch {
    throw badRequest('invalid_request', 'The body is not valid UTF-8.');
  }
  const { found, isExcessive } = scanJson(text);
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
  return { value, found };
}
