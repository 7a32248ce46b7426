import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A merchant's receiver in a process of its own, for two senders to be compared on: answers 200 to everything. */
const server = createServer((request, response) => {
  request.resume();
  request.on('end', () => response.writeHead(200).end());
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${String((server.address() as AddressInfo).port)}\n`);
});
