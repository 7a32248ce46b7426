import type { MigrationInterface, QueryRunner } from 'typeorm';
import { redefine } from './redefine.js';

const IDENTITY = ['id', 'account_id', 'mode', 'currency', 'transaction_id', 'amount', 'release_at'];

const fixed = (columns: readonly string[]): string => {
  const of = (row: string): string => `(${columns.map((column) => `${row}.${column}`).join(', ')})`;
  return `DROP TRIGGER releases_fixed ON releases;
    CREATE TRIGGER releases_fixed BEFORE UPDATE OF ${columns.join(', ')} ON releases FOR EACH ROW
    WHEN (${of('OLD')} IS DISTINCT FROM ${of('NEW')}) EXECUTE FUNCTION refuse_rewrite();`;
};

/** Pieces of the function `check_release`: of a sale with one release, and of one that may have two. */
const PIECES = [
  [`ELSE 'release:' END`, `WHEN NEW.kind = 'reserve' THEN 'release.reserve:' ELSE 'release:' END`],
  [
    'WHEN waits THEN NEW.amount',
    'WHEN waits THEN (SELECT sum(r.amount) FROM releases r WHERE r.transaction_id = NEW.transaction_id)',
  ],
] as const;

/** A part of each sale can be held longer than the rest: a second release of the sale. */
export class Reserves1700000009840 implements MigrationInterface {
  readonly name = 'Reserves1700000009840';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE accounts
        ADD COLUMN reserve_bps integer NOT NULL DEFAULT 0
          CONSTRAINT accounts_reserve_bps_check CHECK (reserve_bps BETWEEN 0 AND 10000),
        ADD COLUMN reserve_days integer NOT NULL DEFAULT 0
          CONSTRAINT accounts_reserve_days_check CHECK (reserve_days BETWEEN 0 AND 365);
      ALTER TABLE releases
        ADD COLUMN kind text NOT NULL DEFAULT 'sale' CONSTRAINT releases_kind_check CHECK (kind IN ('sale', 'reserve')),
        DROP CONSTRAINT releases_transaction_id_key,
        ADD CONSTRAINT releases_transaction_id_kind_key UNIQUE (transaction_id, kind);
      ${fixed([...IDENTITY, 'kind'])}
    `);
    for (const [one, two] of PIECES) await redefine(queryRunner, 'check_release', one, two);
  }

  /** Where a reserve is left of a sale whose rest is another release, the narrower constraint refuses. */
  async down(queryRunner: QueryRunner): Promise<void> {
    for (const [one, two] of PIECES) await redefine(queryRunner, 'check_release', two, one);
    await queryRunner.query(`
      ${fixed(IDENTITY)}
      ALTER TABLE releases DROP CONSTRAINT releases_transaction_id_kind_key,
        ADD CONSTRAINT releases_transaction_id_key UNIQUE (transaction_id), DROP COLUMN kind;
      ALTER TABLE accounts DROP COLUMN reserve_days, DROP COLUMN reserve_bps;
    `);
  }
}
