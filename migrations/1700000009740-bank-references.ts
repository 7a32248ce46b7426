import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Sales are found by the ids of what went back: a Pix that was not credited, a refund. */
export class BankReferences1700000009740 implements MigrationInterface {
  readonly name = 'BankReferences1700000009740';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE INDEX settlements_uncredited_idx ON settlements (end_to_end_id) WHERE outcome <> 'credited';
      CREATE INDEX refunds_bank_reference_idx ON refunds (bank_reference) WHERE bank_reference IS NOT NULL;
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP INDEX settlements_uncredited_idx, refunds_bank_reference_idx');
  }
}
