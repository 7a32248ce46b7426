import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What the lines of each balance come to up to an entry, so that a check adds up only what was posted since. */
export class BalanceCheckpoints1700000009880 implements MigrationInterface {
  readonly name = 'BalanceCheckpoints1700000009880';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE balance_checkpoints (
        account_id uuid NOT NULL,
        mode text NOT NULL,
        currency text NOT NULL,
        bucket text NOT NULL,
        amount bigint NOT NULL,
        number bigint NOT NULL,
        CONSTRAINT balance_checkpoints_pkey PRIMARY KEY (account_id, mode, currency, bucket)
      );
      CREATE TABLE balance_checks (
        single boolean NOT NULL DEFAULT true,
        checked_at timestamptz NOT NULL,
        incoherent integer NOT NULL,
        CONSTRAINT balance_checks_pkey PRIMARY KEY (single),
        CONSTRAINT balance_checks_single_check CHECK (single)
      );
      INSERT INTO balance_checks (checked_at, incoherent) VALUES ('-infinity', 0);
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE balance_checks, balance_checkpoints');
  }
}
