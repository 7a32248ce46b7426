import { randomBytes } from 'node:crypto';
import pg from 'pg';

const TEMPLATE = 'recebe_template';

function adminUrl(): string {
  const url = process.env['TEST_POSTGRES_URL'];
  if (!url) throw new Error('TEST_POSTGRES_URL is not set: run the tests with `npm test`, which starts PostgreSQL');
  return url;
}

async function admin(sql: string): Promise<void> {
  const url = new URL(adminUrl());
  url.pathname = '/postgres'; // PostgreSQL copies a template only while it has no connections
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

export interface TestDatabase {
  /** As the service's role. */
  readonly url: string;
  /** As the role that owns the tables. */
  readonly ownerUrl: string;
  /** For what a spec asks of it by itself, as the owner: making a connection costs more than most questions. */
  readonly pool: pg.Pool;
  drop(): Promise<void>;
}

/** A fresh, migrated database for one spec file: a copy of the template, some tens of milliseconds. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const name = `t_${process.env['JEST_WORKER_ID'] ?? '0'}_${randomBytes(6).toString('hex')}`;
  return createDatabase(name, TEMPLATE);
}

/** An empty database, without the schema. */
export async function createEmptyDatabase(): Promise<TestDatabase> {
  const name = `e_${process.env['JEST_WORKER_ID'] ?? '0'}_${randomBytes(6).toString('hex')}`;
  return createDatabase(name, 'template0');
}

async function createDatabase(name: string, template: string): Promise<TestDatabase> {
  // By copying files: a third of the time of writing all of it into the log as well.
  await admin(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`);
  const url = at(process.env['TEST_SERVICE_URL'] ?? '', name);
  const ownerUrl = at(adminUrl(), name);
  const pool = new pg.Pool({ connectionString: ownerUrl, max: 4, idleTimeoutMillis: 2_000, allowExitOnIdle: true });
  pool.on('error', () => undefined); // that its database goes away is what some specs are about
  const drop = async (): Promise<void> => {
    await pool.end();
    await admin(`DROP DATABASE ${name} WITH (FORCE)`);
  };
  return { url, ownerUrl, pool, drop };
}

function at(server: string, name: string): string {
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}
