import type { MigrationInterface, QueryRunner } from 'typeorm';

const corrected = (of: string, when: string): string => `
  CREATE CONSTRAINT TRIGGER settlements_corrected AFTER UPDATE OF outcome ON settlements
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (OLD.outcome IN (${of}) AND OLD.outcome <> NEW.outcome)
    EXECUTE FUNCTION check_settlement_corrected();
  ${when}`;

/**
 * What the database still took: a payment that is credited or goes back from its first row or from an operator's review
 * on, without the sale that it pays or the return that sends it, and a release before its day.
 */
export class CreditsAndDays1700000009825 implements MigrationInterface {
  readonly name = 'CreditsAndDays1700000009825';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP TRIGGER settlements_corrected ON settlements;
      ${corrected(
        `'unmatched', 'returned', 'review'`,
        `CREATE CONSTRAINT TRIGGER settlements_made AFTER INSERT ON settlements
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.outcome IN ('credited', 'returned', 'closed'))
        EXECUTE FUNCTION check_settlement_corrected();`,
      )}
      ALTER TABLE releases ADD CONSTRAINT releases_released_at_check CHECK (released_at >= release_at);
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE releases DROP CONSTRAINT releases_released_at_check;
      DROP TRIGGER settlements_made ON settlements;
      DROP TRIGGER settlements_corrected ON settlements;
      ${corrected(`'unmatched', 'returned'`, '')}
    `);
  }
}
