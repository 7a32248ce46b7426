import type { MigrationInterface, QueryRunner } from 'typeorm';

const KINDS = `'month', 'day', 'hour', 'offered', 'paid', 'refunded', 'wait', 'wait_month'`;

/**
 * A figure of kind `settled`: what was paid, by the method used, on the day of São Paulo on which it was paid. Those of
 * kind `paid` are by the day on which the payment was created.
 */
export class SettledFigures1700000009650 implements MigrationInterface {
  readonly name = 'SettledFigures1700000009650';

  async up(queryRunner: QueryRunner): Promise<void> {
    // What is still to be folded is taken off, as folding will add it. Nothing is written or folded meanwhile.
    await queryRunner.query(`
      LOCK TABLE transaction_changes IN SHARE ROW EXCLUSIVE MODE;
      ALTER TABLE transaction_figures DROP CONSTRAINT transaction_figures_kind_check;
      ALTER TABLE transaction_figures ADD CONSTRAINT transaction_figures_kind_check
        CHECK (kind IN (${KINDS}, 'settled'));
      INSERT INTO transaction_figures (account_id, mode, kind, bucket, currency, key, count, amount)
      SELECT account_id, mode, 'settled', date_trunc('day', paid_at, 'America/Sao_Paulo'), currency, paid_with,
        sum(n), sum(n * amount)
      FROM (
        SELECT account_id, mode, paid_at, currency, paid_with, amount, 1 AS n FROM transactions
        UNION ALL
        SELECT account_id, mode, paid_at, currency, paid_with, amount, -1 FROM transaction_changes
      ) p
      WHERE paid_at IS NOT NULL AND paid_with IS NOT NULL GROUP BY 1, 2, 3, 4, 5, 6`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DELETE FROM transaction_figures WHERE kind = 'settled';
      ALTER TABLE transaction_figures DROP CONSTRAINT transaction_figures_kind_check;
      ALTER TABLE transaction_figures ADD CONSTRAINT transaction_figures_kind_check CHECK (kind IN (${KINDS}))`);
  }
}
