import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import type { Cleanup } from './cleanup.js';
import { type Merchant, makeMerchants } from './merchants.js';
import { CHARGE, type ChargeAnswer, payPath } from './requests.js';
import { type Known, Replay } from './replay.js';
import { ServiceProcess } from './service-process.js';
import { WireRecorder } from './wire.js';

/** The database's share of the two hot paths, as the service was seen to send it. */
export interface Recordings {
  readonly create: Replay;
  readonly pay: Replay;
}

const WARM_UPS = 5;

/**
 * Runs the service as an API process on `databaseUrl` and records one create and one payment. As an API process, since
 * it then sends nothing but what its requests ask for: relay and sweepers belong to the workers. It migrates the
 * database, so this comes before any other use of it.
 */
export async function recordHotPaths(databaseUrl: string, directory: string, cleanup: Cleanup): Promise<Recordings> {
  const { recorder, url } = await WireRecorder.start(databaseUrl);
  try {
    const dataDir = mkdtempSync(join(directory, 'recorded-'));
    const service = await ServiceProcess.start(dataDir, cleanup, { DATABASE_URL: url, ROLE: 'api' });
    try {
      const [merchant] = await makeMerchants(databaseUrl, 1);
      if (!merchant) throw new Error('No merchant');
      // The first requests prepare the statements, once for each connection; that is no part of the usual request.
      for (let run = 0; run < WARM_UPS; run++)
        await pay(service, merchant, await create(service, merchant, `warm-up-${String(run)}`), run);

      const key = 'recorded-create';
      let charge: ChargeAnswer | null = null;
      const created = await recorder.record(async () => {
        charge = await create(service, merchant, key);
      });
      const { id, pix } = charge as unknown as ChargeAnswer;
      let endToEndId = '';
      const paid = await recorder.record(async () => {
        endToEndId = await pay(service, merchant, { id, pix }, WARM_UPS);
      });
      const known: Known = new Map<string | Buffer, string>([
        [merchant.accountId, 'account'],
        [merchant.keyHash, 'keyHash'],
        [id.slice('ch_'.length), 'transaction'],
        [pix.txid, 'txid'],
        [key, 'idempotencyKey'],
        [endToEndId, 'endToEndId'],
      ]);
      return { create: new Replay(created, known), pay: new Replay(paid, known) };
    } finally {
      await service.stop();
    }
  } finally {
    await recorder.stop();
  }
}

async function create(service: ServiceProcess, merchant: Merchant, key: string): Promise<ChargeAnswer> {
  const headers = { apikey: merchant.apiKey, 'content-type': 'application/json', 'idempotency-key': key };
  const response = await fetch(`${service.url}/v1/charges`, { method: 'POST', headers, body: CHARGE });
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
