import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What a merchant has given back by a Pix of its own leaves the payer's Pix where it was: the payer's bank can still
 * take all of it back. A down migration fails while cases hold such money.
 */
export class Cashouts1700000009750 implements MigrationInterface {
  readonly name = 'Cashouts1700000009750';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE transactions ADD COLUMN cashouts_amount bigint NOT NULL DEFAULT 0;
      UPDATE transactions t SET cashouts_amount = r.amount FROM (
        SELECT transaction_id, sum(amount) AS amount FROM refunds WHERE way = 'cashout' AND status <> 'FAILED' GROUP BY 1) r
      WHERE t.id = r.transaction_id;
      ALTER TABLE transactions
        ADD CONSTRAINT transactions_cashouts_amount_check CHECK (cashouts_amount BETWEEN 0 AND refunds_amount),
        DROP CONSTRAINT transactions_disputed_amount_check,
        ADD CONSTRAINT transactions_disputed_amount_check
          CHECK (disputed_amount >= 0 AND refunds_amount - cashouts_amount + disputed_amount <= amount);
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE transactions
        DROP CONSTRAINT transactions_disputed_amount_check,
        ADD CONSTRAINT transactions_disputed_amount_check
          CHECK (disputed_amount >= 0 AND refunds_amount + disputed_amount <= amount),
        DROP COLUMN cashouts_amount;
    `);
  }
}
