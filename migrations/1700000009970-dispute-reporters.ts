import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A sandbox dispute names who opened it where its report does, which is not always the payer. */
export class DisputeReporters1700000009970 implements MigrationInterface {
  readonly name = 'DisputeReporters1700000009970';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE sandbox_disputes ADD COLUMN payer_sealed bytea');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE sandbox_disputes DROP COLUMN payer_sealed');
  }
}
