import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Which mails tell of test mode, where everything that they tell of costs nothing. */
export class TestMails1700000009770 implements MigrationInterface {
  readonly name = 'TestMails1700000009770';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE emails ADD COLUMN is_test boolean NOT NULL DEFAULT false');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE emails DROP COLUMN is_test');
  }
}
