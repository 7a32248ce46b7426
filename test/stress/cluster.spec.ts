import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { expectLedgerCoherent } from '../support/coherence.js';
import { MAIN, Processes, type ServiceProcess, withDatabase } from '../support/process.js';
import { waitFor } from '../support/wait.js';
import { commandOf, isRunning } from '../../tools/harness/local-servers.js';

const CHARGES = 80;

describe('CLUSTER=2', () => {
  const processes = new Processes();
  const dataDir = processes.dataDir();
  afterAll(() => processes.cleanUp());

  const start = (): Promise<ServiceProcess> => processes.start(dataDir, { CLUSTER: '2' });

  /** Pids of the processes that serve; the local servers are children too. */
  const members = ({ pid }: ServiceProcess): number[] =>
    readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
      .trim()
      .split(' ')
      .filter(Boolean)
      .map(Number)
      .filter((child) => commandOf(child).includes(MAIN));

  /** Start times of the processes that answer. */
  async function answering({ url }: ServiceProcess): Promise<Set<string>> {
    const started = Array.from({ length: 12 }, async () => {
      const response = await fetch(`${url}/metrics`, { headers: { connection: 'close' } });
      return /^process_start_time_seconds (\S+)$/m.exec(await response.text())?.[1] ?? '';
    });
    return new Set(await Promise.all(started));
  }

  /** A charge for this key, asked for until it is made. */
  async function create(service: ServiceProcess, apikey: string, key: string): Promise<string> {
    const request = {
      method: 'POST',
      headers: { apikey, 'content-type': 'application/json', 'idempotency-key': key, connection: 'close' },
      body: JSON.stringify({ amount: 1990, payment_method: 'pix' }),
    };
    return waitFor('the charge', async () => {
      const response = await fetch(`${service.url}/v1/charges`, request).catch(() => null);
      return response?.status === 201 && ((await response.json()) as { id: string }).id;
    });
  }

  it('serves one port by two processes, replaces a killed one, and loses no request', async () => {
    const service = await start();
    const [first = 0] = await waitFor('both processes', () => {
      const found = members(service);
      return found.length === 2 && found;
    });
    await waitFor('both to answer', async () => (await answering(service)).size === 2);
    const { test_api_key: key } = service.demo();
    const keys = Array.from({ length: CHARGES }, () => randomUUID());
    const asked = keys.map(async (each, index) => {
      if (index === CHARGES / 2) process.kill(first, 'SIGKILL');
      return create(service, key, each);
    });
    const ids = await Promise.all(asked);
    expect(new Set(ids).size).toBe(CHARGES);
    // Repeats the keys, at any process.
    expect(await Promise.all(keys.map((each) => create(service, key, each)))).toEqual(ids);
    await waitFor('another process in its place', () => {
      const found = members(service);
      return found.length === 2 && !found.includes(first);
    });
    await waitFor('both to answer again', async () => (await answering(service)).size === 2);
    expect(service.stdout + service.stderr).toContain('another one takes its place');
    expect(service.stdout.match(/Recebe is ready/g)).toHaveLength(1);

    const before = members(service);
    expect(await service.kill('SIGTERM')).toMatchObject({ code: 0 });
    expect(before.filter(isRunning)).toEqual([]);
    await withDatabase(dataDir, async (url) => expectLedgerCoherent(url));
  });

  it.each([
    ['a supervisor tells all of its processes to end', 'SIGTERM', true],
    ['the process that has started the others is killed', 'SIGKILL', false],
  ] as const)('answers its requests under way when %s', async (_, signal, isToldToAll) => {
    const service = await start();
    const serving = await waitFor('both processes', () => {
      const found = members(service);
      return found.length === 2 && found;
    });
    await waitFor('both to answer', async () => (await answering(service)).size === 2);
    const { test_api_key: apikey } = service.demo();
    // A lock on the account's row keeps each of them under way.
    const statuses = await withDatabase(dataDir, async (url) => {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      await client.query('BEGIN; LOCK TABLE idempotency_keys');
      const asked = Array.from({ length: 6 }, async () => {
        const headers = {
          apikey,
          'content-type': 'application/json',
          'idempotency-key': randomUUID(),
          connection: 'close',
        };
        const body = JSON.stringify({ amount: 1990, payment_method: 'pix' });
        return (await fetch(`${service.url}/v1/charges`, { method: 'POST', headers, body }).catch(() => null))?.status;
      });
      await waitFor('all to wait', async () => {
        const { rows } = await client.query(
          `SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'idempotency_keys'::regclass`,
        );
        return rows.length >= 2;
      });
      const ended = service.kill(signal);
      if (isToldToAll) for (const pid of serving) process.kill(pid, signal);
      await delay(500);
      await client.query('COMMIT');
      await client.end();
      const answers = await Promise.all(asked);
      await ended;
      return answers;
    });
    expect(statuses).toEqual(Array.from({ length: 6 }, () => 201));
    await waitFor('them to end', () => !serving.some(isRunning));
  });

  it('leaves no process behind when their parent is killed', async () => {
    const service = await start();
    const serving = await waitFor('both processes', () => {
      const found = members(service);
      return found.length === 2 && found;
    });
    await service.kill('SIGKILL');
    await waitFor('them to end', () => !serving.some(isRunning));
  });

  it('reports why its first process cannot start, and ends', async () => {
    const running = await start();
    const { port } = new URL(running.url);
    const second = processes.spawn(processes.dataDir(), { CLUSTER: '2', PORT: port });
    const { code, stderr } = await second.finished();
    expect({ code, isTold: stderr.includes(`Port ${port} is taken`) }).toEqual({ code: 1, isTold: true });
    await running.kill('SIGTERM');
  });
});
