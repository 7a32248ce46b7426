import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The service's role may not drop tables nor delete audit events: these functions do for it what is due, as the role that
 * owns them. Their search_path is fixed, with the session's own temporary tables last, so that no caller can put another
 * table in the place of the one that is meant.
 */
export class ServiceRole1700000009400 implements MigrationInterface {
  readonly name = 'ServiceRole1700000009400';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE FUNCTION audit_events_remove(before uuid, most integer) RETURNS integer
        LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
        WITH removed AS (
          DELETE FROM audit_events WHERE id IN (
            SELECT id FROM audit_events WHERE id < before AND created_at <= now() - interval '5 years'
            ORDER BY id LIMIT most)
          RETURNING 1
        )
        SELECT count(*)::integer FROM removed
      $$;
      ALTER FUNCTION request_logs_add_days(date[]) SECURITY DEFINER SET search_path = public, pg_temp;
      ALTER FUNCTION request_logs_drop_before(date) SECURITY DEFINER SET search_path = public, pg_temp;
      REVOKE ALL ON FUNCTION audit_events_remove(uuid, integer), request_logs_add_days(date[]),
        request_logs_drop_before(date) FROM PUBLIC;
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      GRANT EXECUTE ON FUNCTION request_logs_add_days(date[]), request_logs_drop_before(date) TO PUBLIC;
      ALTER FUNCTION request_logs_drop_before(date) SECURITY INVOKER RESET ALL;
      ALTER FUNCTION request_logs_add_days(date[]) SECURITY INVOKER RESET ALL;
      DROP FUNCTION audit_events_remove(uuid, integer);
    `);
  }
}
