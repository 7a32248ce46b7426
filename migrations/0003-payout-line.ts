import type { MigrationInterface, QueryRunner } from 'typeorm';

/** An index for the payouts of a connection that wait to be sent. */
export class PayoutLine1700000030000 implements MigrationInterface {
  readonly name = 'PayoutLine1700000030000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      `CREATE INDEX payouts_line_idx ON payouts (acquirer, send_after, id) WHERE status = 'QUEUED'`,
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP INDEX payouts_line_idx');
  }
}
