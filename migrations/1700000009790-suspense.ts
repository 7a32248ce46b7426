import type { MigrationInterface, QueryRunner } from 'typeorm';

const BUCKETS_BEFORE = `'available', 'pending', 'retained', 'reserved', 'platform_fees', 'provider_fees', 'clearing'`;

const restricted = (buckets: string, held: string): string => `
  ALTER TABLE balances DROP CONSTRAINT balances_bucket_check,
    ADD CONSTRAINT balances_bucket_check CHECK (bucket IN (${buckets}));
  ALTER TABLE journal_lines DROP CONSTRAINT journal_lines_bucket_check,
    ADD CONSTRAINT journal_lines_bucket_check CHECK (bucket IN (${buckets}));
  DROP TRIGGER balances_held ON balances;
  CREATE TRIGGER balances_held AFTER INSERT OR UPDATE OF amount ON balances FOR EACH ROW
    WHEN (NEW.amount < 0 AND NEW.bucket IN (${held})) EXECUTE FUNCTION refuse_rewrite();`;

/**
 * What an acquirer has received and no merchant is credited with is in the books too, in the bucket `suspense`: from the
 * commit that learns of it until it is with its payer again or credited after all. What is there now is entered once.
 */
export class Suspense1700000009790 implements MigrationInterface {
  readonly name = 'Suspense1700000009790';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ${restricted(`${BUCKETS_BEFORE}, 'suspense'`, `'pending', 'retained', 'reserved', 'suspense'`)}

      -- A Pix of no charge is of the account whose money the acquirer keeps.
      ALTER TABLE settlements DISABLE TRIGGER settlements_fixed;
      UPDATE settlements s SET account_id = c.account_id, mode = 'live' FROM acquirer_connections c
      WHERE s.outcome = 'unmatched' AND s.account_id IS NULL AND s.acquirer = 'pix-api:' || c.id;
      ALTER TABLE settlements ENABLE TRIGGER settlements_fixed;

      DO $$
      DECLARE s record; wallet balances; held bigint; cleared bigint;
      BEGIN
        FOR s IN
          SELECT x.id, x.account_id, x.mode, coalesce(t.currency, 'BRL') AS currency, x.transaction_id, x.amount
          FROM settlements x LEFT JOIN transactions t ON t.id = x.transaction_id
          WHERE x.outcome <> 'credited' AND x.account_id IS NOT NULL AND NOT EXISTS (
            SELECT 1 FROM pix_returns r WHERE r.transaction_id = x.transaction_id AND r.end_to_end_id = x.end_to_end_id
              AND r.acquirer = x.acquirer AND r.status = 'RETURNED')
          ORDER BY x.created_at, x.id
        LOOP
          INSERT INTO balances AS b (account_id, mode, currency, bucket, amount, entries, updated_at)
          VALUES (s.account_id, s.mode, s.currency, 'available', 0, 1, clock_timestamp())
          ON CONFLICT (account_id, mode, currency, bucket) DO UPDATE SET entries = b.entries + 1,
            updated_at = greatest(b.updated_at, excluded.updated_at) RETURNING * INTO wallet;
          INSERT INTO balances AS b (account_id, mode, currency, bucket, amount, entries, updated_at)
          VALUES (s.account_id, s.mode, s.currency, 'clearing', -s.amount, 0, wallet.updated_at)
          ON CONFLICT (account_id, mode, currency, bucket) DO UPDATE SET amount = b.amount + excluded.amount,
            updated_at = greatest(b.updated_at, excluded.updated_at) RETURNING amount INTO cleared;
          INSERT INTO balances AS b (account_id, mode, currency, bucket, amount, entries, updated_at)
          VALUES (s.account_id, s.mode, s.currency, 'suspense', s.amount, 0, wallet.updated_at)
          ON CONFLICT (account_id, mode, currency, bucket) DO UPDATE SET amount = b.amount + excluded.amount,
            updated_at = greatest(b.updated_at, excluded.updated_at) RETURNING amount INTO held;
          WITH entry AS (
            INSERT INTO journal_entries (id, account_id, mode, currency, cause, type, transaction_id, number, created_at)
            VALUES (gen_random_uuid(), s.account_id, s.mode, s.currency, 'suspense.received:' || s.id, 'suspense',
              s.transaction_id, wallet.entries, wallet.updated_at) RETURNING *)
          INSERT INTO journal_lines (entry_id, line, account_id, mode, currency, bucket, amount, number, created_at, balance_after)
          SELECT e.id, l.line, e.account_id, e.mode, e.currency, l.bucket, l.amount, e.number, e.created_at, l.balance
          FROM entry e CROSS JOIN (
            VALUES (1::smallint, 'clearing', -s.amount, cleared), (2::smallint, 'suspense', s.amount, held)) l (line, bucket, amount, balance);
        END LOOP;
      END $$;

      CREATE FUNCTION check_suspended() RETURNS trigger LANGUAGE plpgsql AS $$
      DECLARE wanted text := CASE TG_TABLE_NAME WHEN 'settlements' THEN 'suspense.received:' ELSE 'suspense.returned:' END || NEW.id;
      BEGIN
        IF NOT EXISTS (SELECT 1 FROM journal_entries e WHERE e.cause = wanted) THEN
          RAISE EXCEPTION '% %: its money is not in the journal as %', TG_TABLE_NAME, NEW.id, wanted;
        END IF;
        RETURN NULL;
      END $$;
      CREATE CONSTRAINT TRIGGER settlements_suspended AFTER INSERT ON settlements
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.outcome <> 'credited' AND NEW.account_id IS NOT NULL)
        EXECUTE FUNCTION check_suspended();
      CREATE CONSTRAINT TRIGGER pix_returns_posted AFTER INSERT OR UPDATE OF status ON pix_returns
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.status = 'RETURNED') EXECUTE FUNCTION check_suspended();
    `);
  }

  /** Entries are never removed: where the journal has such money the narrower constraint refuses. */
  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP FUNCTION check_suspended() CASCADE;
      DELETE FROM balances WHERE bucket = 'suspense';
      ${restricted(BUCKETS_BEFORE, `'pending', 'retained', 'reserved'`)}
    `);
  }
}
