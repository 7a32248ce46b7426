import type { MigrationInterface, QueryRunner } from 'typeorm';

export class PutOffReleases1700000007110 implements MigrationInterface {
  readonly name = 'PutOffReleases1700000007110';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE releases
        -- That failed.
        ADD COLUMN attempts integer NOT NULL DEFAULT 0,
        -- Null: at release_at. Else not before this, as the last attempt failed.
        ADD COLUMN next_attempt_at timestamptz;
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE releases DROP COLUMN attempts, DROP COLUMN next_attempt_at');
  }
}
