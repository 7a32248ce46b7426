import { spawn } from 'node:child_process';
import { createHmac, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Pool } from 'undici';
import type { Cleanup } from '../harness/cleanup.js';
import { newId } from '../src/core/ids.js';
import { processorSeconds, residentMemory } from './machine.js';
import { makeMerchants } from './merchants.js';
import { BareClients } from './replay.js';
import { ServiceProcess } from '../harness/service-process.js';
import type { Stage } from './stage.js';
import { registerEndpoint } from './webhook-latency.js';

const RECEIVER = join(import.meta.dirname, 'receiver-process.js');
const CONNECTIONS = 64;
const DRAIN_LIMIT_MS = 120_000;
/** Before what is measured, by the worker and by the bare client: neither is timed while its code is being compiled. */
const WARM_UP = 3_000;
/** In which a backlog is written, before it falls due. */
const WRITING_MS = 2_000;
const PAYLOAD = JSON.stringify({
  id: `evt_${'0'.repeat(32)}`,
  object: 'event',
  api_version: '2026-11-01',
  type: 'charge.paid',
  created_at: new Date().toISOString(),
  data: { object: { id: 'ch_00000000-0000-7000-8000-000000000000', filler: 'x'.repeat(800) } },
});

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
  // Before the worker and again after it: each lasts less than a second, in which a machine may be faster or slower.
  const bareBefore = await bare(receiverUrl, deliveries);
  const worker = await ServiceProcess.start(dataDir, cleanup, { ...env, ROLE: 'worker' });
  const to = { accountId: merchant.accountId, endpointId };
  await drained(database, await backlog(database, to, WARM_UP));
  const due = await backlog(database, to, deliveries);
  const before = processorSeconds(worker.pid);
  await drained(database, due);
  const after = processorSeconds(worker.pid);
  const memory = residentMemory(worker.pid);
  await worker.stop();

  const [row] = await database.query<{ seconds: number }>(
    `SELECT extract(epoch FROM max(started_at + duration_ms * interval '1 ms') - min(started_at))::float8 AS seconds
     FROM webhook_attempts WHERE delivery_id = ANY ($1::uuid[])`,
    [due.ids],
  );
  const bareSeconds = (bareBefore + (await bare(receiverUrl, deliveries))) / 2;
  receiver.kill();
  const perSecond = deliveries / (row?.seconds ?? Number.NaN);
  const barePerSecond = deliveries / bareSeconds;
  return {
    perSecond,
    barePerSecond,
    ratio: perSecond / barePerSecond,
    processorMs: before === null || after === null ? null : ((after - before) * 1000) / deliveries,
    memory,
  };
}

interface Backlog {
  readonly ids: readonly string[];
  readonly dueAt: Date;
}

/** Deliveries as the relay writes them, each of an event of its own, which all fall due when they are there. */
async function backlog(
  database: BareClients,
  { accountId, endpointId }: { accountId: string; endpointId: string },
  deliveries: number,
): Promise<Backlog> {
  const now = new Date();
  const dueAt = new Date(now.getTime() + WRITING_MS);
  const newIds = (): string[] => Array.from({ length: deliveries }, () => newId(now));
  const ids = newIds();
  await database.query(
    `WITH d AS (SELECT * FROM unnest($1::uuid[], $2::uuid[]) AS d (id, message_id)),
     messages AS (
       INSERT INTO webhook_messages (id, account_id, mode, event_id, event_type, manual, payload, delivery_ids)
       SELECT message_id, $3, 'test', message_id, 'charge.paid', false, $5, ARRAY[id] FROM d)
     INSERT INTO webhook_deliveries (id, account_id, mode, endpoint_id, message_id, subject_id, event_type,
       status, max_attempts, next_attempt_at, created_at, updated_at)
     SELECT id, $3, 'test', $4, message_id, message_id, 'charge.paid', 'PENDING', 15, $6::timestamptz, $7, $7 FROM d`,
    [ids, newIds(), accountId, endpointId, PAYLOAD, dueAt, now],
  );
  await database.query('ANALYZE webhook_deliveries');
  if (Date.now() > dueAt.getTime()) throw new Error('The backlog took longer to write than the worker was to wait');
  return { ids, dueAt };
}

/** Looks seldom: what it costs is taken from the worker. */
async function drained(database: BareClients, { ids, dueAt }: Backlog): Promise<void> {
  const deadline = dueAt.getTime() + DRAIN_LIMIT_MS;
  await delay(dueAt.getTime() - Date.now());
  for (;;) {
    await delay(500);
    const [row] = await database.query<{ attempts: number }>(
      'SELECT count(*)::int AS attempts FROM webhook_attempts WHERE started_at >= $1',
      [dueAt],
    );
    if (row?.attempts === ids.length) break;
    if (Date.now() > deadline) throw new Error(`Of ${String(ids.length)} deliveries ${String(row?.attempts)} went out`);
  }
  const [row] = await database.query<{ done: number }>(
    `SELECT count(*)::int AS done FROM webhook_deliveries WHERE id = ANY ($1::uuid[]) AND status = 'DELIVERED'`,
    [ids],
  );
  if (row?.done !== ids.length) throw new Error(`${String(row?.done)} of ${String(ids.length)} were delivered`);
}

/** Warmed up as the worker is. @returns seconds */
async function bare(url: string, posts: number): Promise<number> {
  const pool = new Pool(url, { connections: CONNECTIONS });
  const secret = randomBytes(32).toString('hex');
  let left = 0;
  const send = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const t = Math.floor(Date.now() / 1000);
      const hex = createHmac('sha256', secret)
        .update(`${String(t)}.${PAYLOAD}`)
        .digest('hex');
      const response = await pool.request({
        method: 'POST',
        path: '/',
        headers: { 'content-type': 'application/json', 'x-service-signature': `t=${String(t)},v1=${hex}` },
        body: PAYLOAD,
      });
      await response.body.dump();
    }
  };
  const sendAll = async (count: number): Promise<void> => {
    left = count;
    await Promise.all(Array.from({ length: CONNECTIONS }, send));
  };
  await sendAll(WARM_UP);
  const began = performance.now();
  await sendAll(posts);
  const seconds = (performance.now() - began) / 1000;
  await pool.close();
  return seconds;
}
