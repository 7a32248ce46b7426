import type { MigrationInterface, QueryRunner } from 'typeorm';
import { MigrationError } from '../src/core/database/index.js';
import { ACCOUNTS } from './baseline/accounts.js';
import { ACQUIRERS } from './baseline/acquirers.js';
import { DISPUTES } from './baseline/disputes.js';
import { LEDGER } from './baseline/ledger.js';
import { PROMISES } from './baseline/promises.js';
import { SALES } from './baseline/sales.js';
import { SANDBOX } from './baseline/sandbox.js';
import { SEARCH } from './baseline/search.js';
import { SERVICE } from './baseline/service.js';
import { STATISTICS } from './baseline/statistics.js';
import { WEBHOOKS } from './baseline/webhooks.js';

/** In this order, as a table refers only to tables before it, and the promises refer to all of them. */
const SCHEMA = [
  ...[ACCOUNTS, SERVICE, SALES, SEARCH, DISPUTES, LEDGER, ACQUIRERS, WEBHOOKS, STATISTICS, SANDBOX],
  PROMISES,
].join('\n');

const namesOf = (kind: 'TABLE' | 'FUNCTION'): string[] =>
  [...SCHEMA.matchAll(new RegExp(`CREATE ${kind} (\\w+) ?\\(`, 'g'))].map(([, name = '']) => name);

/** Migrations of version 0.1. The last one leaves exactly the schema that the baseline makes. */
const BEFORE = { first: 'Initial1700000000000', last: 'MetadataAsSent1700000009995', count: 75 };

/**
 * The whole schema of version 0.2. Most merchant tables carry account_id (a later distribution key) and mode (test and live
 * are separate worlds). Primary keys are UUIDv7 made by the application: their order is the order of creation.
 *
 * A database of version 0.1 whose last migration was applied is taken over as it is: nothing runs, and the rows of its
 * migrations stay, so that version 0.1 can still be started on it.
 */
export class Baseline1700000010000 implements MigrationInterface {
  readonly name = 'Baseline1700000010000';

  async up(queryRunner: QueryRunner): Promise<void> {
    if (await isFromVersionBefore(queryRunner)) return;
    const taken = (await queryRunner.query(
      `SELECT c.relname AS name FROM pg_class c WHERE c.relnamespace = current_schema()::regnamespace AND c.relname = ANY ($1)
       ORDER BY 1`,
      [namesOf('TABLE')],
    )) as { name: string }[];
    if (taken.length > 0) {
      throw new MigrationError(
        `The database already has ${taken.map(({ name }) => name).join(', ')}, and no migration of Recebe made that. ` +
          'Give Recebe a database of its own.',
      );
    }
    await queryRunner.query(SCHEMA);
  }

  /** Drops every table and all that is in it. */
  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP TABLE ${namesOf('TABLE').join(', ')};
      DROP FUNCTION ${namesOf('FUNCTION').join(', ')};
      DELETE FROM migrations WHERE "timestamp" <= ${/\d+$/.exec(BEFORE.last)?.[0] ?? ''};
    `);
  }
}

/** @throws MigrationError if version 0.1 made the database and some of its migrations are missing */
async function isFromVersionBefore(queryRunner: QueryRunner): Promise<boolean> {
  const rows = (await queryRunner.query('SELECT name FROM migrations ORDER BY "timestamp", id')) as { name: string }[];
  const applied = rows.map(({ name }) => name);
  if (!applied.includes(BEFORE.first)) return false;
  if (applied.includes(BEFORE.last) && applied.length >= BEFORE.count) return true;
  throw new MigrationError(
    `The database is at migration ${applied.at(-1) ?? ''} of version 0.1, ${applied.length} of ${BEFORE.count} migrations. ` +
      `This version takes over a database at ${BEFORE.last}, the last migration of 0.1, and none before it. ` +
      'Nothing was changed. Start the last 0.1 version on the database once, then this one.',
  );
}
