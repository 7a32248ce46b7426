import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Retention1700000009000 implements MigrationInterface {
  readonly name = 'Retention1700000009000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP TRIGGER audit_events_append_only ON audit_events;
      CREATE TRIGGER audit_events_append_only BEFORE UPDATE ON audit_events
        FOR EACH ROW EXECUTE FUNCTION refuse_change();
      CREATE TRIGGER audit_events_five_years BEFORE DELETE ON audit_events
        FOR EACH ROW WHEN (OLD.created_at > now() - interval '5 years') EXECUTE FUNCTION refuse_change();
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP TRIGGER audit_events_five_years ON audit_events;
      DROP TRIGGER audit_events_append_only ON audit_events;
      CREATE TRIGGER audit_events_append_only BEFORE UPDATE OR DELETE ON audit_events
        FOR EACH ROW EXECUTE FUNCTION refuse_change();
    `);
  }
}
