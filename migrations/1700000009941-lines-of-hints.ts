import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Hints wait in lines: an acquirer's unconfirmed reports, and its other hints. Each is claimed in turn. */
export class LinesOfHints1700000009941 implements MigrationInterface {
  readonly name = 'LinesOfHints1700000009941';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP INDEX acquirer_notifications_due_idx;
      CREATE INDEX acquirer_notifications_due_idx ON acquirer_notifications (acquirer, is_hearsay, next_attempt_at)
        WHERE status = 'pending';
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP INDEX acquirer_notifications_due_idx;
      CREATE INDEX acquirer_notifications_due_idx ON acquirer_notifications (next_attempt_at) WHERE status = 'pending';
    `);
  }
}
