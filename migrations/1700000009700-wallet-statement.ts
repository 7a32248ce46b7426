import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Entries are numbered within their wallet (account, mode, currency), name what they are, and each line keeps the balance
 * after it. What there is gets its numbers in the order of its time. Their hashes are kept in a table of their own.
 */
export class WalletStatement1700000009700 implements MigrationInterface {
  readonly name = 'WalletStatement1700000009700';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      -- Nothing may be posted between the numbering and the end.
      LOCK TABLE balances, journal_entries, journal_lines IN ACCESS EXCLUSIVE MODE;

      ALTER TABLE balances ADD COLUMN entries bigint NOT NULL DEFAULT 0;
      ALTER TABLE journal_entries ADD COLUMN number bigint, ADD COLUMN type text;
      ALTER TABLE journal_lines
        ADD COLUMN number bigint, ADD COLUMN balance_after bigint, ADD COLUMN created_at timestamptz;

      ALTER TABLE journal_entries DISABLE TRIGGER journal_entries_append_only;
      ALTER TABLE journal_lines DISABLE TRIGGER journal_lines_append_only;
      UPDATE journal_entries e SET number = n.number, type = CASE split_part(cause, ':', 1)
          WHEN 'charge.paid' THEN 'sale'
          WHEN 'release' THEN 'release'
          WHEN 'refund.reserved' THEN 'refund'
          WHEN 'refund.paid' THEN 'refund'
          WHEN 'refund.released' THEN 'refund_failed'
          WHEN 'med.held' THEN 'med_hold'
          WHEN 'med.released' THEN 'med_release'
          WHEN 'med.lost' THEN CASE WHEN EXISTS (
            SELECT 1 FROM med_cases c WHERE c.id::text = split_part(cause, ':', 2) AND c.type <> 'med')
            THEN 'chargeback' ELSE 'med_loss' END
          ELSE 'correction' END
        FROM (SELECT id, row_number() OVER (PARTITION BY account_id, mode, currency ORDER BY created_at, id) AS number
              FROM journal_entries) n WHERE n.id = e.id;
      UPDATE journal_lines l SET number = n.number, balance_after = n.balance_after, created_at = n.created_at
        FROM (SELECT l.entry_id, l.line, e.number, e.created_at, sum(l.amount) OVER (
                PARTITION BY l.account_id, l.mode, l.currency, l.bucket ORDER BY e.number, l.line
                ROWS UNBOUNDED PRECEDING)::bigint AS balance_after
              FROM journal_lines l JOIN journal_entries e ON e.id = l.entry_id) n
        WHERE n.entry_id = l.entry_id AND n.line = l.line;
      ALTER TABLE journal_entries ENABLE TRIGGER journal_entries_append_only;
      ALTER TABLE journal_lines ENABLE TRIGGER journal_lines_append_only;

      INSERT INTO balances (account_id, mode, currency, bucket, amount, entries, updated_at)
        SELECT account_id, mode, currency, 'available', 0, max(number), max(created_at)
        FROM journal_entries GROUP BY account_id, mode, currency
        ON CONFLICT (account_id, mode, currency, bucket)
        DO UPDATE SET entries = excluded.entries, updated_at = greatest(balances.updated_at, excluded.updated_at);

      ALTER TABLE journal_entries
        ALTER COLUMN number SET NOT NULL, ALTER COLUMN type SET NOT NULL,
        ADD CONSTRAINT journal_entries_number_key UNIQUE (account_id, mode, currency, number);
      ALTER TABLE journal_lines
        ALTER COLUMN number SET NOT NULL, ALTER COLUMN balance_after SET NOT NULL, ALTER COLUMN created_at SET NOT NULL;
      -- In the place of the one below: a wallet's entries are read by their numbers.
      DROP INDEX journal_entries_account_id_idx;
      -- A sale and its release are found by their causes; only what follows them pays for more.
      CREATE INDEX journal_entries_transaction_id_idx ON journal_entries (transaction_id)
        WHERE type <> 'sale' AND type <> 'release';
      CREATE INDEX journal_entries_source_idx ON journal_entries (split_part(cause, ':', 2))
        WHERE type <> 'sale' AND type <> 'release';
      CREATE INDEX journal_lines_statement_idx ON journal_lines (account_id, mode, currency, bucket, created_at, number)
        WHERE bucket IN ('available', 'pending', 'retained');

      CREATE TABLE journal_hashes (
        account_id uuid NOT NULL,
        mode text NOT NULL,
        currency text NOT NULL,
        number bigint NOT NULL,
        entry_id uuid NOT NULL,
        hash bytea NOT NULL,
        CONSTRAINT journal_hashes_pkey PRIMARY KEY (account_id, mode, currency, number)
      );
      CREATE TRIGGER journal_hashes_append_only BEFORE UPDATE OR DELETE ON journal_hashes
        FOR EACH ROW EXECUTE FUNCTION refuse_change();
      CREATE TRIGGER journal_hashes_keep BEFORE TRUNCATE ON journal_hashes
        FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP TABLE journal_hashes;
      DROP INDEX journal_lines_statement_idx, journal_entries_source_idx, journal_entries_transaction_id_idx;
      CREATE INDEX journal_entries_account_id_idx ON journal_entries (account_id, mode, id);
      ALTER TABLE journal_lines DROP COLUMN created_at, DROP COLUMN balance_after, DROP COLUMN number;
      ALTER TABLE journal_entries DROP CONSTRAINT journal_entries_number_key, DROP COLUMN type, DROP COLUMN number;
      -- The version before has no balance without a line.
      DELETE FROM balances b WHERE bucket = 'available' AND NOT EXISTS (
        SELECT 1 FROM journal_lines l WHERE (l.account_id, l.mode, l.currency, l.bucket)
          = (b.account_id, b.mode, b.currency, b.bucket));
      ALTER TABLE balances DROP COLUMN entries;
    `);
  }
}
