import type { MigrationInterface, QueryRunner } from 'typeorm';

/** By itself, since nobody reads or writes a sale meanwhile: the next one fills in what was sent back until now. */
export class ReturnsOfASale1700000007300 implements MigrationInterface {
  readonly name = 'ReturnsOfASale1700000007300';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      -- Late, double and wrong Pix that the bank has sent back to their payers, as the merchant sees them. On the
      -- transaction itself, so that no read of one asks elsewhere; null where there is none, which is nearly everywhere.
      ALTER TABLE transactions ADD COLUMN returns jsonb;
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE transactions DROP COLUMN returns');
  }
}
