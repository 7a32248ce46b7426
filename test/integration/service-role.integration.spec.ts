import { randomUUID } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { MIGRATIONS } from '../../migrations/index.js';
import { readConfig } from '../../src/core/config/index.js';
import { excessivePowers, migrate } from '../../src/core/database/index.js';
import { startPostgres } from '../../src/local-servers/index.js';
import { openRuntime } from '../../src/app/runtime.js';
import { createEmptyDatabase } from '../support/database.js';
import { TestService } from '../support/service.js';
import { recordVersion01 } from '../support/version-0-1.js';
import { waitFor } from '../support/wait.js';

const GROWING = ['journal_entries', 'journal_lines', 'journal_hashes', 'audit_events', 'request_logs'];
const COLUMN = {
  journal_entries: 'cause',
  journal_lines: 'bucket',
  journal_hashes: 'currency',
  audit_events: 'type',
  request_logs: 'route',
} as Record<string, string>;

describe('the role that the service runs as', () => {
  let service: TestService;
  let client: pg.Client;
  beforeAll(async () => {
    service = await TestService.start();
    const { testKey } = await service.merchant();
    const { body } = await service.createCharge(testKey);
    await service.simulate(testKey, body.id, { event: 'pay' });
    client = new pg.Client({ connectionString: service.database.url });
    await client.connect();
    // Each request is logged a little after its answer.
    await waitFor('the request logs', async () => (await service.sql('SELECT 1 FROM request_logs')).length === 2);
  });
  afterAll(async () => {
    await client.end();
    await service.stop();
  });

  const counts = (): Promise<unknown[]> =>
    Promise.all(
      GROWING.map((table) => service.sql(`SELECT count(*) AS rows, min(t::text), max(t::text) FROM ${table} t`)),
    );

  it.each([
    ...GROWING.flatMap((table) => [
      `UPDATE ${table} SET ${COLUMN[table] ?? ''} = 'x'`,
      `DELETE FROM ${table}`,
      `TRUNCATE ${table} CASCADE`,
      `ALTER TABLE ${table} DISABLE TRIGGER ALL`,
      `ALTER TABLE ${table} DISABLE TRIGGER ${table}_append_only`,
      `ALTER TABLE ${table} OWNER TO CURRENT_USER`,
      // The first is answered with a warning, and does nothing.
      `GRANT UPDATE ON ${table} TO CURRENT_USER; UPDATE ${table} SET ${COLUMN[table] ?? ''} = 'x'`,
      `CREATE RULE r AS ON INSERT TO ${table} DO INSTEAD NOTHING`,
      `CREATE TRIGGER t BEFORE INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION refuse_change()`,
      `DROP TABLE ${table} CASCADE`,
      `SELECT FROM ${table} FOR UPDATE`,
    ]),
    'DROP FUNCTION refuse_change() CASCADE',
    `CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'`,
    'SET session_replication_role = replica',
    `COPY (SELECT 1) TO PROGRAM 'true'`,
    `COPY journal_lines FROM PROGRAM 'true'`,
    `COPY (SELECT 1) TO '/tmp/recebe-spec-copy'`,
    `SELECT pg_read_file('postgresql.conf')`,
    'SET ROLE recebe',
    'ALTER ROLE CURRENT_USER SUPERUSER',
    'CREATE ROLE another SUPERUSER',
    'CREATE TABLE public.own (id int)',
    'CREATE SCHEMA own',
    'DELETE FROM migrations',
  ])('may not run: %s', async (sql) => {
    const before = await counts();
    await expect(client.query(sql)).rejects.toMatchObject({ code: '42501' });
    expect(await counts()).toEqual(before);
  });

  it('may not redirect the owner’s functions to another table, nor remove young rows', async () => {
    const before = await counts();
    await client.query('CREATE TEMPORARY TABLE audit_events (id uuid, created_at timestamptz)');
    await client.query(`INSERT INTO pg_temp.audit_events VALUES ($1, '2000-01-01')`, [randomUUID()]);
    const { rows } = await client.query(
      `SELECT audit_events_remove('ffffffff-ffff-ffff-ffff-ffffffffffff', 1000) AS n`,
    );
    expect(rows).toEqual([{ n: 0 }]);
    expect((await client.query('SELECT FROM pg_temp.audit_events')).rowCount).toBe(1);
    expect(await counts()).toEqual(before);
  });

  it('drops logged requests of old days only, whatever day it asks for', async () => {
    const nameOf = (daysAgo: number): string => {
      const day = new Date(Date.now() - daysAgo * 86_400_000).toISOString().slice(0, 10);
      return `request_logs_${day.replaceAll('-', '')}`;
    };
    const left = async (): Promise<boolean[]> =>
      Promise.all(
        [0, 1, 3].map(async (daysAgo) => {
          const [row] = await service.sql<{ found: boolean }>('SELECT to_regclass($1) IS NOT NULL AS found', [
            nameOf(daysAgo),
          ]);
          return row?.found === true;
        }),
      );
    await client.query('SELECT request_logs_add_days(ARRAY[current_date, current_date - 1, current_date - 3])');
    expect(await left()).toEqual([true, true, true]);
    for (const daysAgo of [0, 1, 3]) {
      await expect(client.query(`DROP TABLE ${nameOf(daysAgo)}`)).rejects.toMatchObject({ code: '42501' });
      await expect(client.query(`DELETE FROM ${nameOf(daysAgo)}`)).rejects.toMatchObject({ code: '42501' });
    }
    await client.query(`SELECT request_logs_drop_before('2100-01-01')`);
    expect(await left()).toEqual([true, true, false]);
  });

  it('is the role that serves requests', async () => {
    const used = await service.sql<{ name: string }>(
      `SELECT DISTINCT usename AS name FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'recebe'`,
    );
    expect(used.map(({ name }) => name)).toEqual([client.user]);
    expect(await excessivePowers(client, null)).toEqual([]);
    expect((await excessivePowers(service.database.pool, null)).join()).toMatch(/superuser.*journal_entries.*program/);
  });
});

describe('a database', () => {
  it('gets a role for the service with the password of its URL, without further rights', async () => {
    const database = await createEmptyDatabase();
    const url = new URL(database.url);
    url.username = `svc_${randomUUID().slice(0, 8)}`;
    url.password = 'it%27s%20long';
    try {
      await migrate(database.ownerUrl, MIGRATIONS, url.href);
      const client = new pg.Client({ connectionString: url.href });
      await client.connect();
      expect((await client.query('SELECT FROM transactions')).rowCount).toBe(0);
      await client.end();
      // With the rights that it has already nothing is pending: processes need no owner after the first.
      expect(await migrate(url.href, MIGRATIONS)).toEqual([]);
      for (const [given, said] of [
        [`ALTER SCHEMA public OWNER TO ${url.username}`, /may make and drop tables/],
        [`GRANT pg_execute_server_program TO ${url.username}`, /may run programs/],
        [`ALTER ROLE ${url.username} SUPERUSER`, /is a superuser/],
      ] as const) {
        await database.pool.query(given);
        await expect(migrate(database.ownerUrl, MIGRATIONS, url.href)).rejects.toThrow(said);
      }
    } finally {
      await database.pool.query('ALTER SCHEMA public OWNER TO CURRENT_USER');
      await database.pool.query(`DROP OWNED BY ${url.username}; DROP ROLE ${url.username}`);
      await database.drop();
    }
  });

  it('is taken over from version 0.1 with its data directory, also without a role for the service', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'recebe-spec-'));
    chmodSync(dataDir, 0o755); // If the tests run as root, PostgreSQL runs as another user.
    const before = await startPostgres({ dataDir, settings: ['fsync=off'] });
    await migrate(before.url, MIGRATIONS.slice(0, 1));
    const owner = new pg.Client({ connectionString: before.url });
    await owner.connect();
    await recordVersion01(owner);
    await owner.end();
    await before.stop();
    const runtime = await openRuntime(readConfig({ DATA_DIR: dataDir, LOG_LEVEL: 'silent' }), { redis: false });
    try {
      const [row] = await runtime.resources.dataSource.query<{ name: string }[]>('SELECT current_user AS name');
      expect(row).toEqual({ name: 'recebe_service' });
      const owners = await runtime.resources.dataSource.query<unknown[]>(
        `SELECT DISTINCT tableowner AS name FROM pg_tables WHERE schemaname = 'public'`,
      );
      expect(owners).toEqual([{ name: 'recebe' }]);
    } finally {
      await runtime.close();
      rmSync(dataDir, { recursive: true, force: true });
    }
  });
});
