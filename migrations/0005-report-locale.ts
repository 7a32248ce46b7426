import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Reports in the language and number format of a country. */
export class ReportLocale1700000050000 implements MigrationInterface {
  readonly name = 'ReportLocale1700000050000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE reports ADD COLUMN locale text`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE reports DROP COLUMN locale');
  }
}
