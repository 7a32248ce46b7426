import { Client, type Dispatcher } from 'undici';

/**
 * Keep-alive connections to the service, one request at a time on each. Uses undici's lowest level, without a promise
 * or stream for the body. The load generator shares the machine with the service and must leave it the processor.
 */
export class HttpLoad {
  readonly #clients: Client[];

  /** @param connect for a server that requires a client certificate */
  constructor(origin: string, connections: number, connect: Client.Options['connect'] = {}) {
    this.#clients = Array.from({ length: connections }, () => new Client(origin, { pipelining: 1, connect }));
  }

  /** Opens every connection, so that no measured request pays for one. */
  async open(): Promise<void> {
    await Promise.all(this.#clients.map((_, index) => this.send(index, 'GET', '/health/live', {}, null, 200)));
  }

  /** @returns null when the answer had the `expected` status, otherwise status and body */
  send(
    connection: number,
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    path: string,
    headers: Record<string, string>,
    body: string | null,
    expected: number,
    onData: (chunk: string) => void = () => undefined,
  ): Promise<string | null> {
    return new Promise((resolve, reject) => {
      let status = 0;
      let wrong = '';
      const handler: Dispatcher.DispatchHandler = {
        onRequestStart: () => undefined,
        onResponseStart: (_controller, statusCode) => {
          status = statusCode;
        },
        onResponseData: (_controller, chunk) => {
          if (status !== expected) wrong += chunk.toString('utf8');
          else onData(chunk.toString('utf8'));
        },
        onResponseEnd: () => resolve(status === expected ? null : `${String(status)} ${wrong}`),
        onResponseError: (_controller, error) => reject(error),
      };
      const client = this.#clients[connection % this.#clients.length];
      if (!client) throw new Error('A load without connections');
      client.dispatch({ method, path, headers: { 'content-type': 'application/json', ...headers }, body }, handler);
    });
  }

  post(
    connection: number,
    path: string,
    headers: Record<string, string>,
    body: string,
    expected: number,
  ): Promise<string | null> {
    return this.send(connection, 'POST', path, headers, body, expected);
  }

  /** @returns the body of a 200 @throws Error with any other answer */
  async get(connection: number, path: string, headers: Record<string, string>): Promise<string> {
    let body = '';
    const refusal = await this.send(connection, 'GET', path, headers, null, 200, (chunk) => (body += chunk));
    if (refusal !== null) throw new Error(`GET ${path}: ${refusal}`);
    return body;
  }

  async close(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.close()));
  }
}
