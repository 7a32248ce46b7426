import type { MigrationInterface, QueryRunner } from 'typeorm';

const MOVES = [
  ...['review>credited', 'review>returned'],
  ...['unmatched>credited', 'unmatched>returned', 'unmatched>closed', 'returned>closed'],
];

const rules = (moves: readonly string[], assignable: string): string => `
  CREATE OR REPLACE TRIGGER settlements_moves BEFORE UPDATE OF outcome ON settlements FOR EACH ROW
    WHEN (OLD.outcome <> NEW.outcome AND OLD.outcome || '>' || NEW.outcome NOT IN ('${moves.join(`', '`)}'))
    EXECUTE FUNCTION refuse_rewrite();
  CREATE OR REPLACE TRIGGER settlements_assigned BEFORE UPDATE OF transaction_id ON settlements FOR EACH ROW
    WHEN (OLD.transaction_id IS DISTINCT FROM NEW.transaction_id
      AND (OLD.transaction_id IS NOT NULL OR OLD.outcome NOT IN (${assignable}) OR NEW.outcome <> 'credited'))
    EXECUTE FUNCTION refuse_rewrite();`;

/**
 * A Pix of no charge whose return the bank has refused is in suspense as before, and may be assigned to the charge that it
 * pays. One that is on its way back, or back, may not.
 */
export class RefusedReturns1700000009910 implements MigrationInterface {
  readonly name = 'RefusedReturns1700000009910';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ${rules([...MOVES, 'returned>credited'], `'unmatched', 'returned'`)}
      CREATE FUNCTION check_not_back() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
      BEGIN
        IF EXISTS (SELECT 1 FROM pix_returns r
            WHERE (r.account_id, r.acquirer, r.end_to_end_id) = (NEW.account_id, NEW.acquirer, NEW.end_to_end_id)
              AND r.status <> 'FAILED') THEN
          RAISE EXCEPTION 'settlement % is credited, and on its way back or back', NEW.id;
        END IF;
        RETURN NULL;
      END $$;
      CREATE CONSTRAINT TRIGGER settlements_assignable AFTER UPDATE OF outcome ON settlements
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (OLD.outcome = 'returned' AND NEW.outcome = 'credited')
        EXECUTE FUNCTION check_not_back();
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP FUNCTION check_not_back() CASCADE;
      ${rules(MOVES, `'unmatched'`)}
    `);
  }
}
