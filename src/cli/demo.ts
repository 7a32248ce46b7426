import { spawnSync } from 'node:child_process';
import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { toString as drawQr } from 'qrcode';
import type { DemoFile } from '../demo/index.js';
import { runningServiceUrl } from '../core/service-address.js';

/**
 * The tour (docs/contract.md#the-tour), written as a merchant's program so that its steps can be copied. From the
 * service it imports only where one runs. The tour speaks HTTP and checks the signature with its own code.
 */

const AMOUNT = 4_990;
const REFUNDED = 1_990;
/** Pix key of the receiver of the payout, an example. The sandbox sends no money. */
const RECEIVER = '52998224725';
const WEBHOOK_LIMIT_MS = 10_000;
const REFUND_LIMIT_MS = 15_000;
const PAYOUT_LIMIT_MS = 15_000;
/** A verifier refuses older signatures: an attacker who has read a webhook could otherwise replay it at any time. */
const TOLERANCE_SECONDS = 300;

interface Target {
  readonly url: string;
  readonly key: string;
}

interface Charge {
  readonly id: string;
  readonly status: string;
  readonly checkout_url: string;
  readonly pix: { readonly br_code: string; readonly expires_at: string };
  readonly settlement: { readonly end_to_end_id?: string };
  readonly amount_refunded?: number;
}

interface Refund {
  readonly id: string;
  readonly status: string;
  readonly amount: number;
}

interface Payout {
  readonly id: string;
  readonly status: string;
  readonly settlement: { readonly end_to_end_id?: string };
  readonly failure?: { readonly reason: string };
  readonly approval?: object;
}

interface Webhook {
  readonly type: string;
  readonly signature: string;
  readonly rawBody: string;
}

/** A problem that a person can solve; the message explains how. */
class DemoError extends Error {
  override readonly name = 'DemoError';
}

/** A response that is not a 2xx. */
class Refused extends Error {
  override readonly name = 'Refused';
  constructor(
    readonly status: number,
    code: string,
    what: string,
    message: string,
  ) {
    super(`${what} was answered ${status} ${code}: ${message}`);
  }
}

const onTerminal = process.stdout.isTTY;
const colour = onTerminal && !process.env['NO_COLOR'];
const paint = (code: number, text: string): string => (colour ? `\u001b[${code}m${text}\u001b[0m` : text);
const bold = (text: string): string => paint(1, text);
const dim = (text: string): string => paint(2, text);
const green = (text: string): string => paint(32, text);
const reais = new Intl.NumberFormat('pt-BR', { minimumFractionDigits: 2 });
const money = (cents: number): string => `R$ ${reais.format(cents / 100)}`;

let steps = 0;

function step(title: string): void {
  process.stdout.write(`\n${bold(`${++steps}. ${title}`)}\n`);
}

function say(text: string): void {
  process.stdout.write(`   ${text.replaceAll('\n', '\n   ')}\n`);
}

/**
 * Environment variables override the file: whoever sets them means that service, not the one of the working directory.
 */
function findTarget(env: NodeJS.ProcessEnv): Target {
  const { RECEBE_URL: url, RECEBE_API_KEY: key } = env;
  if (url && key) return checked({ url: url.replace(/\/+$/, ''), key });
  if (url || key) throw new DemoError(`${url ? 'RECEBE_API_KEY' : 'RECEBE_URL'} is missing: set both or neither.`);
  const dataDir = env['DATA_DIR'] || './.data';
  const path = join(dataDir, 'demo.json');
  try {
    const demo = JSON.parse(readFileSync(path, 'utf8')) as DemoFile;
    // The file names the service that started last, which may have ended; a given port names another one.
    const given = env['PUBLIC_BASE_URL'] ?? (env['PORT'] ? `http://localhost:${env['PORT']}` : null);
    return checked({ url: given ?? runningServiceUrl(dataDir) ?? demo.base_url, key: demo.test_api_key });
  } catch (error) {
    if (error instanceof DemoError) throw error;
    throw new DemoError(
      `There is no demo account in ${path}. Do one of these:\n` +
        '  - start the service in another terminal with npm start; its first start writes that file\n' +
        '  - name its directory: DATA_DIR=/path/to/data npm run demo\n' +
        '  - name any service: RECEBE_URL=http://localhost:3000 RECEBE_API_KEY=ak_test_… npm run demo',
    );
  }
}

function checked(target: Target): Target {
  if (!URL.canParse(target.url)) throw new DemoError(`"${target.url}" is not the address of a service.`);
  // A live key would make a charge that somebody could really pay.
  if (!target.key.startsWith('ak_test_'))
    throw new DemoError('The tour needs a test key, one that starts with ak_test_.');
  return target;
}

async function call<T>(
  target: Target,
  method: string,
  path: string,
  body?: object,
  idempotencyKey?: string,
): Promise<T> {
  const what = `${method} ${path}`;
  let response: Response;
  try {
    response = await fetch(`${target.url}${path}`, {
      method,
      signal: AbortSignal.timeout(10_000),
      headers: {
        apikey: target.key,
        ...(body && { 'Content-Type': 'application/json' }),
        ...(idempotencyKey && { 'Idempotency-Key': idempotencyKey }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
  } catch {
    throw new DemoError(
      `No service answers at ${target.url}. Start it with npm start in another terminal, wait for "Recebe is ready", ` +
        'and run npm run demo again.',
    );
  }
  const answer = (await response.json().catch(() => ({}))) as { error?: { code?: string; message?: string } };
  if (response.ok) return answer as T;
  throw new Refused(response.status, answer.error?.code ?? '', what, answer.error?.message ?? response.statusText);
}

/** A merchant's webhook receiver: stores the raw body, answers 2xx at once, and works later. */
class Receiver {
  readonly #received: Webhook[] = [];
  readonly #server: Server = createServer((request, response) => {
    void this.#take(request).finally(() => response.writeHead(204).end());
  });

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/webhooks`;
  }

  async waitFor(type: string): Promise<Webhook> {
    const deadline = Date.now() + WEBHOOK_LIMIT_MS;
    for (;;) {
      const found = this.#received.find((webhook) => webhook.type === type);
      if (found) return found;
      if (Date.now() > deadline) {
        throw new DemoError(
          `No ${type} webhook came within ${WEBHOOK_LIMIT_MS / 1000} s. The service must be able to reach this ` +
            'machine at 127.0.0.1, so run the tour where the service runs, and look at its log.',
        );
      }
      await delay(10);
    }
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #take(request: IncomingMessage): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    this.#received.push({
      type: String(request.headers['x-service-event-type']),
      signature: String(request.headers['x-service-signature']),
      // The received bytes: parsing and writing the JSON again may change it and invalidate the signature.
      rawBody: Buffer.concat(chunks).toString('utf8'),
    });
  }
}

function verify(webhook: Webhook, secret: string): void {
  say(`X-Service-Signature: ${webhook.signature}`);
  const match = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(webhook.signature);
  if (!match) throw new DemoError('The signature header does not have the form t=<seconds>,v1=<64 hex digits>.');
  const [, t = '', v1 = ''] = match;
  const age = Math.floor(Date.now() / 1000) - Number(t);
  say(`a. t is ${age} s ago, v1 is what the service has computed`);
  if (Math.abs(age) > TOLERANCE_SECONDS) throw new DemoError('The signature is too old to be trusted.');
  const signed = `${t}.${webhook.rawBody}`;
  say(`b. signed text: t, a dot and the raw body, ${Buffer.byteLength(signed)} bytes`);
  const ours = createHmac('sha256', secret).update(signed).digest('hex');
  say(`c. HMAC-SHA256 of it with the endpoint's secret: ${ours}`);
  if (!timingSafeEqual(Buffer.from(ours), Buffer.from(v1))) {
    throw new DemoError(
      'The signature does not match: this webhook is not from the service, or was changed on its way.',
    );
  }
  say(`d. equal to v1: ${green('the webhook is genuine')}`);
}

async function balance(target: Target): Promise<number> {
  return (await call<{ available: number }>(target, 'GET', '/v1/wallets/balance?currency=BRL')).available;
}

async function refundEnd(target: Target, paymentId: string, refund: Refund): Promise<Refund> {
  const deadline = Date.now() + REFUND_LIMIT_MS;
  for (;;) {
    const { data } = await call<{ data: Refund[] }>(target, 'GET', `/v1/payments/${paymentId}/refunds`);
    const now = data.find(({ id }) => id === refund.id);
    if (now?.status === 'REFUNDED') return now;
    if (now?.status === 'FAILED') throw new DemoError(`The refund ${refund.id} failed.`);
    if (Date.now() > deadline) {
      throw new DemoError(
        `The refund ${refund.id} is still ${now?.status ?? 'unknown'} after ${REFUND_LIMIT_MS / 1000} s.`,
      );
    }
    await delay(100);
  }
}

async function payoutEnd(target: Target, { id }: Payout): Promise<Payout> {
  const deadline = Date.now() + PAYOUT_LIMIT_MS;
  for (;;) {
    const now = await call<Payout>(target, 'GET', `/v1/payouts/${id}`);
    if (now.status === 'paid') return now;
    if (now.failure) throw new DemoError(`The payout ${id} is ${now.status}: ${now.failure.reason}.`);
    if (now.approval) throw new DemoError(`The payout ${id} waits for a second person to approve it at the dashboard.`);
    if (Date.now() > deadline) {
      throw new DemoError(`The payout ${id} is still ${now.status} after ${PAYOUT_LIMIT_MS / 1000} s.`);
    }
    await delay(100);
  }
}

/** Deletes the endpoint, since the receiver has ended. A version without this route keeps the endpoint in the list. */
async function forget(target: Target, endpointId: string): Promise<void> {
  try {
    await call(target, 'DELETE', `/v1/webhooks/endpoints/${endpointId}`);
  } catch (error) {
    if (!(error instanceof Refused && error.status === 404)) throw error;
  }
}

async function tour(target: Target, receiver: Receiver): Promise<void> {
  const before = await balance(target);
  process.stdout.write(`A tour of the service at ${target.url}, in its sandbox: no real money moves.\n`);

  step('Register a webhook endpoint');
  const url = await receiver.start();
  const endpoint = await call<{ id: string; secret: string }>(target, 'POST', '/v1/webhooks/endpoints', {
    url,
    events: ['charge.created', 'charge.paid'],
  });
  say(`POST /v1/webhooks/endpoints: ${url}, in this very program`);
  say(`secret, shown only now: ${endpoint.secret.slice(0, 8)}… (${endpoint.secret.length} hex characters)`);

  step(`Create a Pix charge of ${money(AMOUNT)}`);
  const body = { amount: AMOUNT, payment_method: 'pix', description: 'Tour of the service', expires_in: 900 };
  const charge = await call<Charge>(target, 'POST', '/v1/charges', body, `demo-${randomUUID()}`);
  say(`POST /v1/charges: ${charge.id}, ${charge.status}, to be paid until ${charge.pix.expires_at}`);
  if (onTerminal) say(await drawQr(charge.pix.br_code, { type: 'terminal', small: true }));
  say(`Pix copia e cola: ${dim(charge.pix.br_code)}`);
  say(`Checkout page:    ${charge.checkout_url}`);

  step('The payer pays');
  const { charge: paid } = await call<{ charge: Charge }>(target, 'POST', `/v1/sandbox/charges/${charge.id}/simulate`, {
    event: 'pay',
  });
  say(`POST /v1/sandbox/charges/…/simulate: the charge is ${green(paid.status)}`);
  say(`end-to-end id: ${paid.settlement.end_to_end_id ?? 'none'}`);
  if (paid.status !== 'paid') throw new DemoError(`The charge should be paid and is ${paid.status}.`);

  step('The signed webhook arrives');
  const webhook = await receiver.waitFor('charge.paid');
  const event = JSON.parse(webhook.rawBody) as { id: string; type: string; data: { object: Charge } };
  say(`${event.type} ${event.id}: charge ${event.data.object.id}`);
  verify(webhook, endpoint.secret);
  if (event.data.object.id !== charge.id) throw new DemoError('The webhook is about another charge.');

  step('The money is in the wallet');
  const after = await balance(target);
  say(`before ${money(before)}, now ${money(after)}: ${green(`+ ${money(after - before)}`)}`);

  step(`Refund ${money(REFUNDED)} of it`);
  const paymentId = charge.id.replace(/^ch_/, '');
  const refund = await call<Refund>(target, 'POST', `/v1/payments/${paymentId}/refund`, {
    idempotencyKey: `demo-refund-${randomUUID()}`,
    amount: REFUNDED,
    reason: 'Tour of the service',
  });
  say(`POST /v1/payments/…/refund: ${refund.id}, ${money(refund.amount)}, ${refund.status}`);
  say(`set aside at once: the balance is ${money(await balance(target))}`);
  const done = await refundEnd(target, paymentId, refund);
  const now = await call<Charge>(target, 'GET', `/v1/charges/${charge.id}`);
  say(`${done.status}; the charge is ${green(now.status)}, ${money(now.amount_refunded ?? 0)} of it refunded`);

  const rest = AMOUNT - REFUNDED;
  step(`Pay ${money(rest)} out`);
  const request = {
    amount: rest,
    destination: { type: 'pix_key', key: RECEIVER },
    description: 'Tour of the service',
    // A second tour within ten minutes would look like an accident.
    allow_duplicate: true,
  };
  const payout = await call<Payout>(target, 'POST', '/v1/payouts', request, `demo-payout-${randomUUID()}`);
  say(`POST /v1/payouts: ${payout.id}, ${payout.status}, to the Pix key ${RECEIVER}`);
  say(`set aside at once: the balance is ${money(await balance(target))}`);
  const begun = Date.now();
  const sent = await payoutEnd(target, payout);
  const seconds = ((Date.now() - begun) / 1000).toFixed(1);
  say(`${green(sent.status)} after ${seconds} s; end-to-end id: ${sent.settlement.end_to_end_id ?? 'none'}`);
  await forget(target, endpoint.id);
  process.stdout.write(`\nThat was all of it. The same by curl: README.md. Every route: ${target.url}/docs\n`);
}

if (process.argv.includes('--fill')) {
  // A merchant cannot do this: the service's own command line, beside this program, does it.
  const cli = join(import.meta.dirname, 'main.js');
  process.exit(spawnSync(process.execPath, [cli, 'demo', 'fill'], { stdio: 'inherit' }).status ?? 1);
}
const receiver = new Receiver();
try {
  await tour(findTarget(process.env), receiver);
} catch (error) {
  const known = error instanceof DemoError || error instanceof Refused;
  process.stderr.write(`\n${known ? error.message : String((error as Error).stack ?? error)}\n`);
  process.exitCode = 1;
} finally {
  receiver.stop();
}
