import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { waitFor } from './wait.js';

export interface ReceivedWebhook {
  readonly headers: IncomingHttpHeaders;
  readonly rawBody: string;
  readonly body: Record<string, unknown>;
  readonly at: number;
}

/** A merchant's webhook receiver over real HTTP, whose answer can be changed in the middle of a test. */
export class WebhookReceiver {
  readonly received: ReceivedWebhook[] = [];
  /** Status of the next answers. */
  answer = 200;
  #held: (() => void)[] | null = null;
  readonly #server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const rawBody = Buffer.concat(chunks).toString('utf8');
      this.received.push({
        headers: request.headers,
        rawBody,
        body: JSON.parse(rawBody) as Record<string, unknown>,
        at: performance.now(),
      });
      const respond = (): void => void response.writeHead(this.answer).end('ok');
      if (this.#held) this.#held.push(respond);
      else respond();
    });
  });

  static async start(): Promise<WebhookReceiver> {
    const receiver = new WebhookReceiver();
    await new Promise<void>((resolve) => receiver.#server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  /** Keeps what comes without an answer until the function that this gives is called. */
  hold(): () => void {
    const held: (() => void)[] = [];
    this.#held = held;
    return () => {
      this.#held = null;
      for (const respond of held) respond();
    };
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/hook`;
  }

  ofType(type: string): ReceivedWebhook[] {
    return this.received.filter((webhook) => webhook.headers['x-service-event-type'] === type);
  }

  waitForType(type: string, count = 1, limitMs = 10_000): Promise<ReceivedWebhook[]> {
    return waitFor(
      `${count} × ${type} (have: ${this.received.map((webhook) => String(webhook.headers['x-service-event-type'])).join(', ')})`,
      () => {
        const found = this.ofType(type);
        return found.length >= count ? found : null;
      },
      limitMs,
    );
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
