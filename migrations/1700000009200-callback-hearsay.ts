import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Which notifications only a callback has told of, and which secrets the address of a connection's callbacks may have. */
export class CallbackHearsay1700000009200 implements MigrationInterface {
  readonly name = 'CallbackHearsay1700000009200';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE acquirer_notifications ADD COLUMN is_hearsay boolean NOT NULL DEFAULT false;
      ALTER TABLE acquirer_connections ADD COLUMN callback_secret integer NOT NULL DEFAULT 1,
        ADD COLUMN oldest_callback_secret integer NOT NULL DEFAULT 1;
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE acquirer_connections DROP COLUMN oldest_callback_secret, DROP COLUMN callback_secret;
      ALTER TABLE acquirer_notifications DROP COLUMN is_hearsay;
    `);
  }
}
