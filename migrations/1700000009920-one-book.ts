import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * A Pix has one end-to-end id in the world: whichever of several acquirers shows it, it is settled once. A Pix that was
 * settled twice keeps its second settlement in a namespace of its own.
 */
export class OneBook1700000009920 implements MigrationInterface {
  readonly name = 'OneBook1700000009920';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE settlements DISABLE TRIGGER settlements_fixed;
      UPDATE settlements s SET namespace = s.id FROM settlements first
        WHERE s.namespace IS NULL AND first.namespace IS NULL AND first.end_to_end_id = s.end_to_end_id
          AND ((first.outcome = 'credited')::int, s.id) > ((s.outcome = 'credited')::int, first.id);
      ALTER TABLE settlements ENABLE TRIGGER settlements_fixed;
      ALTER TABLE settlements DROP CONSTRAINT settlements_end_to_end_id_key,
        ADD CONSTRAINT settlements_end_to_end_id_key UNIQUE NULLS NOT DISTINCT (end_to_end_id, namespace);
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE settlements DROP CONSTRAINT settlements_end_to_end_id_key,
        ADD CONSTRAINT settlements_end_to_end_id_key UNIQUE NULLS NOT DISTINCT (acquirer, namespace, end_to_end_id);
    `);
  }
}
