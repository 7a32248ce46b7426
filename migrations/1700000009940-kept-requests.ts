import type { MigrationInterface, QueryRunner } from 'typeorm';
import { redefine } from './redefine.js';

const ANY_DAY = `to_char(first_kept, 'YYYYMMDD')`;
const OLD_DAY = `to_char(least(first_kept, (now() AT TIME ZONE 'UTC')::date - 1), 'YYYYMMDD')`;

/** Logged requests of today and yesterday stay, whatever the service's role asks for; no logged request is changed. */
export class KeptRequests1700000009940 implements MigrationInterface {
  readonly name = 'KeptRequests1700000009940';

  async up(queryRunner: QueryRunner): Promise<void> {
    await redefine(queryRunner, 'request_logs_drop_before', ANY_DAY, OLD_DAY);
    await queryRunner.query(`
      CREATE TRIGGER request_logs_append_only BEFORE UPDATE OR DELETE ON request_logs
        FOR EACH ROW EXECUTE FUNCTION refuse_change();
      CREATE TRIGGER request_logs_keep BEFORE TRUNCATE ON request_logs
        FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP TRIGGER request_logs_keep ON request_logs;
      DROP TRIGGER request_logs_append_only ON request_logs;
    `);
    await redefine(queryRunner, 'request_logs_drop_before', OLD_DAY, ANY_DAY);
  }
}
