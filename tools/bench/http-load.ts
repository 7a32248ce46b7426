import { Client, type Dispatcher } from 'undici';

/**
 * Keep-alive connections to the service, one request at a time on each. Uses undici's lowest level, without a promise
 * or stream for the body. The load generator shares the machine with the service and must leave it the processor.
 */
export class HttpLoad {
  readonly #clients: Client[];

  constructor(origin: string, connections: number) {
    this.#clients = Array.from({ length: connections }, () => new Client(origin, { pipelining: 1 }));
  }

  /** Opens every connection, so that no measured request pays for one. */
  async open(): Promise<void> {
    await Promise.all(this.#clients.map((_, index) => this.send(index, 'GET', '/health/live', {}, null, 200)));
  }

  /**
   * @param isRight checks the body of an answer with the `expected` status
   * @returns null for the right answer, otherwise status and body
   */
  send(
    connection: number,
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    headers: Record<string, string>,
    body: string | null,
    expected: number,
    isRight?: (body: string) => boolean,
  ): Promise<string | null> {
    return new Promise((resolve, reject) => {
      let status = 0;
      let text = '';
      const handler: Dispatcher.DispatchHandler = {
        onRequestStart: () => undefined,
        onResponseStart: (_controller, statusCode) => {
          status = statusCode;
        },
        onResponseData: (_controller, chunk) => {
          if (status !== expected || isRight) text += chunk.toString('utf8');
        },
        onResponseEnd: () =>
          resolve(status === expected && (isRight?.(text) ?? true) ? null : `${String(status)} ${text}`),
        onResponseError: (_controller, error) => reject(error),
      };
      const client = this.#clients[connection % this.#clients.length];
      if (!client) throw new Error('A load without connections');
      client.dispatch({ method, path, headers: { 'content-type': 'application/json', ...headers }, body }, handler);
    });
  }

  async close(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.close()));
  }
}
