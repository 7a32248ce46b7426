import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The list of all refunds of an account. */
export class RefundsList1700000009640 implements MigrationInterface {
  readonly name = 'RefundsList1700000009640';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('CREATE INDEX refunds_list_idx ON refunds (account_id, mode, id)');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP INDEX refunds_list_idx');
  }
}
