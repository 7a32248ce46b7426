import type { MigrationInterface, QueryRunner } from 'typeorm';

export class LatePix1700000006700 implements MigrationInterface {
  readonly name = 'LatePix1700000006700';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE acquirer_statements DROP CONSTRAINT acquirer_statements_list_check,
        ADD CONSTRAINT acquirer_statements_list_check CHECK (list IN ('payments', 'late_payments', 'returns'));

      -- Money that is nobody's and could not be sent back: for the operators.
      CREATE INDEX pix_returns_failed_idx ON pix_returns (acquirer, end_to_end_id) WHERE status = 'FAILED';
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP INDEX pix_returns_failed_idx;
      DELETE FROM acquirer_statements WHERE list = 'late_payments';
      ALTER TABLE acquirer_statements DROP CONSTRAINT acquirer_statements_list_check,
        ADD CONSTRAINT acquirer_statements_list_check CHECK (list IN ('payments', 'returns'));
    `);
  }
}
