import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Payouts of a connection that wait to be sent are found fast, and the member who set a schedule is known. */
export class PayoutLine1700000030000 implements MigrationInterface {
  readonly name = 'PayoutLine1700000030000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE INDEX payouts_line_idx ON payouts (acquirer, send_after, id) WHERE status = 'QUEUED';
      -- Null: an operator or the command line. This member cannot approve the schedule's payouts.
      ALTER TABLE accounts ADD payout_schedule_by uuid;
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP INDEX payouts_line_idx;
      ALTER TABLE accounts DROP payout_schedule_by;
    `);
  }
}
