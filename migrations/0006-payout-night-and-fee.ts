import type { MigrationInterface, QueryRunner } from 'typeorm';
import { AT_COMMIT, BY_KEY, hasLine } from './baseline/promises.js';

/** The payouts that an account sent in a night are found fast. A payout that came back whole gives its fee back. */
export class PayoutNightAndFee1700000060000 implements MigrationInterface {
  readonly name = 'PayoutNightAndFee1700000060000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE INDEX payouts_sent_by_account_idx ON payouts (account_id, mode, sent_at)
        WHERE status IN ('SENDING', 'PAID', 'REFUNDED');

      CREATE FUNCTION check_payout_fee_returned() RETURNS trigger LANGUAGE plpgsql ${BY_KEY} AS $$
      DECLARE wanted text := 'payout.fee_returned:' || NEW.id;
      BEGIN
        IF NOT ${hasLine('wanted', `l.bucket = 'available' AND l.amount = NEW.fee`)} THEN
          RAISE EXCEPTION 'payout % came back whole, and its fee is not in the journal as %', NEW.id, wanted;
        END IF;
        RETURN NULL;
      END $$;
      CREATE CONSTRAINT TRIGGER payouts_fee_returned AFTER UPDATE OF status ON payouts
        ${AT_COMMIT} WHEN (NEW.status = 'REFUNDED' AND NEW.fee > 0) EXECUTE FUNCTION check_payout_fee_returned();
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP TRIGGER payouts_fee_returned ON payouts;
      DROP FUNCTION check_payout_fee_returned();
      DROP INDEX payouts_sent_by_account_idx;
    `);
  }
}
