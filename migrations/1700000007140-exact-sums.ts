import type { MigrationInterface, QueryRunner } from 'typeorm';

export class ExactSums1700000007140 implements MigrationInterface {
  readonly name = 'ExactSums1700000007140';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      -- 2^53 - 1: a balance beyond it could not be read any more. What would bring it there is refused. The sum of a
      -- merchant's balances is what clearing has with the other sign, so that no total is beyond it either.
      ALTER TABLE balances
        ADD CONSTRAINT balances_exact_check CHECK (amount BETWEEN -9007199254740991 AND 9007199254740991);
      -- What was asked for is limited by nothing, and one sum past a bigint's end would stop the folding for everybody.
      ALTER TABLE transaction_figures ALTER COLUMN amount TYPE numeric;
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE transaction_figures ALTER COLUMN amount TYPE bigint;
      ALTER TABLE balances DROP CONSTRAINT balances_exact_check;
    `);
  }
}
