import type { MigrationInterface, QueryRunner } from 'typeorm';
import { redefine } from './redefine.js';

const SETTLED = `EXISTS (
            SELECT 1 FROM settlements s WHERE s.transaction_id = NEW.id AND s.outcome = 'credited' AND s.amount = NEW.amount)`;
const POSTED = `EXISTS (
  SELECT 1 FROM journal_entries e JOIN journal_lines l ON l.entry_id = e.id
  WHERE e.cause = 'charge.paid:' || NEW.id AND (l.account_id, l.mode) = (NEW.account_id, NEW.mode) AND l.currency = NEW.currency AND l.bucket IN ('clearing', 'suspense') AND l.amount = -NEW.amount)`;
const REFUSED = `RAISE EXCEPTION 'transaction % is paid without a credited settlement of its amount and a journal entry', NEW.id;`;

const ONE = `IF NOT ${SETTLED}
          OR NOT ${POSTED} THEN
          ${REFUSED}
        END IF;
        RETURN NULL;`;
const TWO = `IF ${SETTLED} THEN
          IF ${POSTED} THEN
            RETURN NULL;
          END IF;
        END IF;
        ${REFUSED}`;

/** The same rule. A condition of two questions is planned anew for each payment, which takes longer than its answers. */
export class PaidInTwoQuestions1700000009890 implements MigrationInterface {
  readonly name = 'PaidInTwoQuestions1700000009890';

  async up(queryRunner: QueryRunner): Promise<void> {
    await redefine(queryRunner, 'check_paid', ONE, TWO);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await redefine(queryRunner, 'check_paid', TWO, ONE);
  }
}
