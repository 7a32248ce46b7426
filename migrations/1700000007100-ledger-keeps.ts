import type { MigrationInterface, QueryRunner } from 'typeorm';

export class LedgerKeeps1700000007100 implements MigrationInterface {
  readonly name = 'LedgerKeeps1700000007100';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      -- Triggers for each row do not see TRUNCATE, also not one that cascades from another table.
      CREATE TRIGGER journal_entries_keep BEFORE TRUNCATE ON journal_entries
        FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
      CREATE TRIGGER journal_lines_keep BEFORE TRUNCATE ON journal_lines
        FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP TRIGGER journal_lines_keep ON journal_lines;
      DROP TRIGGER journal_entries_keep ON journal_entries;
    `);
  }
}
