import { createHash } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { DataSource, MigrationInterface, QueryRunner } from 'typeorm';
import { Baseline1700000010000 } from '../../migrations/0001-baseline.js';
import { MIGRATIONS } from '../../migrations/index.js';
import { createDataSource, migrate, MigrationError } from '../../src/core/database/index.js';
import '../../src/app/app.module.js';
import { catalogOf } from '../support/catalog.js';
import { createEmptyDatabase, type TestDatabase } from '../support/database.js';
import { LAST_OF_0_1, recordVersion01 } from '../support/version-0-1.js';

/** Tables that are nobody's: no merchant's request reads or writes their rows by itself. */
const SHARED_TABLES = [
  'accounts', // the account itself
  'acquirer_callbacks', // of an acquirer, as its notifications
  'acquirer_fees', // of a connection, which has an account
  'acquirer_notifications', // whose it is, is known only after asking the acquirer
  'acquirer_statements', // how far an acquirer's list was read
  'balance_checks', // one row, of all balances
  'encryption_keys', // of the service
  'login_failures', // of an e-mail that may be nobody's
  'password_resets', // of people
  'payout_hash_keys', // of the service
  'sandbox_charges', // the sandbox bank's own books: a bank does not know our accounts
  'sandbox_disputes',
  'sandbox_order_events',
  'sandbox_payouts',
  'sandbox_pix',
  'sandbox_refund_failures',
  'sandbox_returns',
  'users', // may be a member of accounts, or an operator without one
  'work', // found by whoever works off all of it; its subject has an account
  'operator_alerts', // of operators, who see all accounts
];

/** Merchant tables whose rows may be of no account. */
const ACCOUNT_UNKNOWN = [
  'sessions', // an operator's
  'emails', // mail to an operator concerns no account
  'audit_events', // a login with an e-mail that nobody has
  'settlements', // a Pix that matches no charge is kept for the operators
];

/** Merchant tables without a mode. */
const MODELESS_TABLES = [
  'acquirer_connections', // live only: test keys never reach a bank
  'emails', // sent to people, who see both modes
  'audit_events', // people and their keys, in both modes
  'invitations', // as members
  'members', // people see both modes
  'sessions', // as members
  'webhook_attempts', // always reached through its delivery
];

/** Merchant tables whose rows may be of both modes. */
const MODE_OPEN = [
  'request_logs', // a person at the dashboard sees both modes
];

type Row = Record<string, string>;

/**
 * SHA-256 of the catalog that the last migration of version 0.1 left, with the server that the tests start. A newer server
 * may write definitions in other words: compare the catalogs of both servers, and note the new value.
 */
const SCHEMA_OF_0_1 = 'b5e3026805b8c57b1461e1af940866df2b935047cb4503b17258f22795c99768';

const withRows = ({ pool }: TestDatabase): Parameters<typeof catalogOf>[0] => ({
  query: async <T>(sql: string): Promise<T> => (await pool.query(sql)).rows as T,
});

const fingerprint = (lines: readonly string[]): string => createHash('sha256').update(lines.join('\n')).digest('hex');

describe('migrations', () => {
  let database: TestDatabase;
  let source: DataSource;

  beforeAll(async () => {
    database = await createEmptyDatabase();
    source = createDataSource({ url: database.ownerUrl, pool: 4, migrations: MIGRATIONS });
    await source.initialize();
    await source.runMigrations();
  });

  afterAll(async () => {
    await source.destroy();
    await database.drop();
  });

  it('are listed in the order of their times, each named after its class', () => {
    const names = MIGRATIONS.map((migration) => migration.name);
    const times = names.map((name) => Number(/\d{13}$/.exec(name)?.[0]));
    expect(times).toEqual([...times].sort((a, b) => a - b));
    expect(new Set(times).size).toBe(times.length);
    expect(MIGRATIONS.map((Migration) => new Migration().name)).toEqual(names);
  });

  it('go up, down and up again to the same schema, and leave nothing behind', async () => {
    const up = await catalogOf(source);
    expect(up.length).toBeGreaterThan(1_000);
    for (let count = 0; count < MIGRATIONS.length; count++) await source.undoLastMigration();
    expect((await catalogOf(source)).filter((line) => !/^(?:extension|schema) /.test(line))).toEqual([]);
    await source.runMigrations();
    expect(await catalogOf(source)).toEqual(up);
  });

  it('begin with an unchanged baseline, which creates the schema of version 0.1', async () => {
    const other = await createEmptyDatabase();
    await migrate(other.ownerUrl, MIGRATIONS.slice(0, 1));
    const client = await createDataSource({ url: other.ownerUrl, pool: 1 }).initialize();
    expect(fingerprint(await catalogOf(client))).toBe(SCHEMA_OF_0_1);
    await client.destroy();
    await other.drop();
  });

  it('may take longer than a request, as long as the data needs', async () => {
    const other = await createEmptyDatabase();
    class Slow implements MigrationInterface {
      readonly name = 'Slow1700000000000';
      async up(queryRunner: QueryRunner): Promise<void> {
        await queryRunner.query(`CREATE TABLE seen AS SELECT current_setting('statement_timeout') AS timeout`);
      }
      down(): Promise<void> {
        return Promise.reject(new Error('never'));
      }
    }
    expect(await migrate(other.ownerUrl, [Slow])).toEqual(['Slow1700000000000']);
    const client = createDataSource({ url: other.ownerUrl, pool: 1 });
    await client.initialize();
    expect(await client.query('SELECT * FROM seen')).toEqual([{ timeout: '0' }]);
    expect(await client.query('SHOW statement_timeout')).toEqual([{ statement_timeout: '30s' }]);
    await client.destroy();
    await other.drop();
  });

  it('create the tables that the entities describe, without any difference', async () => {
    const sql = await source.driver.createSchemaBuilder().log();
    // Entities name columns. Indexes, keys and checks are the migrations' alone: named twice, the second text may lie.
    const isOfMigrations = (query: string): boolean => /^DROP INDEX |^ALTER TABLE "\w+" DROP CONSTRAINT /.test(query);
    expect(sql.upQueries.map(({ query }) => query).filter((query) => !isOfMigrations(query))).toEqual([]);
  });

  it('create no table without an entity', async () => {
    const tables = await source.query<Row[]>(`SELECT tablename FROM pg_tables WHERE schemaname = 'public'`);
    const described = source.entityMetadatas.map(({ tableName }) => tableName);
    expect(tables.map((row) => row['tablename']).sort()).toEqual([...described, 'migrations'].sort());
  });

  it('give every merchant table its account_id and mode', async () => {
    const rows = await source.query<Row[]>(
      `SELECT table_name, column_name, udt_name, is_nullable FROM information_schema.columns WHERE table_schema = 'public'`,
    );
    const merchantTables = source.entityMetadatas
      .map(({ tableName }) => tableName)
      .filter((table) => !SHARED_TABLES.includes(table));
    const column = (table: string, name: string): string => {
      const found = rows.find((row) => row['table_name'] === table && row['column_name'] === name);
      return found ? `${found['udt_name']} ${found['is_nullable'] === 'YES' ? 'null' : 'not null'}` : 'missing';
    };
    expect(merchantTables.length).toBeGreaterThan(10);
    for (const table of merchantTables) {
      const may = ACCOUNT_UNKNOWN.includes(table) ? 'null' : 'not null';
      expect({ table, account_id: column(table, 'account_id') }).toEqual({ table, account_id: `uuid ${may}` });
      const mode = MODELESS_TABLES.includes(table) ? 'missing' : `text ${MODE_OPEN.includes(table) ? 'null' : may}`;
      expect({ table, mode: column(table, 'mode') }).toEqual({ table, mode });
    }
    for (const table of SHARED_TABLES) expect(column(table, 'account_id')).toBe('missing');
  });

  it('keep amounts in bigint, times with their zone, ids as uuid, and no float', async () => {
    const rows = await source.query<Row[]>(
      `SELECT table_name || '.' || column_name AS column, udt_name AS type FROM information_schema.columns
       WHERE table_schema = 'public' AND table_name <> 'migrations'`,
    );
    const wrong = rows.filter(({ column = '', type = '' }) => {
      // As it was sent, with its keys in their order.
      if (['transactions.metadata', 'payment_links.metadata'].includes(column)) return type !== 'json';
      // A sum of what was asked for; unlike what was paid, nothing limits it.
      if (column === 'transaction_figures.amount') return type !== 'numeric';
      if (/(?:amount|_fee|fee_fixed)$/.test(column)) return type !== 'int8';
      if (/(?:_at|_until)$/.test(column)) return type !== 'timestamptz';
      if (
        /(?:\.id|_id)$/.test(column) &&
        !/(?:end_to_end_id|request_id|return_id|send_id|short_id|tax_id|\.key_id)$/.test(column)
      )
        return type !== 'uuid';
      return ['float4', 'float8', 'numeric', 'money', 'timestamp', 'varchar', 'json'].includes(type);
    });
    expect(wrong).toEqual([]);
  });

  it('name every constraint and index, so that the code can recognize them and names are equal everywhere', async () => {
    const rows = await source.query<Row[]>(
      `SELECT conrelid::regclass::text AS table, conname AS name FROM pg_constraint
       WHERE connamespace = 'public'::regnamespace AND conrelid <> 0 AND contype IN ('p', 'u', 'c', 'f')
         AND conrelid::regclass::text <> 'migrations'
       UNION ALL SELECT tablename, indexname FROM pg_indexes WHERE schemaname = 'public' AND tablename <> 'migrations'`,
    );
    const suffix = /_(?:pkey|key|check|fkey|idx)$/;
    expect(rows.filter(({ table = '', name = '' }) => !name.startsWith(`${table}_`) || !suffix.test(name))).toEqual([]);
    expect(rows.filter(({ name = '' }) => name.length >= 63)).toEqual([]);
  });

  it('index every foreign key, so that no look-up from the other side reads a whole table', async () => {
    const rows = await source.query<Row[]>(
      `SELECT c.conname AS name FROM pg_constraint c
       WHERE c.contype = 'f' AND c.connamespace = 'public'::regnamespace AND NOT EXISTS (
         SELECT 1 FROM pg_index i WHERE i.indrelid = c.conrelid
           AND (i.indkey::smallint[])[0:cardinality(c.conkey) - 1] @> c.conkey)`,
    );
    expect(rows.map((row) => row['name'])).toEqual([]);
  });
});

describe('a database of version 0.1', () => {
  let database: TestDatabase;
  let url: string;
  beforeEach(async () => {
    database = await createEmptyDatabase();
    url = database.ownerUrl;
    await migrate(url, [Baseline1700000010000]);
  });
  afterEach(() => database.drop());

  const applied = async (): Promise<string[]> => {
    const { rows } = await database.pool.query<{ name: string }>('SELECT name FROM migrations ORDER BY timestamp');
    return rows.map(({ name }) => name);
  };

  it('is taken over at its last migration, and keeps its data and the rows of its migrations', async () => {
    await recordVersion01(database.pool);
    await database.pool.query(`UPDATE balance_checks SET incoherent = 7`);
    const before = await applied();
    const made = await createEmptyDatabase();
    await migrate(made.ownerUrl, MIGRATIONS);
    await made.pool.query(`UPDATE balance_checks SET incoherent = 7`);
    expect(await migrate(url, MIGRATIONS)).toEqual(MIGRATIONS.map(({ name }) => name));
    expect(await catalogOf(withRows(database))).toEqual(await catalogOf(withRows(made)));
    await made.drop();
    expect(await applied()).toEqual([...before, ...MIGRATIONS.map(({ name }) => name)]);
    expect(await migrate(url, MIGRATIONS)).toEqual([]);
  });

  it('is taken over once when two processes start at the same time', async () => {
    await recordVersion01(database.pool);
    const results = await Promise.all([migrate(url, MIGRATIONS), migrate(url, MIGRATIONS)]);
    expect(results.map(({ length }) => length).sort()).toEqual([0, MIGRATIONS.length]);
  });

  it('gives the service a role of its own when it is taken over', async () => {
    await recordVersion01(database.pool);
    await migrate(url, MIGRATIONS, database.url);
    const client = await createDataSource({ url: database.url, pool: 1 }).initialize();
    await client.query('SELECT FROM transactions');
    await expect(client.query('DELETE FROM transactions')).rejects.toThrow('permission denied');
    await client.destroy();
  });

  it.each([
    ['one migration is missing at the end', 74, 'Filler74x1700000000074'],
    ['it is at its first migration', 1, 'Initial1700000000000'],
  ])('is refused by the name of its migration if %s, and stays as it is', async (_when, count, name) => {
    await recordVersion01(database.pool, count);
    const before = [await applied(), await catalogOf(withRows(database))];
    await expect(migrate(url, MIGRATIONS)).rejects.toThrow(
      new MigrationError(
        `The database is at migration ${name} of version 0.1, ${count} of 75 migrations. This version takes over a database ` +
          `at ${LAST_OF_0_1}, the last migration of 0.1, and none before it. Nothing was changed. Start the last 0.1 version ` +
          'on the database once, then this one.',
      ),
    );
    expect([await applied(), await catalogOf(withRows(database))]).toEqual(before);
  });

  it('is refused if it has the last migration but lacks an earlier one', async () => {
    await recordVersion01(database.pool);
    await database.pool.query(`DELETE FROM migrations WHERE timestamp = 1700000000040`);
    await expect(migrate(url, MIGRATIONS)).rejects.toThrow(`${LAST_OF_0_1} of version 0.1, 74 of 75 migrations`);
  });
});

describe('a database with tables of another program', () => {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await createEmptyDatabase();
    await database.pool.query('CREATE TABLE orders (id int); INSERT INTO orders VALUES (1)');
  });
  afterEach(() => database.drop());

  it('gets our tables beside the others', async () => {
    expect(await migrate(database.ownerUrl, MIGRATIONS)).toHaveLength(MIGRATIONS.length);
    expect((await database.pool.query('SELECT * FROM orders')).rows).toEqual([{ id: 1 }]);
  });

  it('is refused if a table has one of our names, and gets none of our tables', async () => {
    await database.pool.query('CREATE TABLE users (id int); CREATE TABLE events (id int)');
    await expect(migrate(database.ownerUrl, MIGRATIONS)).rejects.toThrow(
      'The database already has events, users, and no migration of Recebe made that. Give Recebe a database of its own.',
    );
    const { rows } = await database.pool.query(`SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'`);
    expect(rows.map(({ name }: Row) => name).sort()).toEqual(['events', 'migrations', 'orders', 'users']);
  });
});
