import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What waits for operators is counted, and they get a mail of what waits too long. A dismissed ruling keeps its case in
 * the queue, and work says since when it fails.
 */
export class OperatorQueues1700000009810 implements MigrationInterface {
  readonly name = 'OperatorQueues1700000009810';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE operator_alerts (
        queue text NOT NULL CONSTRAINT operator_alerts_pkey PRIMARY KEY,
        sent_at timestamptz NOT NULL
      );
      ALTER TABLE work ADD COLUMN failing_since timestamptz;
      UPDATE work SET failing_since = least(due_at, now()) WHERE last_error IS NOT NULL;
      ALTER TABLE med_cases DROP CONSTRAINT med_cases_review_check, ADD CONSTRAINT med_cases_review_check
        CHECK (review IN ('amount_mismatch', 'not_disputable', 'ruling', 'ruling_dismissed', 'contradiction'));
      UPDATE med_cases SET review = 'ruling_dismissed'
      WHERE visible AND review IS NULL AND status IN ('open', 'appealed')
        AND (bank_status = 'canceled' OR (bank_status = 'closed' AND bank_result IS NOT NULL));
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      UPDATE med_cases SET review = NULL WHERE review = 'ruling_dismissed';
      ALTER TABLE med_cases DROP CONSTRAINT med_cases_review_check, ADD CONSTRAINT med_cases_review_check
        CHECK (review IN ('amount_mismatch', 'not_disputable', 'ruling', 'contradiction'));
      ALTER TABLE work DROP COLUMN failing_since;
      DROP TABLE operator_alerts;
    `);
  }
}
