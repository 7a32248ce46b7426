import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll } from '@jest/globals';
import type { TestService } from './service.js';
import { waitFor } from './wait.js';

export interface ReceivedWebhook {
  readonly headers: IncomingHttpHeaders;
  readonly rawBody: string;
  readonly body: Record<string, unknown>;
  readonly at: number;
  readonly path: string;
}

/** Bodies that the receivers of this spec have got. When a service stops, they are compared with its document. */
export const deliveredBodies: Record<string, unknown>[] = [];

/** A merchant's webhook receiver over real HTTP, whose answer can be changed in the middle of a test. */
export class WebhookReceiver {
  readonly received: ReceivedWebhook[] = [];
  /** Status of the next answers. */
  answer = 200;
  /** How long what is not held waits for its answer. */
  delayMs = 0;
  #held: (() => void)[] | null = null;
  readonly #server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const rawBody = Buffer.concat(chunks).toString('utf8');
      const body = JSON.parse(rawBody) as Record<string, unknown>;
      deliveredBodies.push(body);
      this.received.push({
        headers: request.headers,
        rawBody,
        body,
        at: performance.now(),
        path: request.url ?? '',
      });
      const respond = (): void => void response.writeHead(this.answer).end('ok');
      if (this.#held) this.#held.push(respond);
      else if (this.delayMs > 0) setTimeout(respond, this.delayMs);
      else respond();
    });
  });

  static async start(): Promise<WebhookReceiver> {
    const receiver = new WebhookReceiver();
    await receiver.#listen();
    return receiver;
  }

  /** As `TestService.forSpec`. */
  static forSpec(): WebhookReceiver {
    const receiver = new WebhookReceiver();
    beforeAll(() => receiver.#listen());
    afterAll(() => receiver.stop());
    return receiver;
  }

  #listen(): Promise<void> {
    return new Promise((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
  }

  /** Forgets what came, and answers well again. */
  reset(): void {
    this.answer = 200;
    this.received.length = 0;
  }

  /** Keeps what comes without an answer until `release`, which is also what this gives. */
  hold(): () => void {
    this.#held ??= [];
    return () => this.release();
  }

  release(): void {
    const held = this.#held ?? [];
    this.#held = null;
    for (const respond of held) respond();
  }

  get held(): number {
    return this.#held?.length ?? 0;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/hook`;
  }

  ofType(type: string): ReceivedWebhook[] {
    return this.received.filter((webhook) => webhook.headers['x-service-event-type'] === type);
  }

  waitForType(type: string, count = 1, limitMs?: number): Promise<ReceivedWebhook[]> {
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

/** How many deliveries there are of each status that one has. */
export async function deliveryStatuses(service: TestService): Promise<Record<string, number>> {
  const rows = await service.sql<{ status: string; count: number }>(
    'SELECT status, count(*)::int AS count FROM webhook_deliveries GROUP BY status',
  );
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
}
