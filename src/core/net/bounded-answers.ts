import type { Socket } from 'node:net';
import type { buildConnector } from 'undici';

/** An interim answer (1xx) but 101, which would be another protocol. */
const INTERIM = /^HTTP\/1\.[01] 1(?!01)\d\d/;
/** Bytes that are needed to recognise the status line of an interim answer (`INTERIM`). */
const STATUS_LENGTH = 12;
/** Room for the headers of any real interim answer. */
const MAX_INTERIM_BYTES = 16 * 1024;
const EMPTY = Buffer.alloc(0);

/** The socket brought more bytes than any honest answer has: headers, body, and whatever is neither. */
export class EndlessAnswerError extends Error {
  override readonly name = 'EndlessAnswerError';
  readonly code = 'endless_answer';
}

const staleErrors = new WeakSet<Error>();

/** Whether the error ended a reused connection before any byte of an answer: the peer had closed it meanwhile. */
export const isStaleConnection = (error: unknown): boolean => error instanceof Error && staleErrors.has(error);

/**
 * Makes connections for undici whose sockets are destroyed when an answer brings more than `maxBytes`. undici counts
 * headers and bodies alone; reason phrases, chunk extensions and blank lines have no limit there. Interim answers are
 * skipped here, because undici treats `100 Continue` as an error.
 */
export function boundAnswers(connect: buildConnector.connector, maxBytes: number): buildConnector.connector {
  return (target, callback) =>
    connect(target, (...result) => {
      if (result[1]) bound(result[1], maxBytes);
      callback(...result);
    });
}

/** Replaces the two methods by which undici writes a request and reads its answer. */
function bound(socket: Socket, maxBytes: number): void {
  const read = socket.read.bind(socket) as () => Buffer | null;
  const write = socket.write.bind(socket) as (...args: unknown[]) => boolean;
  let bytes = 0;
  let isReused = false;
  /** Start of an answer that may be interim; null once the answer itself has begun. */
  let start: Buffer | null = null;

  // A request is one or two writes with nothing read between them.
  socket.write = (...args: unknown[]): boolean => {
    isReused ||= bytes > 0;
    bytes = 0;
    start = EMPTY;
    return write(...args);
  };
  socket.read = (): Buffer | null => {
    for (let chunk = read(); chunk !== null; chunk = read()) {
      bytes += chunk.length;
      if (bytes > maxBytes || (start?.length ?? 0) > MAX_INTERIM_BYTES) {
        socket.destroy(new EndlessAnswerError('an answer without end'));
        return null;
      }
      if (start === null) return chunk;
      start = withoutInterim(Buffer.concat([start, chunk]));
      if (isUndecided(start)) continue;
      const begun = start;
      start = null;
      return begun;
    }
    return null;
  };
  socket.on('error', (error) => {
    if (isReused && bytes === 0) staleErrors.add(error);
  });
}

const statusLine = (bytes: Buffer): string => bytes.toString('latin1', 0, STATUS_LENGTH);

/** Whether more bytes have to come before undici may see these. */
function isUndecided(bytes: Buffer): boolean {
  const line = statusLine(bytes);
  return INTERIM.test(line) || (line.length < STATUS_LENGTH && 'HTTP/1.'.startsWith(line.slice(0, 7)));
}

/** Removes whole interim answers; each ends with a blank line. */
function withoutInterim(bytes: Buffer): Buffer {
  let rest = bytes;
  while (INTERIM.test(statusLine(rest))) {
    const end = rest.indexOf('\r\n\r\n');
    if (end === -1) break;
    rest = rest.subarray(end + 4);
  }
  return rest;
}
