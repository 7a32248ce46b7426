import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Colour and logo of a merchant's checkout. */
export class Brands1700000009717 implements MigrationInterface {
  readonly name = 'Brands1700000009717';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE accounts ADD COLUMN accent text, ADD COLUMN logo text');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE accounts DROP COLUMN accent, DROP COLUMN logo');
  }
}
