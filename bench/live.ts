import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CA_CERTIFICATE, CLIENT } from '../psp-simulator/certificates.js';
import { DEFAULT_MERCHANT } from '../psp-simulator/simulator.js';
import { newTxid } from '../src/brazil/index.js';
import type { Cleanup } from '../harness/cleanup.js';
import type { Progress } from '../harness/run.js';
import { disturbedText } from './disturbance.js';
import { HttpLoad } from './http-load.js';
import { configure, connectionsTo, type Psp, startPsp } from './live-psp.js';
import { compare, type Comparison, latencies } from './measures.js';
import { makeMerchants } from './merchants.js';
import { below, type Line, told } from './report.js';
import { newCharge } from './requests.js';
import type { Stage } from './stage.js';
import { drive, percentile, perSecond, type Round } from './stats.js';

/** What the PSP takes for each request, whatever it is. */
const PSP_LATENCY_MS = 50;
const CONNECTIONS = 16;
const WARM_UP_SECONDS = 3;

export interface LiveCreates {
  /** The bare side is the PSP alone, asked for charges by a plain client with as many connections. */
  readonly comparison: Comparison;
  readonly connections: { readonly made: number; readonly charges: number };
}

interface Rounds {
  readonly pairs: number;
  readonly roundSeconds: number;
}

export async function liveLines(
  stage: Stage,
  rounds: Rounds,
  dataDir: string,
  cleanup: Cleanup,
  progress: Progress,
): Promise<Line[]> {
  progress(`live charges at a PSP that takes ${String(PSP_LATENCY_MS)} ms, in turn with bare requests to it`);
  const { comparison, connections } = await measureLiveCreates(stage, rounds, dataDir, cleanup);
  const { service, bare, processorMs, disturbed } = comparison;
  const cpu = processorMs === null ? '' : ` · ${processorMs.toFixed(2)} ms CPU each`;
  const added = percentile(service.latencies, 0.5) - percentile(bare.latencies, 0.5);
  return [
    told(
      'live charges created, 16 connections',
      `${perSecond(service).toFixed(0)}/s · ${latencies(service)}${cpu}${disturbedText(disturbed)}`,
    ),
    told(`  the PSP alone (${String(PSP_LATENCY_MS)} ms)`, latencies(bare)),
    below('  added at the median', added, 15, 'ms'),
    {
      figure: '  connections to the PSP',
      measured: `${String(connections.made)} for ${String(connections.charges)} charges`,
      target: { text: 'at most 32', met: connections.made <= 32 },
    },
  ];
}

/** Charges of a live key over the wire to a PSP in a process of its own, in turn with the bare requests to that PSP. */
export async function measureLiveCreates(
  stage: Stage,
  { pairs, roundSeconds }: Rounds,
  dataDir: string,
  cleanup: Cleanup,
): Promise<LiveCreates> {
  const psp = await startPsp(PSP_LATENCY_MS, dataDir, cleanup);
  const [merchant] = await makeMerchants(stage.databaseUrl, 1, 'live');
  if (!merchant) throw new Error('No merchant');
  await configure(psp, merchant.accountId, dataDir);
  const load = new HttpLoad(stage.service.url, CONNECTIONS);
  const direct = new HttpLoad(new URL(psp.baseUrl).origin, CONNECTIONS, {
    ca: CA_CERTIFICATE,
    cert: CLIENT.cert,
    key: CLIENT.key,
  });
  try {
    await load.open();
    const token = await tokenOf(direct, psp);
    const service = (seconds: number): Promise<Round> => liveCreates(load, merchant.apiKey, seconds);
    const bare = (seconds: number): Promise<Round> => putCharges(direct, psp, token, seconds);
    // Meanwhile nobody else connects to it.
    const before = await connectionsTo(psp);
    const warmUp = await service(WARM_UP_SECONDS);
    const made = (await connectionsTo(psp)) - before;
    if (warmUp.refused > 0) throw new Error(`Not every live charge was created: ${String(warmUp.firstRefusal)}`);
    await bare(0.5);
    const comparison = await compare(stage, pairs, {
      service: () => service(roundSeconds),
      bare: () => bare(roundSeconds),
    });
    return { comparison, connections: { made, charges: warmUp.count } };
  } finally {
    await Promise.all([load.close(), direct.close()]);
  }
}

function liveCreates(load: HttpLoad, apiKey: string, seconds: number): Promise<Round> {
  return drive(CONNECTIONS, seconds, (worker) => () => {
    const headers = { apikey: apiKey, 'idempotency-key': randomUUID() };
    return load.post(worker, '/v1/charges', headers, newCharge(), 201);
  });
}

function putCharges(direct: HttpLoad, { baseUrl }: Psp, token: string, seconds: number): Promise<Round> {
  const headers = { authorization: `Bearer ${token}` };
  const { pathname } = new URL(baseUrl);
  const body = JSON.stringify({
    calendario: { expiracao: 3600 },
    valor: { original: '19.90' },
    chave: DEFAULT_MERCHANT.pixKeys[0],
  });
  return drive(
    CONNECTIONS,
    seconds,
    (worker) => () => direct.send(worker, 'PUT', `${pathname}/cob/${newTxid()}`, headers, body, 201),
  );
}

async function tokenOf(direct: HttpLoad, { tokenUrl, directory }: Psp): Promise<string> {
  const secret = readFileSync(join(directory, 'client-secret'), 'utf8');
  const basic = Buffer.from(`${DEFAULT_MERCHANT.clientId}:${secret}`).toString('base64');
  const headers = { authorization: `Basic ${basic}`, 'content-type': 'application/x-www-form-urlencoded' };
  let body = '';
  const { pathname } = new URL(tokenUrl);
  const keep = (chunk: string): void => void (body += chunk);
  const refusal = await direct.send(0, 'POST', pathname, headers, 'grant_type=client_credentials', 200, keep);
  if (refusal !== null) throw new Error(`The PSP gives no token: ${refusal}`);
  return (JSON.parse(body) as { access_token: string }).access_token;
}
