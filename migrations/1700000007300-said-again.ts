import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What a read of a transaction, or the second answer of a cancellation, says of what happened to it. */
export class SaidAgain1700000007300 implements MigrationInterface {
  readonly name = 'SaidAgain1700000007300';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      -- The status before CANCELLED.
      ALTER TABLE transactions ADD COLUMN cancelled_from text;
      UPDATE transactions t SET cancelled_from = coalesce((
        SELECT v.data ->> 'previousStatus' FROM events v
        WHERE v.subject_id = t.id AND v.type = 'transaction.cancelled' ORDER BY v.sequence DESC LIMIT 1), 'WAITING_PAYMENT')
      WHERE t.status = 'CANCELLED';

      -- Late, double and wrong Pix that the bank has sent back to their payers, as the merchant sees them. On the
      -- transaction itself, so that no read of one asks elsewhere; null where there is none, which is nearly everywhere.
      ALTER TABLE transactions ADD COLUMN returns jsonb;
      UPDATE transactions t SET returns = r.returns FROM (
        SELECT p.transaction_id, jsonb_agg(jsonb_build_object('amount', p.amount, 'reason', p.reason,
          'endToEndId', p.end_to_end_id,
          'at', to_char(p.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) ORDER BY p.updated_at) AS returns
        FROM pix_returns p
        WHERE p.status = 'RETURNED' AND p.way = 'devolution'
          AND p.reason IN ('late', 'duplicate', 'wrong_amount', 'charge_closed')
        GROUP BY p.transaction_id) r
      WHERE t.id = r.transaction_id;

      -- For operators who look at one account.
      CREATE INDEX pix_returns_account_id_idx ON pix_returns (account_id, id);
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP INDEX pix_returns_account_id_idx;
      ALTER TABLE transactions DROP COLUMN returns;
      ALTER TABLE transactions DROP COLUMN cancelled_from;
    `);
  }
}
