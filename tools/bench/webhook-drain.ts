import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Cleanup } from '../harness/cleanup.js';
import { newId } from '../../src/core/ids.js';
import { processorSeconds, residentMemory } from './machine.js';
import { makeMerchants } from './merchants.js';
import { BareClients } from './replay.js';
import { ServiceProcess } from '../harness/service-process.js';
import type { Stage } from './stage.js';
import { registerEndpoint } from './webhook-latency.js';

const RECEIVER = join(import.meta.dirname, 'receiver-process.js');
const BARE_CLIENT = join(import.meta.dirname, 'bare-client-process.js');
const DRAIN_LIMIT_MS = 120_000;
/** Time in which the second backlog is written, before it falls due. */
const WRITING_MS = 2_000;
const PAYLOAD = JSON.stringify({
  id: `evt_${'0'.repeat(32)}`,
  object: 'event',
  api_version: '2026-11-01',
  type: 'charge.paid',
  created_at: new Date().toISOString(),
  data: { object: { id: 'ch_00000000-0000-7000-8000-000000000000', filler: 'x'.repeat(800) } },
});

export interface Rate {
  readonly perSecond: number;
  /** Rate of a bare client that signs the same body as many times and posts it to the same receiver. */
  readonly barePerSecond: number;
}

export interface Drain {
  /** Rate of a process that has just started. */
  readonly fresh: Rate;
  /** Rate of the same process in a second run, with its code compiled. */
  readonly warm: Rate;
  /** Processor time in the first run. */
  readonly processorMs: number | null;
  readonly memory: { nowMb: number; peakMb: number | null };
}

/** Measures a worker process that sends two backlogs of due deliveries to one endpoint; nothing else runs. */
export async function measureDrain(
  stage: Stage,
  deliveries: number,
  directory: string,
  cleanup: Cleanup,
): Promise<Drain> {
  const receiver = await startReceiver(cleanup);

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
  const endpointId = await registerEndpoint(api.url, merchant.apiKey, receiver.url);
  await api.stop();

  const database = await BareClients.connect(url.href, 1, cleanup);
  const to = { accountId: merchant.accountId, endpointId };
  const first = await backlog(database, to, deliveries, new Date());
  // Runs before the worker and again after it: each takes less than a second, in which a machine may be faster or
  // slower.
  await bare(receiver.url, deliveries); // warms up the receiver for the worker
  const before = await bare(receiver.url, deliveries);
  const worker = await ServiceProcess.start(dataDir, cleanup, { ...env, ROLE: 'worker' });
  const began = processorSeconds(worker.pid);
  const fresh = await drained(database, first);
  const ended = processorSeconds(worker.pid);
  const second = await backlog(database, to, deliveries, new Date(Date.now() + WRITING_MS));
  const warm = await drained(database, second);
  const memory = residentMemory(worker.pid);
  await worker.stop();
  const after = await bare(receiver.url, deliveries);
  receiver.stop();
  return {
    fresh: { perSecond: fresh, barePerSecond: (before[0] + after[0]) / 2 },
    warm: { perSecond: warm, barePerSecond: (before[1] + after[1]) / 2 },
    processorMs: began === null || ended === null ? null : ((ended - began) * 1000) / deliveries,
    memory,
  };
}

/** Starts a receiver that answers 200 in a separate process. */
export async function startReceiver(cleanup: Cleanup): Promise<{ url: string; stop: () => void }> {
  const receiver = spawn(process.execPath, [RECEIVER], { stdio: ['ignore', 'pipe', 'inherit'] });
  cleanup.add(async () => void receiver.kill());
  const [port] = (await once(receiver.stdout, 'data')) as [Buffer];
  return { url: `http://127.0.0.1:${port.toString('utf8').trim()}`, stop: () => void receiver.kill() };
}

/** Sends a backlog of the first merchant, measured from its due time. @returns deliveries a second */
export async function drainAgain(
  { merchants, database }: Pick<Stage, 'merchants' | 'database'>,
  deliveries: number,
  endpointId: string,
): Promise<number> {
  const accountId = merchants[0]?.accountId ?? '';
  const dueAt = new Date(Date.now() + WRITING_MS);
  return drained(database, await backlog(database, { accountId, endpointId }, deliveries, dueAt));
}

interface Backlog {
  readonly ids: readonly string[];
  readonly dueAt: Date;
}

/** Writes deliveries like the relay, each for a separate event. */
async function backlog(
  database: BareClients,
  { accountId, endpointId }: { accountId: string; endpointId: string },
  deliveries: number,
  dueAt: Date,
): Promise<Backlog> {
  const now = new Date();
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
  return { ids, dueAt };
}

/** Polls rarely, because each query slows down the worker. @returns deliveries a second */
async function drained(database: BareClients, { ids, dueAt }: Backlog): Promise<number> {
  const deadline = dueAt.getTime() + DRAIN_LIMIT_MS;
  await delay(Math.max(0, dueAt.getTime() - Date.now()));
  let attempts = 0;
  let seconds = 0;
  while (attempts < ids.length) {
    if (Date.now() > deadline) throw new Error(`Of ${String(ids.length)} deliveries ${String(attempts)} went out`);
    await delay(500);
    const [row] = await database.query<{ attempts: number; seconds: number }>(
      `SELECT count(*)::int AS attempts,
         extract(epoch FROM max(started_at + duration_ms * interval '1 ms') - min(started_at))::float8 AS seconds
       FROM webhook_attempts WHERE delivery_id = ANY ($1::uuid[])`,
      [ids],
    );
    ({ attempts, seconds } = row ?? { attempts, seconds });
  }
  const [row] = await database.query<{ delivered: number }>(
    `SELECT count(*)::int AS delivered FROM webhook_deliveries WHERE id = ANY ($1::uuid[]) AND status = 'DELIVERED'`,
    [ids],
  );
  if (attempts > ids.length || row?.delivered !== ids.length) {
    throw new Error(`${String(attempts)} attempts, ${String(row?.delivered)} delivered of ${String(ids.length)}`);
  }
  return ids.length / seconds;
}

/** @returns posts a second of the first and of the second round */
async function bare(url: string, posts: number): Promise<[number, number]> {
  const { stdout } = await promisify(execFile)(process.execPath, [BARE_CLIENT, url, PAYLOAD, String(posts), '2']);
  const [first, second] = stdout
    .trim()
    .split('\n')
    .map((seconds) => posts / Number(seconds));
  if (first === undefined || second === undefined) throw new Error(`The bare client said: ${stdout}`);
  return [first, second];
}
