import type { MigrationInterface, QueryRunner } from 'typeorm';
import { redefine } from './redefine.js';

const SAME_WALLET = `FROM inserted i JOIN journal_entries e ON e.id = i.entry_id
        WHERE`;
const SAME_WALLET_BY_INDEX = `FROM inserted i
        CROSS JOIN LATERAL (SELECT * FROM journal_entries WHERE id = i.entry_id LIMIT 1) e
        WHERE`;

const ALL_LINES = `SELECT l.entry_id INTO wrong FROM journal_lines l WHERE l.entry_id IN (SELECT entry_id FROM inserted)
        GROUP BY l.entry_id HAVING count(*) > (SELECT count(*) FROM inserted i WHERE i.entry_id = l.entry_id) LIMIT 1;`;
const ALL_LINES_BY_INDEX = `SELECT i.entry_id INTO wrong FROM (SELECT entry_id, count(*) AS lines FROM inserted GROUP BY entry_id) i
        WHERE i.lines < (SELECT count(*) FROM journal_lines l WHERE l.entry_id = i.entry_id) LIMIT 1;`;

const SOME_LINE = 'WHERE NOT EXISTS (SELECT 1 FROM journal_lines l WHERE l.entry_id = i.id) LIMIT 1;';
const SOME_LINE_BY_INDEX =
  'WHERE (SELECT l.line FROM journal_lines l WHERE l.entry_id = i.id LIMIT 1) IS NULL LIMIT 1;';

const IS_PAID = `EXISTS (
              SELECT 1 FROM transactions t WHERE t.id = NEW.transaction_id AND t.paid_at IS NOT NULL
                AND (t.account_id, t.mode, t.acquirer, t.end_to_end_id) = (NEW.account_id, NEW.mode, NEW.acquirer, NEW.end_to_end_id))`;
const ONE_PLAN = `IF NOT (CASE NEW.outcome
            WHEN 'credited' THEN ${IS_PAID}
            WHEN 'returned'`;
const TWO_PLANS = `IF NEW.outcome = 'credited' THEN
          IF NOT EXISTS (
              SELECT 1 FROM (SELECT * FROM transactions WHERE id = NEW.transaction_id OFFSET 0) t WHERE t.paid_at IS NOT NULL
                AND (t.account_id, t.mode, t.acquirer, t.end_to_end_id) = (NEW.account_id, NEW.mode, NEW.acquirer, NEW.end_to_end_id)) THEN
            RAISE EXCEPTION 'settlement % is % and nothing says so', NEW.id, NEW.outcome;
          END IF;
        ELSIF NOT (CASE NEW.outcome
            WHEN 'returned'`;

const STEPS = [
  ['refuse_unbalanced', SAME_WALLET, SAME_WALLET_BY_INDEX],
  ['refuse_unbalanced', ALL_LINES, ALL_LINES_BY_INDEX],
  ['refuse_empty_entry', SOME_LINE, SOME_LINE_BY_INDEX],
  ['check_settlement_corrected', ONE_PLAN, TWO_PLANS],
] as const;

/** Functions of somebody else, or with a path of their own, stay as they are. */
const HAS_NO_PATH = `coalesce(p.proconfig::text, '') NOT LIKE '%search_path=%'`;
const HAS_THIS_PATH = `p.proconfig::text LIKE '%search_path=public, pg_temp%'`;

/** A table of the same name in the session's own schema would stand before the real one, and a check would look there. */
const setPath = (how: string, which: string): string => `
  DO $$
  DECLARE checks regprocedure;
  BEGIN
    FOR checks IN SELECT DISTINCT p.oid::regprocedure FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid
      WHERE NOT t.tgisinternal AND p.pronamespace = 'public'::regnamespace AND p.proowner = current_user::regrole
        AND ${which} LOOP
      EXECUTE format('ALTER FUNCTION %s ${how}', checks);
    END LOOP;
  END $$`;

/** They look up rows that they know by key, in tables that grow. */
const BY_KEY = [
  ...['refuse_unbalanced', 'refuse_empty_entry', 'check_settlement_corrected', 'check_paid', 'check_release'],
  ...['check_provider_fee', 'check_refund_posted', 'check_suspended'],
];
const PLANS = ['enable_seqscan', 'enable_hashjoin', 'enable_mergejoin'];

/**
 * The rules are the same, and asked for row by row. PostgreSQL keeps the plan of a function for as long as the
 * connection lives: made while the journal is small, a join reads all of it at every posting until its statistics are
 * next collected. A condition of three questions is planned anew at each settlement. And whatever a session calls its
 * temporary tables, the checks look into the real ones.
 */
export class ChecksByIndex1700000009870 implements MigrationInterface {
  readonly name = 'ChecksByIndex1700000009870';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const [name, from, to] of STEPS) await redefine(queryRunner, name, from, to);
    await queryRunner.query(setPath('SET search_path = public, pg_temp', HAS_NO_PATH));
    for (const name of BY_KEY) {
      for (const plan of PLANS) await queryRunner.query(`ALTER FUNCTION ${name}() SET ${plan} = off`);
    }
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const name of BY_KEY) await queryRunner.query(`ALTER FUNCTION ${name}() RESET ALL`);
    await queryRunner.query(setPath('RESET search_path', HAS_THIS_PATH));
    for (const [name, from, to] of STEPS) await redefine(queryRunner, name, to, from);
  }
}
