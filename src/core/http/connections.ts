import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { addressBucket, siteBucket } from '../rate-limit/index.js';
import { MAX_DRAIN_BYTES } from './body.js';

/** The share of MAX_CONNECTIONS that one address may have, and the one of the /48 of an IPv6 address. */
const ONE_ADDRESS = 1 / 4;
const ONE_SITE = 1 / 2;
/** Maximum of unanswered requests of one connection. Common clients do not pipeline: they wait for each answer. */
const UNANSWERED = 4;
/** From this share of MAX_CONNECTIONS on none is kept alive: idle connections would keep other callers out. */
const CROWDED = 3 / 4;
/** Bytes that a connection may bring before a request and between two: Node.js takes headers of 16 KiB. */
const MAX_STRAY_BYTES = 64 * 1024;
/** Bytes of a body in chunks: as many as are read of any unwanted one, and a quarter as much for the frames. */
const MAX_CHUNKED_BYTES = 1.25 * MAX_DRAIN_BYTES;
/** A request that is on its way when the process ends has this long to arrive. */
const ARRIVAL_MS = 1_000;

interface Connection {
  /** Answers that are to come. */
  readonly unanswered: Set<ServerResponse>;
  /** The newest request until it is answered: an idle connection keeps no body in memory. */
  newest: IncomingMessage | null;
  /** Bytes since the newest request began, or since it was complete. */
  bytes: number;
  maxBytes: number;
}

/** Open connections of the HTTP server: how many one address may have, what comes on them, and how they end. */
export class Connections {
  readonly #open = new Map<Socket, Connection>();
  /** Open ones by address and site, see `addressBucket`; those of trusted proxies are not counted. */
  readonly #counts = new Map<string, number>();

  /** @param max beyond it the server itself closes connections */
  constructor(
    private readonly max: number,
    private readonly isTrusted: (address: string) => boolean,
  ) {}

  get isCrowded(): boolean {
    return this.#open.size > this.max * CROWDED;
  }

  /** Beyond its part a connection is closed unheard, so that one address cannot keep all others out. */
  add(socket: Socket): void {
    const connection: Connection = {
      unanswered: new Set(),
      newest: null,
      bytes: 0,
      maxBytes: MAX_STRAY_BYTES,
    };
    this.#open.set(socket, connection);
    socket.once('close', () => {
      this.#open.delete(socket);
      // Node.js emits `close` on the answer whose turn it is, and not on the answers behind it.
      setImmediate(() => connection.unanswered.forEach(hangUp));
    });
    // After the parser, which Node.js has registered before.
    socket.on('data', (part: Buffer) => countBytes(socket, connection, part.length));
    const { remoteAddress = '' } = socket;
    if (!this.isTrusted(remoteAddress)) this.#countAddress(socket, remoteAddress);
  }

  /** Unread answers pile up in memory: a client that sends on without reading them is hung up on. */
  isWithinTurn(request: IncomingMessage, response: ServerResponse): boolean {
    const connection = this.#open.get(request.socket);
    if (!connection || connection.unanswered.size >= UNANSWERED) {
      request.socket.destroy();
      return false;
    }
    connection.newest = request;
    connection.bytes = 0;
    connection.maxBytes = request.headers['transfer-encoding'] === undefined ? Infinity : MAX_CHUNKED_BYTES;
    connection.unanswered.add(response);
    response.once('close', () => {
      connection.unanswered.delete(response);
      if (connection.newest === request && request.complete) expectNothing(connection);
    });
    return true;
  }

  /** Says `Connection: close` in the last answer that each connection is to get. */
  keepNoneAlive(): void {
    for (const { unanswered } of this.#open.values()) {
      const last = [...unanswered].at(-1);
      if (last && !last.headersSent) last.setHeader('Connection', 'close');
    }
  }

  /**
   * Ends connections on which no request is to be answered. Node.js waits for half a request, and for the first one,
   * without a limit once it listens no more.
   */
  endUnasked(): void {
    for (const [socket, connection] of this.#open) {
      setTimeout(() => {
        if (connection.unanswered.size === 0) socket.destroy();
      }, ARRIVAL_MS).unref();
    }
  }

  #countAddress(socket: Socket, address: string): void {
    const bucket = addressBucket(address);
    const site = siteBucket(bucket);
    const isWithin = (key: string, share: number): boolean => (this.#counts.get(key) ?? 0) + 1 <= this.max * share;
    if (!isWithin(bucket, ONE_ADDRESS) || (site !== null && !isWithin(site, ONE_SITE))) {
      socket.destroy();
      return;
    }
    for (const key of site === null ? [bucket] : [bucket, site]) {
      this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
      socket.once('close', () => {
        const left = (this.#counts.get(key) ?? 1) - 1;
        if (left > 0) this.#counts.set(key, left);
        else this.#counts.delete(key);
      });
    }
  }
}

/**
 * Node.js skips blank lines between requests, blanks within headers and zeros before the size of a chunk without counting
 * them. A body without chunks has only bytes that it counts.
 */
function countBytes(socket: Socket, connection: Connection, bytes: number): void {
  connection.bytes += bytes;
  if (connection.bytes > connection.maxBytes) socket.destroy();
  if (connection.newest?.complete === true) expectNothing(connection);
}

function expectNothing(connection: Connection): void {
  connection.newest = null;
  connection.bytes = 0;
  connection.maxBytes = MAX_STRAY_BYTES;
}

function hangUp(response: ServerResponse): void {
  response.destroyed = true;
  response.emit('close');
}
