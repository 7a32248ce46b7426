import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * A merchant's receiver in a process of its own, for two senders to be compared on: answers 200 to every POST; `GET
 * /count` tells how many came since the last asking.
 */
let count = 0;
const server = createServer((request, response) => {
  if (request.method === 'GET') {
    response.end(String(count));
    count = 0;
    return;
  }
  request.resume();
  request.on('end', () => {
    count += 1;
    response.writeHead(200).end();
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${String((server.address() as AddressInfo).port)}\n`);
});
