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
  url.pathname = '/postgres'; // nobody may be connected to a template while it is copied
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

export interface TestDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

/** A fresh, migrated database for one spec file: a copy of the template, some tens of milliseconds. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const name = `t_${process.env['JEST_WORKER_ID'] ?? '0'}_${randomBytes(6).toString('hex')}`;
  await admin(`CREATE DATABASE ${name} TEMPLATE ${TEMPLATE}`);
  const url = new URL(adminUrl());
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => admin(`DROP DATABASE ${name} WITH (FORCE)`) };
}

/** An empty database, without the schema. */
export async function createEmptyDatabase(): Promise<TestDatabase> {
  const name = `e_${process.env['JEST_WORKER_ID'] ?? '0'}_${randomBytes(6).toString('hex')}`;
  await admin(`CREATE DATABASE ${name} TEMPLATE template0`);
  const url = new URL(adminUrl());
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => admin(`DROP DATABASE ${name} WITH (FORCE)`) };
}
