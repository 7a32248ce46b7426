import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A callback is read when it comes. What was not read before the upgrade is found in the acquirer's list. */
export class CallbacksAtOnce1700000009100 implements MigrationInterface {
  readonly name = 'CallbacksAtOnce1700000009100';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      LOCK TABLE acquirer_callbacks IN ACCESS EXCLUSIVE MODE;
      DELETE FROM work WHERE kind = 'callback';
      UPDATE acquirer_callbacks SET status = 'unreadable' WHERE status = 'pending';
      UPDATE acquirer_callbacks SET hints = 0 WHERE hints IS NULL;
      ALTER TABLE acquirer_callbacks ALTER COLUMN status DROP DEFAULT, ALTER COLUMN hints SET NOT NULL,
        DROP COLUMN last_error;
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE acquirer_callbacks ALTER COLUMN status SET DEFAULT 'pending', ALTER COLUMN hints DROP NOT NULL,
        ADD COLUMN last_error text;
    `);
  }
}
