import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, createServer as createSocketServer, type Server as SocketServer } from 'node:net';
import type { Cleanup } from '../harness/cleanup.js';

export interface Receiver {
  readonly url: string;
  /** Fault of a dead receiver; null for a good one. */
  readonly fault: string | null;
  /** How often each event arrived, by its `evt_…` id; empty for a dead receiver. */
  readonly arrivals: Map<string, number>;
  /** Milliseconds from the event to its first arrival. */
  readonly delays: number[];
}

/**
 * Starts merchants' receivers: good ones, and `dead` ones with alternating faults (refusing, silent, breaking off,
 * answering 500).
 */
export async function startReceivers(good: number, dead: number, cleanup: Cleanup): Promise<Receiver[]> {
  const receivers: Receiver[] = [];
  const faults = [
    { fault: 'refuses connections', url: await refusing() },
    { fault: 'never answers', url: await sockets(cleanup, () => undefined) },
    { fault: 'breaks connections off', url: await sockets(cleanup, (socket) => socket.destroy()) },
    { fault: 'answers 500', url: await failing(cleanup) },
  ];
  const base = await answering(receivers, cleanup);
  for (let n = 0; n < good; n++) {
    receivers.push({ url: `${base}/${String(n)}`, fault: null, arrivals: new Map(), delays: [] });
  }
  for (let n = 0; n < dead; n++) {
    const { fault, url } = faults[n % faults.length] ?? { fault: '', url: '' };
    receivers.push({ url: `${url}/${String(n)}`, fault, arrivals: new Map(), delays: [] });
  }
  return receivers;
}

/** Answers 200 to everything and records arrivals by the number in the path. */
async function answering(receivers: readonly Receiver[], cleanup: Cleanup): Promise<string> {
  const server = createServer((request, response) => {
    const at = Date.now();
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      response.writeHead(200).end();
      const receiver = receivers[Number(request.url?.slice(1))];
      const event = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { id: string; created_at: string };
      const seen = receiver?.arrivals.get(event.id) ?? 0;
      receiver?.arrivals.set(event.id, seen + 1);
      if (seen === 0) receiver?.delays.push(at - Date.parse(event.created_at));
    });
  });
  // Under load a client may be late with its next request: the receiver must not close its connection.
  server.keepAliveTimeout = 60_000;
  return listening(server, cleanup, () => server.closeAllConnections());
}

async function failing(cleanup: Cleanup): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(500).end('out of order');
  });
  return listening(server, cleanup, () => server.closeAllConnections());
}

async function sockets(cleanup: Cleanup, onConnection: (socket: { destroy(): void }) => void): Promise<string> {
  const open = new Set<{ destroy(): void }>();
  const server = createSocketServer((socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
    socket.on('error', () => undefined);
    onConnection(socket);
  });
  return listening(server, cleanup, () => open.forEach((socket) => socket.destroy()));
}

/** An address without a listener: bound once, then released. */
async function refusing(): Promise<string> {
  const server = createSocketServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = urlOf(server);
  server.close();
  await once(server, 'close');
  return url;
}

async function listening(server: Server | SocketServer, cleanup: Cleanup, hangUp: () => void): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanup.add(async () => {
    const closed = once(server, 'close');
    server.close();
    hangUp();
    await closed;
  });
  return urlOf(server);
}

function urlOf(server: Server | SocketServer): string {
  return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
}
