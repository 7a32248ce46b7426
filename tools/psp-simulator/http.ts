import { type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type Server as TlsServer } from 'node:https';
import { type AddressInfo } from 'node:net';
import { type Answer } from './api.js';

const MAX_BODY = 1024 * 1024;

/** @throws Error when it is larger than 1 MiB or breaks off */
export async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    const bytes = chunk as Buffer;
    size += bytes.length;
    if (size > MAX_BODY) throw new Error('the body is larger than 1 MiB');
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString('utf8');
}

export function send(response: ServerResponse, { status, body, headers }: Answer, contentType: string): void {
  if (body === null) {
    response.writeHead(status, headers).end();
    return;
  }
  const bytes = Buffer.from(JSON.stringify(body));
  response.writeHead(status, { 'content-type': contentType, 'content-length': bytes.length, ...headers }).end(bytes);
}

/** On loopback; gives the port. */
export async function listen(server: Server | TlsServer, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject);
      resolve();
    });
  });
  return (server.address() as AddressInfo).port;
}

export async function close(server: Server | TlsServer): Promise<void> {
  if (!server.listening) return;
  await new Promise<void>((resolve) => {
    server.close(() => {
      resolve();
    });
    server.closeAllConnections();
  });
}
