import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The payouts that an account sent in a night are found fast. */
export class PayoutNight1700000060000 implements MigrationInterface {
  readonly name = 'PayoutNight1700000060000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE INDEX payouts_sent_by_account_idx ON payouts (account_id, mode, sent_at)
        WHERE status IN ('SENDING', 'PAID', 'REFUNDED');
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP INDEX payouts_sent_by_account_idx');
  }
}
