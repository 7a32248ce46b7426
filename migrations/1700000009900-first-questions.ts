import type { MigrationInterface, QueryRunner } from 'typeorm';

/** When the acquirer of a charge past its expiry was first asked about it, or put off: its silence is measured from then. */
export class FirstQuestions1700000009900 implements MigrationInterface {
  readonly name = 'FirstQuestions1700000009900';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE transactions ADD COLUMN expiry_first_asked_at timestamptz');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE transactions DROP COLUMN expiry_first_asked_at');
  }
}
