import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Reports: what was asked for, how far it is, and where its file lies. */
export class Reports1700000009710 implements MigrationInterface {
  readonly name = 'Reports1700000009710';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE reports (
        id uuid NOT NULL,
        account_id uuid NOT NULL,
        mode text NOT NULL,
        type text NOT NULL,
        format text NOT NULL,
        window_from timestamptz NOT NULL,
        window_to timestamptz NOT NULL,
        columns text[],
        status text NOT NULL,
        rows bigint NOT NULL DEFAULT 0,
        total_rows bigint,
        size bigint,
        object_name text,
        created_at timestamptz NOT NULL,
        ready_at timestamptz,
        expires_at timestamptz,
        CONSTRAINT reports_pkey PRIMARY KEY (id)
      );
      CREATE INDEX reports_list_idx ON reports (account_id, mode, id);
      CREATE INDEX reports_over_idx ON reports (id) WHERE status IN ('failed', 'expired');
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE reports');
  }
}
