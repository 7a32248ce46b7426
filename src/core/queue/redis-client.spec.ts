import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { waitFor } from '../../../test/support/wait.js';
import { openRedis } from './redis-client.js';

const SILENCE_MS = 200;

/** A server that speaks as much Redis as a PING needs, and whose connections can be made to misbehave by number. */
describe('openRedis', () => {
  let server: Server;
  let sockets: Socket[];
  let onData: (connection: number, socket: Socket) => void;
  let url: string;

  const answer = (socket: Socket): void => void socket.write('+PONG\r\n');

  beforeEach(async () => {
    sockets = [];
    server = createServer((socket) => {
      const connection = sockets.push(socket);
      socket.on('error', () => undefined);
      socket.on('data', () => onData(connection, socket));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `redis://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });

  afterEach(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, 'close');
  });

  const open = (): ReturnType<typeof openRedis> => {
    const client = openRedis(url, SILENCE_MS, {
      enableReadyCheck: false,
      disableClientInfo: true,
      maxRetriesPerRequest: null,
    });
    client.on('error', () => undefined);
    return client;
  };

  it('gives up a connection that has fallen silent and sends the command again on the next', async () => {
    onData = (connection, socket) => {
      if (connection > 1) answer(socket);
    };
    const client = open();
    expect(await client.ping()).toBe('PONG');
    expect(sockets).toHaveLength(2);
    client.disconnect();
  });

  it('does not close the next connection because the previous one was silent', async () => {
    onData = (connection, socket) => {
      if (connection === 1) socket.destroy();
      else answer(socket);
    };
    const client = open();
    expect(await client.ping()).toBe('PONG');
    const until = Date.now() + 3 * SILENCE_MS;
    await waitFor('the old limit to pass', () => Date.now() > until);
    expect(sockets).toHaveLength(2);
    expect(client.status).toBe('ready');
    client.disconnect();
  });
});
