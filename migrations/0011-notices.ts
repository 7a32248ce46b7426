import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The notices that each person of an account wants. */
export class Notices1700000110000 implements MigrationInterface {
  readonly name = 'Notices1700000110000';

  async up(queryRunner: QueryRunner): Promise<void> {
    // Null: the defaults of the role.
    await queryRunner.query('ALTER TABLE members ADD notice_mails text[], ADD notice_toasts text[]');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE members DROP notice_mails, DROP notice_toasts');
  }
}
