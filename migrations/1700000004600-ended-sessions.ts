import type { MigrationInterface, QueryRunner } from 'typeorm';

export class EndedSessions1700000004600 implements MigrationInterface {
  readonly name = 'EndedSessions1700000004600';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      -- Tokens given to the user before this are ended, all at once; null: none were.
      ALTER TABLE users ADD COLUMN sessions_from timestamptz;
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE users DROP COLUMN sessions_from');
  }
}
