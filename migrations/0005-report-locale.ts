import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Reports in the language and number format of a country, and the monthly closing by mail. */
export class ReportLocale1700000050000 implements MigrationInterface {
  readonly name = 'ReportLocale1700000050000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE reports ADD locale text');
    await queryRunner.query(
      'ALTER TABLE accounts ADD monthly_closing boolean NOT NULL DEFAULT false, ADD monthly_closing_after timestamptz',
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DELETE FROM work WHERE kind = 'monthly_closing'`);
    await queryRunner.query('ALTER TABLE accounts DROP monthly_closing, DROP monthly_closing_after');
    await queryRunner.query('ALTER TABLE reports DROP locale');
  }
}
