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
      -- Everybody's money of a day waits for the same instant: an index that begins with release_at is taken for a
      -- good way to one account's share of it, and reads all of it.
      DROP INDEX releases_due_idx;
      CREATE INDEX releases_due_idx ON releases (coalesce(next_attempt_at, release_at)) WHERE released_at IS NULL;
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP INDEX releases_due_idx;
      CREATE INDEX releases_due_idx ON releases (release_at) WHERE released_at IS NULL;
      ALTER TABLE releases DROP COLUMN attempts, DROP COLUMN next_attempt_at;
    `);
  }
}
