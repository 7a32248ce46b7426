import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Sales are read and written meanwhile; the few that have returns are only read. */
export class ReturnsUntilNow1700000007310 implements MigrationInterface {
  readonly name = 'ReturnsUntilNow1700000007310';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      UPDATE transactions t SET returns = r.returns FROM (
        SELECT p.transaction_id, jsonb_agg(jsonb_build_object('amount', p.amount, 'reason', p.reason,
          'endToEndId', p.end_to_end_id,
          'at', to_char(p.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) ORDER BY p.updated_at) AS returns
        FROM pix_returns p
        WHERE p.status = 'RETURNED' AND p.way = 'devolution'
          AND p.reason IN ('late', 'duplicate', 'wrong_amount', 'charge_closed')
        GROUP BY p.transaction_id) r
      WHERE t.id = r.transaction_id;

      -- For operators who look at one account. Last, as no return is written while it is made.
      CREATE INDEX pix_returns_account_id_idx ON pix_returns (account_id, id);
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP INDEX pix_returns_account_id_idx');
  }
}
