import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Cleanup } from '../harness/cleanup.js';
import { ownerUrl } from '../harness/local-servers.js';
import { ServiceProcess } from '../harness/service-process.js';
import { HttpLoad } from './http-load.js';
import { makeMerchants, type Merchant } from './merchants.js';
import { percentile } from './stats.js';

const HOSTILE_CONNECTIONS = 6;
const ROUNDS = 3;
const ROUND_MS = 3_000;
const PAUSE_MS = 25;
const CHARGE = JSON.stringify({ amount: 1990, payment_method: 'pix' });
/** The most fields a body may have: each is looked up, and none is known. */
const DEAREST = JSON.stringify(Object.fromEntries(Array.from({ length: 4_990 }, (_, n) => [String(n), n])));

/** Medians of one merchant's reads and creates in milliseconds, alternately alone and beside a hostile merchant. */
export interface Neighbour {
  readonly alone: number;
  readonly beside: number;
}

/** Starts a separate service with the default limits. */
export async function measureNeighbour(directory: string, cleanup: Cleanup): Promise<Neighbour> {
  const dataDir = mkdtempSync(join(directory, 'neighbour-'));
  const service = await ServiceProcess.start(dataDir, cleanup, { RATE_LIMIT: 'on' });
  const databaseUrl = ownerUrl(dataDir);
  const [hostile, neighbour] = await makeMerchants(databaseUrl, 2);
  if (!hostile || !neighbour) throw new Error('No merchants');
  const load = new HttpLoad(service.url, 1 + HOSTILE_CONNECTIONS);
  await load.open();
  const [alone, beside]: [number[], number[]] = [[], []];
  try {
    await medianOf(load, neighbour);
    for (let round = 0; round < ROUNDS; round++) {
      alone.push(await medianOf(load, neighbour));
      const stop = new AbortController();
      const senders = sendWithoutPause(load, hostile, stop.signal);
      beside.push(await medianOf(load, neighbour));
      stop.abort();
      await senders;
    }
  } finally {
    await load.close();
    await service.stop();
  }
  return { alone: percentile(alone, 0.5), beside: percentile(beside, 0.5) };
}

async function medianOf(load: HttpLoad, { apiKey }: Merchant): Promise<number> {
  const times: number[] = [];
  const until = performance.now() + ROUND_MS;
  for (let count = 0; performance.now() < until; count++) {
    const began = performance.now();
    const refusal =
      count % 2 === 0
        ? await load.send(0, 'GET', '/v1/wallets', { apikey: apiKey }, null, 200)
        : await load.post(0, '/v1/charges', { apikey: apiKey, 'idempotency-key': `${began}` }, CHARGE, 201);
    if (refusal !== null) throw new Error(`The neighbour was refused: ${refusal}`);
    times.push(performance.now() - began);
    await delay(PAUSE_MS);
  }
  return percentile(times, 0.5);
}

/** Answers are 400 while the merchant has tokens, and 429 afterwards. */
async function sendWithoutPause(load: HttpLoad, { apiKey }: Merchant, signal: AbortSignal): Promise<void> {
  const sender = async (connection: number): Promise<void> => {
    while (!signal.aborted) {
      const headers = { apikey: apiKey, 'idempotency-key': 'one-of-many' };
      await load.post(1 + connection, '/v1/charges', headers, DEAREST, 400).catch(() => undefined);
    }
  };
  await Promise.all(Array.from({ length: HOSTILE_CONNECTIONS }, (_, connection) => sender(connection)));
}
