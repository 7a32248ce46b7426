import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { HttpLoad } from './http-load.js';
import { PAY, payPath } from './requests.js';
import type { OpenCharge } from './workload.js';

const ARRIVAL_LIMIT_MS = 30_000;

/** @returns the endpoint's id */
export async function registerEndpoint(serviceUrl: string, apiKey: string, url: string): Promise<string> {
  const response = await fetch(`${serviceUrl}/v1/webhooks/endpoints`, {
    method: 'POST',
    headers: { apikey: apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({ url, events: ['charge.paid'] }),
  });
  if (response.status !== 201) throw new Error(`No endpoint: ${await response.text()}`);
  return ((await response.json()) as { id: string }).id;
}

export async function removeEndpoint(serviceUrl: string, apiKey: string, id: string): Promise<void> {
  const path = `${serviceUrl}/v1/webhooks/endpoints/${id}`;
  const response = await fetch(path, { method: 'DELETE', headers: { apikey: apiKey } });
  if (response.status !== 200) throw new Error(`Not deleted: ${await response.text()}`);
}

/** A merchant's receiver that answers 200 and remembers when each charge's `charge.paid` arrived. */
export class WebhookTimer {
  readonly #arrivals = new Map<string, number>();
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      const at = performance.now();
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        response.writeHead(200).end();
        const id = /"ch_([0-9a-f-]{36})"/.exec(Buffer.concat(chunks).toString('utf8'))?.[1];
        if (id !== undefined && !this.#arrivals.has(id)) this.#arrivals.set(id, at);
      });
    });
  }

  /** Starts listening and registers itself as the merchant's only endpoint. */
  static async register(serviceUrl: string, apiKey: string): Promise<WebhookTimer> {
    const timer = new WebhookTimer();
    await new Promise<void>((resolve) => timer.#server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${String((timer.#server.address() as AddressInfo).port)}/hook`;
    await registerEndpoint(serviceUrl, apiKey, url);
    return timer;
  }

  /**
   * Pays `charges` at a steady rate, even while earlier ones are still running. Measures from sending each `pay` to the
   * arrival of its webhook.
   * @returns milliseconds, one for each charge
   * @throws Error when a payment is refused or a webhook does not come
   */
  async run(load: HttpLoad, charges: readonly OpenCharge[], perSecond: number): Promise<number[]> {
    const sentAt: number[] = [];
    const answers: Promise<string | null>[] = [];
    const started = performance.now();
    for (const [index, { id, merchant }] of charges.entries()) {
      const wait = started + (index * 1000) / perSecond - performance.now();
      if (wait > 0) await delay(wait);
      sentAt.push(performance.now());
      answers.push(load.post(index, payPath(`ch_${id}`), { apikey: merchant.apiKey }, PAY, 200));
    }
    for (const refusal of await Promise.all(answers)) {
      if (refusal !== null) throw new Error(`A payment was refused: ${refusal}`);
    }
    const deadline = performance.now() + ARRIVAL_LIMIT_MS;
    for (;;) {
      const arrivals = charges.map(({ id }) => this.#arrivals.get(id));
      const times = arrivals.flatMap((at, index) => (at === undefined ? [] : [at - (sentAt[index] ?? Number.NaN)]));
      if (times.length === charges.length) return times;
      if (performance.now() > deadline) {
        throw new Error(`Of ${String(charges.length)} webhooks ${String(times.length)} arrived`);
      }
      await delay(20);
    }
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
