import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CA_CERTIFICATE, CLIENT } from '../psp-simulator/certificates.js';
import { DEFAULT_MERCHANT } from '../psp-simulator/simulator.js';
import { newTxid } from '../../src/brazil/index.js';
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

/** Latency of the PSP for each request of any kind. */
const PSP_LATENCY_MS = 50;
const CONNECTIONS = 16;
const STEADY_PER_SECOND = 100;
const WARM_UP_SECONDS = 5;

/** The bare side is the PSP alone: a plain client requests charges in the same way. */
export interface LiveCreates {
  /** Requests at a steady rate. */
  readonly steady: Comparison;
  /** Every connection sends its next request as soon as it is answered. */
  readonly utmost: Comparison;
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
  const { steady, utmost, connections } = await measureLiveCreates(stage, rounds, dataDir, cleanup);
  const charges = ({ service, processorMs, disturbed }: Comparison): string => {
    const cpu = processorMs === null ? '' : ` · ${processorMs.toFixed(2)} ms CPU each`;
    return `${perSecond(service).toFixed(0)}/s · ${latencies(service)}${cpu}${disturbedText(disturbed)}`;
  };
  const added = ({ service, bare }: Comparison): number =>
    percentile(service.latencies, 0.5) - percentile(bare.latencies, 0.5);
  const psp = `  the PSP alone (${String(PSP_LATENCY_MS)} ms)`;
  return [
    told(`live charges at ${String(STEADY_PER_SECOND)}/s, 16 connections`, charges(steady)),
    told(psp, latencies(steady.bare)),
    below('  added at the median', added(steady), 15, 'ms'),
    told('live charges, 16 connections, as many as they get', charges(utmost)),
    told(psp, latencies(utmost.bare)),
    told('  added at the median', `${added(utmost).toFixed(1)} ms`),
    {
      figure: '  connections to the PSP',
      measured: `${String(connections.made)} for ${String(connections.charges)} charges`,
      target: { text: 'at most 32', met: connections.made <= 32 },
    },
  ];
}

/** Creates charges with a live key through a PSP in a separate process, alternating with bare requests to that PSP. */
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
    const service = (seconds: number, rate: number | null): Promise<Round> =>
      liveCreates(load, merchant.apiKey, seconds, rate);
    const bare = (seconds: number, rate: number | null): Promise<Round> =>
      putCharges(direct, psp, token, seconds, rate);
    // During this time nobody else connects to the PSP.
    const before = await connectionsTo(psp);
    const warmUp = await service(WARM_UP_SECONDS, null);
    const made = (await connectionsTo(psp)) - before;
    if (warmUp.refused > 0) throw new Error(`Not every live charge was created: ${String(warmUp.firstRefusal)}`);
    await bare(0.5, null);
    const both = (rate: number | null): Promise<Comparison> =>
      compare(stage, pairs, {
        service: () => service(roundSeconds, rate),
        bare: () => bare(roundSeconds, rate),
      });
    return {
      steady: await both(STEADY_PER_SECOND),
      utmost: await both(null),
      connections: { made, charges: warmUp.count },
    };
  } finally {
    await Promise.all([load.close(), direct.close()]);
  }
}

function liveCreates(load: HttpLoad, apiKey: string, seconds: number, rate: number | null): Promise<Round> {
  const create = (worker: number): Promise<string | null> => {
    const headers = { apikey: apiKey, 'idempotency-key': randomUUID() };
    return load.post(worker, '/v1/charges', headers, newCharge(), 201);
  };
  return drive(CONNECTIONS, seconds, (worker) => () => create(worker), rate);
}

function putCharges(
  direct: HttpLoad,
  { baseUrl }: Psp,
  token: string,
  seconds: number,
  rate: number | null,
): Promise<Round> {
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
    rate,
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
