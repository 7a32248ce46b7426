import { spawn } from 'node:child_process';
import { createHmac, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Pool } from 'undici';
import type { Cleanup } from '../harness/cleanup.js';
import { processorSeconds, residentMemory } from './machine.js';
import { makeMerchants } from './merchants.js';
import { BareClients } from './replay.js';
import { ServiceProcess } from '../harness/service-process.js';
import type { Stage } from './stage.js';
import { registerEndpoint } from './webhook-latency.js';

const RECEIVER = join(import.meta.dirname, 'receiver-process.js');
const CONNECTIONS = 64;
const DRAIN_LIMIT_MS = 120_000;

export interface Drain {
  readonly perSecond: number;
  /** A bare client that signs and posts the same bodies to the same receiver. */
  readonly barePerSecond: number;
  readonly ratio: number;
  readonly processorMs: number | null;
  readonly memory: { nowMb: number; peakMb: number | null };
}

/** A worker process works off a backlog of due deliveries to one endpoint; nothing else runs. */
export async function measureDrain(
  stage: Stage,
  deliveries: number,
  directory: string,
  cleanup: Cleanup,
): Promise<Drain> {
  const receiver = spawn(process.execPath, [RECEIVER], { stdio: ['ignore', 'pipe', 'inherit'] });
  cleanup.add(async () => void receiver.kill());
  const [port] = (await once(receiver.stdout, 'data')) as [Buffer];
  const receiverUrl = `http://127.0.0.1:${port.toString('utf8').trim()}`;

  await stage.database.query('CREATE DATABASE drain');
  const url = new URL(stage.databaseUrl);
  url.pathname = '/drain';
  const env = {
    DATABASE_URL: url.href,
    WEBHOOK_ALLOW_PRIVATE: 'true',
    ENCRYPTION_KEY: randomBytes(32).toString('hex'),
  };
  const dataDir = mkdtempSync(join(directory, 'drain-'));
  const api = await ServiceProcess.start(dataDir, cleanup, { ...env, ROLE: 'api' });
  const [merchant] = await makeMerchants(url.href, 1);
  if (!merchant) throw new Error('No merchant');
  const endpointId = await registerEndpoint(api.url, merchant.apiKey, receiverUrl);
  await api.stop();

  const database = await BareClients.connect(url.href, 1, cleanup);
  const payload = await backlog(database, merchant.accountId, endpointId, deliveries);
  // Before the worker and again after it: each lasts less than a second, in which a machine may be faster or slower.
  const bareBefore = await bare(receiverUrl, payload, deliveries);
  const worker = await ServiceProcess.start(dataDir, cleanup, { ...env, ROLE: 'worker' });
  const before = processorSeconds(worker.pid);
  const done = await drained(database, deliveries);
  const after = processorSeconds(worker.pid);
  const memory = residentMemory(worker.pid);
  await worker.stop();

  const [row] = await database.query<{ attempts: number; seconds: number }>(
    `SELECT count(*)::int AS attempts,
       extract(epoch FROM max(started_at + duration_ms * interval '1 ms') - min(started_at))::float8 AS seconds
     FROM webhook_attempts`,
  );
  if (row?.attempts !== deliveries) throw new Error(`${String(row?.attempts)} attempts for ${String(done)} deliveries`);
  const bareSeconds = (bareBefore + (await bare(receiverUrl, payload, deliveries))) / 2;
  receiver.kill();
  const perSecond = deliveries / row.seconds;
  const barePerSecond = deliveries / bareSeconds;
  return {
    perSecond,
    barePerSecond,
    ratio: perSecond / barePerSecond,
    processorMs: before === null || after === null ? null : ((after - before) * 1000) / deliveries,
    memory,
  };
}

/** Due deliveries as the relay writes them, each of an event of its own. @returns the body that each of them carries */
async function backlog(
  database: BareClients,
  accountId: string,
  endpointId: string,
  deliveries: number,
): Promise<string> {
  const payload = JSON.stringify({
    id: `evt_${'0'.repeat(32)}`,
    object: 'event',
    api_version: '2026-11-01',
    type: 'charge.paid',
    created_at: new Date().toISOString(),
    data: { object: { id: 'ch_00000000-0000-7000-8000-000000000000', filler: 'x'.repeat(800) } },
  });
  await database.query(
    `INSERT INTO webhook_deliveries (id, account_id, mode, endpoint_id, event_id, subject_id, event_type, payload,
       status, max_attempts, next_attempt_at, created_at, updated_at)
     SELECT gen_random_uuid(), $1, 'test', $2, gen_random_uuid(), gen_random_uuid(), 'charge.paid', $3, 'PENDING', 15,
       now(), now(), now() FROM generate_series(1, $4::int)`,
    [accountId, endpointId, payload, deliveries],
  );
  await database.query('ANALYZE webhook_deliveries');
  return payload;
}

async function drained(database: BareClients, deliveries: number): Promise<number> {
  const deadline = performance.now() + DRAIN_LIMIT_MS;
  for (;;) {
    const [row] = await database.query<{ done: number }>(
      `SELECT count(*)::int AS done FROM webhook_deliveries WHERE status = 'DELIVERED'`,
    );
    if (row?.done === deliveries) return row.done;
    if (performance.now() > deadline)
      throw new Error(`Of ${String(deliveries)} deliveries ${String(row?.done)} went out`);
    await delay(100);
  }
}

/** @returns seconds */
async function bare(url: string, payload: string, posts: number): Promise<number> {
  const pool = new Pool(url, { connections: CONNECTIONS });
  const secret = randomBytes(32).toString('hex');
  let next = 0;
  const send = async (): Promise<void> => {
    while (next < posts) {
      next += 1;
      const t = Math.floor(Date.now() / 1000);
      const hex = createHmac('sha256', secret)
        .update(`${String(t)}.${payload}`)
        .digest('hex');
      const response = await pool.request({
        method: 'POST',
        path: '/',
        headers: { 'content-type': 'application/json', 'x-service-signature': `t=${String(t)},v1=${hex}` },
        body: payload,
      });
      await response.body.dump();
    }
  };
  const began = performance.now();
  await Promise.all(Array.from({ length: CONNECTIONS }, send));
  const seconds = (performance.now() - began) / 1000;
  await pool.close();
  return seconds;
}
