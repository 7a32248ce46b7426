import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Open disputes in the order of their deadlines, and reports of what a list was filtered to. */
export class FilteredLists1700000009850 implements MigrationInterface {
  readonly name = 'FilteredLists1700000009850';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE INDEX med_cases_open_idx ON med_cases (account_id, mode, coalesce(response_deadline, 'infinity'), id)
        WHERE visible AND status = 'open';
      ALTER TABLE reports ADD COLUMN filters jsonb;
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE reports DROP COLUMN filters;
      DROP INDEX med_cases_open_idx;
    `);
  }
}
