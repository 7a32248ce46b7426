import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Payers get a receipt by mail, unless the account does not want it. */
export class PayerReceipts1700000009520 implements MigrationInterface {
  readonly name = 'PayerReceipts1700000009520';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE accounts ADD COLUMN payer_receipts boolean NOT NULL DEFAULT true');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DELETE FROM work WHERE kind = 'receipt'; ALTER TABLE accounts DROP COLUMN payer_receipts`);
  }
}
