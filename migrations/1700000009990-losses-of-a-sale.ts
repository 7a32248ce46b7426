import type { MigrationInterface, QueryRunner } from 'typeorm';
import { redefine } from './redefine.js';

const COUNTED = '(t.refunds_amount, t.cashouts_amount, t.disputed_amount) <> (r.refunded, r.cashed_out, c.disputed)';
const CASES = `FROM med_cases c WHERE c.transaction_id = t.id) c`;
const LOSSES = `, LATERAL (
            SELECT coalesce(sum(amount), 0) AS lost FROM corrections l
            WHERE l.transaction_id = t.id AND l.kind = 'loss' AND l.status = 'applied') l`;
const COUNTED_WITH_LOSSES =
  '(t.refunds_amount, t.cashouts_amount, t.disputed_amount, t.losses_amount) <> (r.refunded, r.cashed_out, c.disputed, l.lost)';

const AMOUNTS = 'refunds_amount, cashouts_amount, disputed_amount, losses_amount';
const taken = (row: string): string =>
  `${row}.losses_amount + greatest(${row}.refunds_amount, ${row}.refunds_amount - ${row}.cashouts_amount + ${row}.disputed_amount)`;

/**
 * A sale counts what operators have entered as lost of it. With its refunds, and with its devolutions and what disputes
 * hold or have taken, that is at most its amount. A sale on which more was entered before stays as it is, is named by
 * `ledger check`, and can only come nearer to its amount.
 */
export class LossesOfASale1700000009990 implements MigrationInterface {
  readonly name = 'LossesOfASale1700000009990';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE transactions ADD COLUMN losses_amount bigint NOT NULL DEFAULT 0;
      UPDATE transactions t SET losses_amount = l.amount FROM (
        SELECT transaction_id, sum(amount) AS amount FROM corrections
        WHERE kind = 'loss' AND status = 'applied' AND transaction_id IS NOT NULL GROUP BY 1) l
      WHERE t.id = l.transaction_id AND l.amount <> 0;
      CREATE TRIGGER transactions_left BEFORE UPDATE OF ${AMOUNTS} ON transactions FOR EACH ROW
        WHEN (NEW.losses_amount < 0 OR (NEW.losses_amount > 0 AND ${taken('NEW')} > NEW.amount AND ${taken('NEW')} > ${taken('OLD')}))
        EXECUTE FUNCTION refuse_rewrite();
    `);
    await redefine(queryRunner, 'check_taken', CASES, CASES + LOSSES);
    await redefine(queryRunner, 'check_taken', COUNTED, COUNTED_WITH_LOSSES);
    await queryRunner.query(`
      DROP TRIGGER transactions_taken ON transactions;
      CREATE CONSTRAINT TRIGGER transactions_taken AFTER UPDATE OF ${AMOUNTS} ON transactions
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION check_taken();
      CREATE CONSTRAINT TRIGGER corrections_made_taking AFTER INSERT ON corrections DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
        WHEN (NEW.kind = 'loss' AND NEW.status = 'applied' AND NEW.transaction_id IS NOT NULL) EXECUTE FUNCTION check_taken();
      CREATE CONSTRAINT TRIGGER corrections_taking AFTER UPDATE OF status ON corrections DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
        WHEN (NEW.kind = 'loss' AND NEW.status = 'applied' AND NEW.transaction_id IS NOT NULL) EXECUTE FUNCTION check_taken();
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP TRIGGER corrections_taking ON corrections;
      DROP TRIGGER corrections_made_taking ON corrections;
      DROP TRIGGER transactions_left ON transactions;
      DROP TRIGGER transactions_taken ON transactions;
      CREATE CONSTRAINT TRIGGER transactions_taken AFTER UPDATE OF refunds_amount, cashouts_amount, disputed_amount ON transactions
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION check_taken();
    `);
    await redefine(queryRunner, 'check_taken', COUNTED_WITH_LOSSES, COUNTED);
    await redefine(queryRunner, 'check_taken', CASES + LOSSES, CASES);
    await queryRunner.query('ALTER TABLE transactions DROP COLUMN losses_amount');
  }
}
