import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { DataSource, MigrationInterface, QueryRunner } from 'typeorm';
import { MIGRATIONS } from '../../migrations/index.js';
import { createDataSource, migrate } from '../../src/core/database/index.js';
import '../../src/app.module.js';
import { createEmptyDatabase, type TestDatabase } from '../support/database.js';
import { waitFor } from '../support/wait.js';

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
  'sandbox_charges', // the sandbox bank's own books: a bank does not know our accounts
  'sandbox_disputes',
  'sandbox_order_events',
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

/** What pg_dump would show, as texts: two databases with equal lists have the same schema. */
async function schemaOf(source: DataSource): Promise<string[]> {
  const rows = await source.query<{ line: string }[]>(`
    SELECT format('column %s.%s %s %s default %s', table_name, column_name, udt_name, is_nullable, column_default) AS line
    FROM information_schema.columns WHERE table_schema = 'public' AND table_name <> 'migrations'
    UNION ALL SELECT format('constraint %s.%s %s', conrelid::regclass, conname, pg_get_constraintdef(oid))
    FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND conrelid::regclass::text <> 'migrations'
    UNION ALL SELECT 'index ' || indexdef FROM pg_indexes WHERE schemaname = 'public' AND tablename <> 'migrations'
    UNION ALL SELECT 'trigger ' || pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
    UNION ALL SELECT 'function ' || pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'public'::regnamespace
    UNION ALL SELECT 'type ' || typname FROM pg_type WHERE typnamespace = 'public'::regnamespace AND typtype IN ('e', 'd')
    ORDER BY line`);
  return rows.map((row) => row.line);
}

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

  it('go up, down and up again to the same schema, and leave nothing behind on the way', async () => {
    const up = await schemaOf(source);
    expect(up.length).toBeGreaterThan(200);
    for (let count = 0; count < MIGRATIONS.length; count++) await source.undoLastMigration();
    expect(await schemaOf(source)).toEqual([]);
    await source.runMigrations();
    expect(await schemaOf(source)).toEqual(up);
  });

  it('may take as long as the data needs, unlike a request', async () => {
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

  it('take deliveries that carry their payloads apart into messages, and put them together again', async () => {
    const undo = async (): Promise<void> => {
      const isThere = async (): Promise<boolean> =>
        (await source.query<Row[]>(`SELECT FROM pg_tables WHERE tablename = 'webhook_messages'`)).length > 0;
      while (await isThere()) await source.undoLastMigration();
    };
    await undo();
    const [accountId, one, two, paid, expired, subject_id] = Array.from({ length: 6 }, () => randomUUID());
    await source.query(
      `INSERT INTO accounts (id, name, contact_email, created_at) VALUES ($1, 'Loja', 'loja@example.com', now())`,
      [accountId],
    );
    await source.query(
      `INSERT INTO webhook_endpoints (id, account_id, mode, url, events, secret_sealed, status, created_at, updated_at)
       SELECT id, $2, 'live', 'https://loja.example/', '{*}', '', 'ACTIVE', now(), now() FROM unnest($1::uuid[]) AS e (id)`,
      [[one, two], accountId],
    );
    const deliveries = [
      { endpoint_id: one, event_id: paid, event_type: 'charge.paid', manual: false, payload: '{"paid":1}' },
      { endpoint_id: two, event_id: paid, event_type: 'charge.paid', manual: false, payload: '{"paid":1}' },
      { endpoint_id: two, event_id: paid, event_type: 'payment.completed', manual: false, payload: '{"old":1}' },
      { endpoint_id: one, event_id: paid, event_type: 'charge.paid', manual: true, payload: '{"again":1}' },
      { endpoint_id: one, event_id: expired, event_type: 'charge.expired', manual: false, payload: '{"expired":1}' },
    ].map((row) => ({
      ...{ ...row, id: randomUUID(), account_id: accountId, mode: 'live', subject_id, status: 'DELIVERED' },
      ...{ attempts: 1, max_attempts: 15, created_at: '2026-11-20T12:00:00Z', updated_at: '2026-11-20T12:00:01Z' },
    }));
    await source.query(
      `INSERT INTO webhook_deliveries
       SELECT (jsonb_populate_record(NULL::webhook_deliveries, d)).* FROM jsonb_array_elements($1) AS a (d)`,
      [JSON.stringify(deliveries)],
    );
    const apart = `SELECT d.id, endpoint_id, event_id, event_type, manual, payload FROM webhook_deliveries d ORDER BY id`;
    const was = await source.query<Row[]>(apart);
    expect(was).toHaveLength(5);

    await source.runMigrations();
    expect(
      await source.query(
        `SELECT d.id, endpoint_id, m.event_id, m.event_type, m.manual, m.payload FROM webhook_deliveries d
         JOIN webhook_messages m ON m.id = d.message_id AND d.id = ANY (m.delivery_ids)
           AND (m.event_type, m.manual, m.account_id, m.mode) = (d.event_type, d.manual, d.account_id, d.mode) ORDER BY d.id`,
      ),
    ).toEqual(was);
    expect(
      await source.query(
        `SELECT event_type, manual, cardinality(delivery_ids) AS receivers FROM webhook_messages ORDER BY 1, 2`,
      ),
    ).toEqual([
      { event_type: 'charge.expired', manual: false, receivers: 1 },
      { event_type: 'charge.paid', manual: false, receivers: 2 },
      { event_type: 'charge.paid', manual: true, receivers: 1 },
      { event_type: 'payment.completed', manual: false, receivers: 1 },
    ]);

    await undo();
    expect(await source.query(apart)).toEqual(was);
    await source.runMigrations();
  });

  it('take the customer out of events, and put them in again', async () => {
    const isThere = async (): Promise<boolean> =>
      (
        await source.query<Row[]>(
          `SELECT FROM information_schema.columns WHERE table_name = 'events' AND column_name = 'customer_sealed'`,
        )
      ).length > 0;
    while (await isThere()) await source.undoLastMigration();
    const transaction = { id: 'x', status: 'PAID', customerName: 'Maria', customerEmail: null, metadata: { order: 1 } };
    const events = [
      { transaction, previousStatus: null },
      { case: { id: 'med_x' }, isMuted: false },
    ];
    await source.query('TRUNCATE events');
    await source.query(
      `INSERT INTO events (id, account_id, mode, type, subject_id, data, sequence, occurred_at, next_attempt_at)
       SELECT gen_random_uuid(), gen_random_uuid(), 'test', 'x', gen_random_uuid(), e.data, 1, now(), now()
       FROM jsonb_array_elements($1) AS e (data)`,
      [JSON.stringify(events)],
    );
    const was = await source.query<Row[]>('SELECT id, data FROM events ORDER BY id');
    await source.runMigrations();
    const rows = await source.query<{ data: object; customer: string | null }[]>(
      `SELECT data, customer_sealed AS customer FROM events ORDER BY data ? 'transaction' DESC`,
    );
    expect(
      rows.map(({ data, customer }) => ({ data, customer: customer && (JSON.parse(customer) as object) })),
    ).toEqual([
      {
        data: { transaction: { id: 'x', status: 'PAID' }, previousStatus: null },
        customer: { customerName: 'Maria', customerEmail: null, metadata: { order: 1 } },
      },
      { data: events[1], customer: null },
    ]);
    while (await isThere()) await source.undoLastMigration();
    expect(await source.query('SELECT id, data FROM events ORDER BY id')).toEqual(was);
    await source.query('TRUNCATE events');
    await source.runMigrations();
  });

  it('count what was paid by the day of the payment, folded or still to be folded', async () => {
    const undone = async (): Promise<boolean> =>
      (await source.query<Row[]>(`SELECT FROM migrations WHERE name LIKE 'SettledFigures%'`)).length === 0;
    while (!(await undone())) await source.undoLastMigration();
    const accountId = randomUUID();
    const figures = (): Promise<Row[]> =>
      source.query(
        `SELECT key, (bucket AT TIME ZONE 'America/Sao_Paulo')::date::text AS day, count::int, amount::int
         FROM transaction_figures WHERE kind = 'settled' AND account_id = $1 ORDER BY bucket`,
        [accountId],
      );
    const pay = (created: string, paid: string): Promise<unknown> =>
      source.query(
        `INSERT INTO transactions (id, account_id, mode, status, amount, currency, payment_methods, paid_with, paid_at,
           metadata, acquirer, created_at, updated_at)
         VALUES (gen_random_uuid(), $1, 'test', 'PAID', 100, 'BRL', '{PIX}', 'PIX', $3, '{}', 'sandbox', $2, $3)`,
        [accountId, created, paid],
      );
    await source.query('TRUNCATE transaction_changes');
    await pay('2026-11-24T12:00:00Z', '2026-11-25T02:59:00Z');
    await pay('2026-11-24T12:00:00Z', '2026-11-25T03:00:00Z');
    await source.query('DELETE FROM transaction_changes'); // folded
    await pay('2026-11-24T12:00:00Z', '2026-11-25T04:00:00Z');
    await source.runMigrations();
    expect(await figures()).toEqual([
      { key: 'PIX', day: '2026-11-24', count: 1, amount: 100 },
      { key: 'PIX', day: '2026-11-25', count: 1, amount: 100 },
    ]);
    await source.query('DELETE FROM transactions WHERE account_id = $1', [accountId]);
    while (!(await undone())) await source.undoLastMigration();
    expect(await figures()).toEqual([]);
    await source.query('TRUNCATE transaction_changes, transaction_figures');
    await source.runMigrations();
  });

  it('number the entries of the journal in the order of their times, and give each line its balance', async () => {
    const isThere = async (): Promise<boolean> =>
      (await source.query<Row[]>(`SELECT FROM pg_tables WHERE tablename = 'journal_hashes'`)).length > 0;
    while (await isThere()) await source.undoLastMigration();
    const [accountId, chargeback] = [randomUUID(), randomUUID()];
    // Written in another order than that of their times, as by processes with clocks of their own.
    const entries = [
      { cause: `release:${randomUUID()}`, second: 3, currency: 'BRL', lines: { pending: -900, available: 900 } },
      { cause: `charge.paid:${randomUUID()}`, second: 1, currency: 'BRL', lines: { clearing: -1000, pending: 1000 } },
      { cause: `charge.paid:${randomUUID()}`, second: 2, currency: 'USD', lines: { clearing: -7, pending: 7 } },
      { cause: `refund.reserved:${randomUUID()}`, second: 4, currency: 'BRL', lines: { available: -50, reserved: 50 } },
      { cause: `refund.released:${randomUUID()}`, second: 5, currency: 'BRL', lines: { reserved: -50, available: 50 } },
      { cause: `med.held:${chargeback}`, second: 6, currency: 'BRL', lines: { available: -1, retained: 1 } },
      { cause: `med.lost:${chargeback}`, second: 7, currency: 'BRL', lines: { retained: -1, clearing: 1 } },
    ];
    for (const { cause, second, currency, lines } of entries) {
      const id = randomUUID();
      await source.query(
        `INSERT INTO journal_entries (id, account_id, mode, currency, cause, created_at)
         VALUES ($1, $2, 'live', $3, $4, $5)`,
        [id, accountId, currency, cause, `2026-11-21T12:00:0${second}Z`],
      );
      await source.query(
        `INSERT INTO journal_lines (entry_id, line, account_id, mode, currency, bucket, amount)
         SELECT $1, row_number() OVER (), $2, 'live', $3, key, value::bigint FROM json_each_text($4)`,
        [id, accountId, currency, JSON.stringify(lines)],
      );
    }
    await source.query(
      `INSERT INTO balances (account_id, mode, currency, bucket, amount, updated_at)
       SELECT account_id, mode, currency, bucket, sum(amount), now() FROM journal_lines GROUP BY 1, 2, 3, 4`,
    );
    const balances = (): Promise<Row[]> =>
      source.query('SELECT currency, bucket, amount FROM balances ORDER BY currency, bucket');
    const was = await balances();
    await source.runMigrations();
    const lines = await source.query<Row[]>(
      `SELECT concat_ws(' ', e.currency, e.number, e.type, l.number, l.bucket, l.balance_after, l.created_at = e.created_at) AS line
       FROM journal_entries e JOIN journal_lines l ON l.entry_id = e.id ORDER BY e.currency, e.number, l.line`,
    );
    expect(lines.map(({ line }) => line)).toEqual([
      'BRL 1 sale 1 clearing -1000 t',
      'BRL 1 sale 1 pending 1000 t',
      'BRL 2 release 2 pending 100 t',
      'BRL 2 release 2 available 900 t',
      'BRL 3 refund 3 available 850 t',
      'BRL 3 refund 3 reserved 50 t',
      'BRL 4 refund_failed 4 reserved 0 t',
      'BRL 4 refund_failed 4 available 900 t',
      'BRL 5 med_hold 5 available 899 t',
      'BRL 5 med_hold 5 retained 1 t',
      'BRL 6 med_loss 6 retained 0 t',
      'BRL 6 med_loss 6 clearing -999 t',
      'USD 1 sale 1 clearing -7 t',
      'USD 1 sale 1 pending 7 t',
    ]);
    const counted = await source.query<Row[]>(
      `SELECT concat_ws(' ', currency, amount, entries) AS line FROM balances WHERE bucket = 'available' ORDER BY 1`,
    );
    expect(counted.map(({ line }) => line)).toEqual(['BRL 899 6', 'USD 0 1']);
    await expect(source.query(`UPDATE journal_lines SET number = 1`)).rejects.toThrow('append-only');

    while (await isThere()) await source.undoLastMigration();
    expect(await balances()).toEqual(was);
    await source.runMigrations();
    const runner = source.createQueryRunner();
    await runner.query('SET session_replication_role = replica');
    for (const table of ['journal_lines', 'journal_entries', 'balances']) await runner.query(`DELETE FROM ${table}`);
    await runner.query('RESET session_replication_role');
    await runner.release();
  });

  it('enter what an acquirer has and nobody was credited with, and is not back', async () => {
    const isThere = async (): Promise<boolean> =>
      (await source.query<Row[]>(`SELECT FROM pg_trigger WHERE tgname = 'settlements_suspended'`)).length > 0;
    while (await isThere()) await source.undoLastMigration();
    const [accountId, connectionId, sale] = [randomUUID(), randomUUID(), randomUUID()];
    await source.query(
      `INSERT INTO transactions (id, account_id, mode, status, amount, currency, payment_methods, metadata, acquirer, created_at, updated_at)
       VALUES ($1, $2, 'test', 'EXPIRED', 100, 'BRL', '{PIX}', '{}', 'sandbox', now(), now())`,
      [sale, accountId],
    );
    await source.query(
      `INSERT INTO accounts (id, name, contact_email, created_at) VALUES ($1, 'Loja', 'loja@example.com', now())`,
      [accountId],
    );
    await source.query(
      `INSERT INTO acquirer_connections (id, account_id, profile, pix_key, credentials_sealed, version, created_at, updated_at)
       VALUES ($1, $2, 'spec', 'key', '', 1, now(), now())`,
      [connectionId, accountId],
    );
    const settle = (amount: number, outcome: string, transactionId: string | null): Promise<unknown> =>
      source.query(
        `INSERT INTO settlements (id, account_id, mode, transaction_id, acquirer, end_to_end_id, amount, outcome, settled_at, created_at)
         VALUES (gen_random_uuid(), $1, $2, $3, $4, 'E' || $5::bigint, $5, $6, now(), now())`,
        [
          ...(transactionId === null ? [null, null, null] : [accountId, 'test', transactionId]),
          ...[transactionId === null ? `pix-api:${connectionId}` : 'sandbox', amount, outcome],
        ],
      );
    await settle(1, 'credited', sale);
    await settle(2, 'returned', sale);
    await settle(3, 'returned', sale);
    await settle(4, 'review', sale);
    await settle(5, 'unmatched', null);
    await source.query(
      `INSERT INTO pix_returns (id, account_id, mode, transaction_id, acquirer, end_to_end_id, return_id, amount, currency,
         reason, status, created_at, updated_at)
       SELECT gen_random_uuid(), account_id, mode, transaction_id, acquirer, end_to_end_id, 'spec', amount, 'BRL', 'late',
         CASE amount WHEN 2 THEN 'RETURNED' ELSE 'FAILED' END, now(), now() FROM settlements WHERE outcome = 'returned'`,
    );
    await source.runMigrations();
    const lines = await source.query<Row[]>(
      `SELECT concat_ws(' ', e.mode, e.number, l.bucket, l.amount, l.balance_after) AS line
       FROM journal_entries e JOIN journal_lines l ON l.entry_id = e.id ORDER BY e.mode, e.number, l.line`,
    );
    expect(lines.map(({ line }) => line)).toEqual([
      ...['live 1 clearing -5 -5', 'live 1 suspense 5 5'],
      ...['test 1 clearing -3 -3', 'test 1 suspense 3 3', 'test 2 clearing -4 -7', 'test 2 suspense 4 7'],
    ]);
    const balances = await source.query<Row[]>(
      `SELECT concat_ws(' ', mode, bucket, amount, entries) AS line FROM balances ORDER BY mode, bucket`,
    );
    expect(balances.map(({ line }) => line)).toEqual([
      ...['live available 0 1', 'live clearing -5 0', 'live suspense 5 0'],
      ...['test available 0 2', 'test clearing -7 0', 'test suspense 7 0'],
    ]);
    // The version before knows nothing of such entries, which are never removed.
    const undoAll = async (): Promise<void> => {
      while (await isThere()) await source.undoLastMigration();
    };
    await expect(undoAll()).rejects.toThrow('journal_lines_bucket_check');
    await source.runMigrations();
    const runner = source.createQueryRunner();
    await runner.query('SET session_replication_role = replica');
    const tables = ['journal_lines', 'journal_entries', 'balances', 'pix_returns', 'settlements', 'transactions'];
    for (const table of [...tables, 'transaction_changes', 'acquirer_connections', 'accounts'])
      await runner.query(`DELETE FROM ${table}`);
    await runner.query('RESET session_replication_role');
    await runner.release();
  });

  it('give what was sent back before its place on the sale, while sales are read and written', async () => {
    const isThere = async (): Promise<boolean> =>
      (
        await source.query<Row[]>(
          `SELECT FROM information_schema.columns WHERE table_name = 'transactions' AND column_name = 'returns'`,
        )
      ).length > 0;
    while (await isThere()) await source.undoLastMigration();
    const [accountId, paid, other] = Array.from({ length: 3 }, () => randomUUID());
    await source.query(
      `INSERT INTO transactions (id, account_id, mode, status, amount, currency, payment_methods, metadata, acquirer,
         created_at, updated_at)
       SELECT t.id, $2, 'test', 'EXPIRED', 100, 'BRL', '{PIX}', '{}', 'sandbox', now(), now()
       FROM unnest($1::uuid[]) AS t (id)`,
      [[paid, other], accountId],
    );
    const returns = [
      ['E2', 'late', 'RETURNED', '2026-11-21T12:00:02.25Z'],
      ['E1', 'duplicate', 'RETURNED', '2026-11-21T12:00:01Z'],
      ['E3', 'duplicate', 'FAILED', '2026-11-21T12:00:03Z'],
      ['E4', 'payer_mismatch', 'RETURNED', '2026-11-21T12:00:04Z'],
    ];
    for (const [endToEndId, reason, status, at] of returns) {
      await source.query(
        `INSERT INTO pix_returns (id, account_id, mode, transaction_id, acquirer, end_to_end_id, return_id, amount,
           reason, status, created_at, updated_at)
         VALUES ($1, $2, 'test', $3, 'sandbox', $4, 'r', 5, $5, $6, $7, $7)`,
        [randomUUID(), accountId, paid, endToEndId, reason, status, at],
      );
    }
    // It lasts: what it reads is kept from it.
    const holder = source.createQueryRunner();
    await holder.startTransaction();
    await holder.query('LOCK TABLE pix_returns IN ACCESS EXCLUSIVE MODE');
    const migrated = source.runMigrations();
    try {
      await waitFor('the migration to wait', async () => {
        const waiting = await source.query<Row[]>(
          `SELECT FROM pg_locks WHERE NOT granted AND relation = 'pix_returns'::regclass`,
        );
        return waiting.length > 0;
      });
      await source.query(
        `SET lock_timeout = '1s'; UPDATE transactions SET amount = amount + 1 WHERE id = '${String(other)}';
         SELECT id FROM transactions; RESET lock_timeout`,
      );
    } finally {
      await holder.commitTransaction();
      await holder.release();
      await migrated;
    }
    const rows = await source.query<Row[]>(
      'SELECT id, amount, returns FROM transactions ORDER BY array_position($1::uuid[], id)',
      [[paid, other]],
    );
    expect(rows).toEqual([
      {
        id: paid,
        amount: 100,
        returns: [
          { amount: 5, reason: 'duplicate', endToEndId: 'E1', at: '2026-11-21T12:00:01.000Z' },
          { amount: 5, reason: 'late', endToEndId: 'E2', at: '2026-11-21T12:00:02.250Z' },
        ],
      },
      { id: other, amount: 101, returns: null },
    ]);
    for (const table of ['pix_returns', 'transaction_changes', 'transactions']) {
      await source.query(`DELETE FROM ${table}`);
    }
  });

  it('take along what was under way, to one table of work and back', async () => {
    const isThere = async (): Promise<boolean> =>
      (await source.query<Row[]>(`SELECT FROM pg_tables WHERE tablename = 'work'`)).length > 0;
    while (await isThere()) await source.undoLastMigration();
    const ids = Array.from({ length: 9 }, () => randomUUID());
    const [accountId, payment, asked, done, refund, ended, callback, read, evidence] = ids;
    await source.query(
      `INSERT INTO transactions (id, account_id, mode, status, amount, currency, payment_methods, metadata, acquirer,
         created_at, updated_at, acquirer_due_at, paid_at)
       SELECT t.id, $2, 'test', 'PAID', 100, 'BRL', '{PIX}', '{}', 'sandbox', now(), now(), t.due_at, now()
       FROM unnest($1::uuid[], $3::timestamptz[]) AS t (id, due_at)`,
      [[payment, asked, done], accountId, [null, '2026-11-21T12:00:01Z', null]],
    );
    await source.query(
      `INSERT INTO refunds (id, account_id, mode, transaction_id, acquirer, payment_reference, way, amount, fee, currency,
         status, attempts, next_attempt_at, created_at, updated_at)
       SELECT r.id, $2, 'test', $3, 'sandbox', 'E1', 'devolution', 1, 0, 'BRL', r.status, 3, r.due_at, now(), now()
       FROM unnest($1::uuid[], $4::text[], $5::timestamptz[]) AS r (id, status, due_at)`,
      [[refund, ended], accountId, payment, ['IN_PROGRESS', 'REFUNDED'], ['2026-11-21T12:00:02Z', null]],
    );
    await source.query(
      `INSERT INTO pix_returns (id, account_id, mode, transaction_id, acquirer, end_to_end_id, return_id, amount, reason,
         status, attempts, next_attempt_at, created_at, updated_at)
       VALUES ($1, $2, 'test', $3, 'sandbox', 'E2', 'r', 5, 'late', 'IN_PROGRESS', 4, '2026-11-21T12:00:06Z', now(), now())`,
      [randomUUID(), accountId, payment],
    );
    await source.query(
      `INSERT INTO acquirer_callbacks (id, acquirer, sha256, body_sealed, status, attempts, next_attempt_at, received_at)
       SELECT c.id, 'bank', c.id::text::bytea, '', c.status, 2, '2026-11-21T12:00:03Z', now()
       FROM unnest($1::uuid[], $2::text[]) AS c (id, status)`,
      [
        [callback, read],
        ['pending', 'read'],
      ],
    );
    const medCase = randomUUID();
    // Its case is not looked for.
    const runner = source.createQueryRunner();
    await runner.query('SET session_replication_role = replica');
    await runner.query(
      `INSERT INTO med_evidence (id, account_id, mode, case_id, file_name, file_size, mime_type, uploaded_by, status,
         created_at, expires_at, cleanup_at)
       VALUES ($1, $2, 'test', $3, 'a.png', 1, 'image/png', 'merchant', 'waiting', now(), now(), '2026-11-21T12:00:04Z')`,
      [evidence, accountId, medCase],
    );
    await runner.query('RESET session_replication_role');
    await runner.release();
    const mail = randomUUID();
    await source.query(
      `INSERT INTO emails (id, recipient, subject, text_body, html_body, attempts, next_attempt_at, created_at)
       VALUES ($1, 'a@x.example', 's', 't', 'h', 1, '2026-11-21T12:00:05Z', now())`,
      [mail],
    );
    const underWay = (): Promise<Row[]> =>
      source.query<Row[]>(
        `SELECT id, acquirer_due_at AS due_at FROM transactions WHERE acquirer_due_at IS NOT NULL
         UNION ALL SELECT id, next_attempt_at FROM refunds WHERE status IN ('PENDING', 'IN_PROGRESS') AND attempts = 3
         UNION ALL SELECT id, next_attempt_at FROM acquirer_callbacks WHERE status = 'pending' AND attempts = 2
         UNION ALL SELECT id, next_attempt_at FROM pix_returns WHERE status = 'IN_PROGRESS' AND attempts = 4
         UNION ALL SELECT id, next_attempt_at FROM emails WHERE status = 'pending' AND attempts = 1
         UNION ALL SELECT id, cleanup_at FROM med_evidence WHERE cleanup_at IS NOT NULL ORDER BY due_at`,
      );
    const was = await underWay();
    expect(was).toHaveLength(6);

    // A process of the version before is at it meanwhile.
    const late = randomUUID();
    const other = source.createQueryRunner();
    await other.startTransaction();
    await other.query(
      `INSERT INTO refunds (id, account_id, mode, transaction_id, acquirer, payment_reference, way, amount, fee, currency,
         status, attempts, next_attempt_at, created_at, updated_at)
       VALUES ($1, $2, 'test', $3, 'sandbox', 'E1', 'devolution', 1, 0, 'BRL', 'PENDING', 3, '2026-11-21T12:00:07Z',
         now(), now())`,
      [late, accountId, payment],
    );
    const migrated = source.runMigrations();
    try {
      await waitFor('the migration to wait', async () => {
        const waiting = await source.query<Row[]>(
          `SELECT FROM pg_locks WHERE NOT granted AND relation IN ('refunds'::regclass, 'transactions'::regclass)`,
        );
        return waiting.length > 0;
      });
    } finally {
      await other.commitTransaction();
      await other.release();
      await migrated;
    }
    was.push({ id: late, due_at: new Date('2026-11-21T12:00:07Z') } as unknown as Row);
    // A callback that nobody has read is found in the acquirer's list.
    was.splice(2, 1);
    const callbacks = await source.query<Row[]>('SELECT status, hints FROM acquirer_callbacks ORDER BY status');
    expect(callbacks).toEqual(['read', 'unreadable'].map((status) => ({ status, hints: 0 })));
    const work = await source.query<Row[]>('SELECT kind, subject_id AS id, due_at, attempts FROM work ORDER BY due_at');
    expect(work.map(({ id, due_at }) => ({ id, due_at }))).toEqual(was);
    expect(work.map(({ kind, attempts }) => `${String(kind)} ${String(attempts)}`)).toEqual([
      'acquirer 0',
      'refund 3',
      'evidence_cleanup 0',
      'mail 1',
      'return 4',
      'refund 3',
    ]);

    while (await isThere()) await source.undoLastMigration();
    expect(await underWay()).toEqual(was);
    await source.runMigrations();
    for (const table of [
      'work',
      'emails',
      'med_evidence',
      'acquirer_callbacks',
      'refunds',
      'pix_returns',
      'transaction_changes',
      'transactions',
    ]) {
      await source.query(`DELETE FROM ${table}`);
    }
  });

  it('make the tables that the entities describe: nothing would have to be changed', async () => {
    const sql = await source.driver.createSchemaBuilder().log();
    // Entities name columns. Indexes, keys and checks are the migrations' alone: named twice, the second text may lie.
    const isOfMigrations = (query: string): boolean => /^DROP INDEX |^ALTER TABLE "\w+" DROP CONSTRAINT /.test(query);
    expect(sql.upQueries.map(({ query }) => query).filter((query) => !isOfMigrations(query))).toEqual([]);
  });

  it('make no table without an entity', async () => {
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

  it('keep amounts in bigint, times with their zone, ids as uuid, and nothing as a float', async () => {
    const rows = await source.query<Row[]>(
      `SELECT table_name || '.' || column_name AS column, udt_name AS type FROM information_schema.columns
       WHERE table_schema = 'public' AND table_name <> 'migrations'`,
    );
    const wrong = rows.filter(({ column = '', type = '' }) => {
      // As it was sent, with its keys in their order.
      if (column === 'transactions.metadata') return type !== 'json';
      // A sum of what was asked for; unlike what was paid, nothing limits it.
      if (column === 'transaction_figures.amount') return type !== 'numeric';
      if (/(?:amount|_fee|fee_fixed)$/.test(column)) return type !== 'int8';
      if (/(?:_at|_until)$/.test(column)) return type !== 'timestamptz';
      if (/(?:\.id|_id)$/.test(column) && !/(?:end_to_end_id|request_id|return_id|tax_id|\.key_id)$/.test(column))
        return type !== 'uuid';
      return ['float4', 'float8', 'numeric', 'money', 'timestamp', 'varchar', 'json'].includes(type);
    });
    expect(wrong).toEqual([]);
  });

  it('name every constraint and index, so that the code can tell them apart and they are the same everywhere', async () => {
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
