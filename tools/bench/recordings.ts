import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { type Callers, callersOf, type Request } from './authentication.js';
import type { Cleanup } from '../harness/cleanup.js';
import { type Merchant, makeMerchants } from './merchants.js';
import { type ChargeAnswer, newCharge, payPath } from './requests.js';
import { type Known, Replay } from './replay.js';
import { ServiceProcess } from '../harness/service-process.js';
import { type Turn, WireRecorder } from './wire.js';

/** Statements of the two hot paths, recorded from the running service. */
export interface Recordings {
  readonly create: Replay;
  readonly pay: Replay;
  /** Queries of a request that ends right after the guards, by caller. */
  readonly authentication: Readonly<Record<keyof Callers, number>>;
}

const WARM_UPS = 5;
const ATTEMPTS = 10;

/**
 * Runs the service on `databaseUrl` and records a create and a payment. As an API process the service sends only the
 * statements of its requests: relay and sweepers belong to the workers. The service migrates the database, so this runs
 * before any other use of it.
 */
export async function recordHotPaths(databaseUrl: string, directory: string, cleanup: Cleanup): Promise<Recordings> {
  const { recorder, url } = await WireRecorder.start(databaseUrl);
  try {
    const dataDir = mkdtempSync(join(directory, 'recorded-'));
    const service = await ServiceProcess.start(dataDir, cleanup, { DATABASE_URL: url, ROLE: 'api' });
    try {
      const [merchant] = await makeMerchants(databaseUrl, 1);
      if (!merchant) throw new Error('No merchant');
      // The first requests prepare the statements once for each connection, which a usual request does not.
      for (let run = 0; run < WARM_UPS; run++)
        await pay(service, merchant, await create(service, merchant, `warm-up-${String(run)}`), run);

      const created = await recordOne(recorder, async (attempt) => {
        const key = `recorded-create-${String(attempt)}`;
        return { key, charge: await create(service, merchant, key) };
      });
      const { key } = created.result;
      // Each attempt pays a new charge: a charge that is paid twice is credited only once.
      let { charge } = created.result;
      const paid = await recordOne(
        recorder,
        (attempt) => pay(service, merchant, charge, WARM_UPS + attempt),
        async (attempt) => void (charge = await create(service, merchant, `recorded-pay-${String(attempt)}`)),
      );
      const endToEndId = paid.result;
      const callers = await callersOf(databaseUrl, service, merchant);
      const known: Known = new Map<string, string>([
        [merchant.accountId, 'account'],
        [merchant.keyHash.toString('hex'), 'keyHash'],
        ...[created.result.charge, charge].flatMap(({ id, pix }): [string, 'transaction' | 'txid'][] => [
          [id.slice('ch_'.length), 'transaction'],
          [pix.txid, 'txid'],
        ]),
        [key, 'idempotencyKey'],
        [endToEndId, 'endToEndId'],
      ]);
      return {
        create: new Replay(created.turns, known),
        pay: new Replay(paid.turns, known),
        authentication: {
          open: await countQueries(recorder, service, callers.open),
          key: await countQueries(recorder, service, callers.key),
          login: await countQueries(recorder, service, callers.login),
        },
      };
    } finally {
      await service.stop();
    }
  } finally {
    await recorder.stop();
  }
}

/**
 * Every half second the process writes its request log, outside any request: a recording with these statements is
 * repeated.
 */
async function recordOne<T>(
  recorder: WireRecorder,
  work: (attempt: number) => Promise<T>,
  prepare: (attempt: number) => Promise<void> = async () => undefined,
): Promise<{ turns: Turn[]; result: T }> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    let result: T | undefined;
    await prepare(attempt);
    const turns = await recorder.record(async () => {
      result = await work(attempt);
    });
    const foreign = turns.flat().some(({ name }) => name.startsWith('request_logs.'));
    if (!foreign) return { turns, result: result as T };
  }
  throw new Error(`${String(ATTEMPTS)} recordings were all disturbed`);
}

async function countQueries(
  recorder: WireRecorder,
  service: ServiceProcess,
  { method, path, headers }: Request,
): Promise<number> {
  const { turns } = await recordOne(recorder, async () => {
    const response = await fetch(`${service.url}${path}`, { method, headers });
    if (response.status !== 404) throw new Error(`Not 404: ${await response.text()}`);
  });
  return turns.flat().filter(({ name }) => name !== '').length;
}

async function create(service: ServiceProcess, merchant: Merchant, key: string): Promise<ChargeAnswer> {
  const headers = { apikey: merchant.apiKey, 'content-type': 'application/json', 'idempotency-key': key };
  const response = await fetch(`${service.url}/v1/charges`, { method: 'POST', headers, body: newCharge() });
  if (response.status !== 201) throw new Error(`No charge: ${await response.text()}`);
  return (await response.json()) as ChargeAnswer;
}

/** @returns the payment's end-to-end id */
async function pay(service: ServiceProcess, merchant: Merchant, charge: ChargeAnswer, run: number): Promise<string> {
  const headers = { apikey: merchant.apiKey, 'content-type': 'application/json' };
  const endToEndId = `E00000000202601011200bench${String(run).padStart(6, '0')}`;
  const body = JSON.stringify({ event: 'pay', end_to_end_id: endToEndId });
  const response = await fetch(`${service.url}${payPath(charge.id)}`, { method: 'POST', headers, body });
  if (response.status !== 200) throw new Error(`Not paid: ${await response.text()}`);
  return endToEndId;
}
