import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Who sent an invitation: it ends with them. */
export class Inviters1700000009716 implements MigrationInterface {
  readonly name = 'Inviters1700000009716';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE invitations ADD COLUMN invited_by uuid');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE invitations DROP COLUMN invited_by');
  }
}
