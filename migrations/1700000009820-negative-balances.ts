import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A wallet whose available balance is below zero says since when, and when its merchant is told next. */
export class NegativeBalances1700000009820 implements MigrationInterface {
  readonly name = 'NegativeBalances1700000009820';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE accounts ADD COLUMN negative_notice_days integer NOT NULL DEFAULT 7;
      ALTER TABLE balances ADD COLUMN negative_since timestamptz, ADD COLUMN negative_notice_at timestamptz;
      UPDATE balances SET negative_since = updated_at, negative_notice_at = updated_at
      WHERE bucket = 'available' AND amount < 0;
      ALTER TABLE balances ADD CONSTRAINT balances_negative_check
        CHECK ((negative_since IS NOT NULL) = (bucket = 'available' AND amount < 0)
          AND (negative_notice_at IS NULL OR negative_since IS NOT NULL));
      CREATE INDEX balances_negative_idx ON balances (negative_since) WHERE negative_since IS NOT NULL;
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP INDEX balances_negative_idx;
      ALTER TABLE balances DROP CONSTRAINT balances_negative_check, DROP COLUMN negative_since,
        DROP COLUMN negative_notice_at;
      ALTER TABLE accounts DROP COLUMN negative_notice_days;
    `);
  }
}
