import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Events can be read on from the last one that was seen, without a gap: each has the number of the database transaction
 * that wrote it. Those from before have 0, and stand in the order of their ids before all others.
 */
export class EventPositions1700000009730 implements MigrationInterface {
  readonly name = 'EventPositions1700000009730';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE FUNCTION current_xid() RETURNS bigint LANGUAGE sql VOLATILE
        RETURN pg_current_xact_id()::text::bigint;
      ALTER TABLE events ADD COLUMN xid bigint NOT NULL DEFAULT 0;
      ALTER TABLE events ALTER COLUMN xid SET DEFAULT current_xid();
      CREATE INDEX events_position_idx ON events (account_id, mode, xid, id);
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE events DROP COLUMN xid; DROP FUNCTION current_xid()');
  }
}
