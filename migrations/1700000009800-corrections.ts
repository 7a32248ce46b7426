import type { MigrationInterface, QueryRunner } from 'typeorm';

const SETTLEMENT_MOVES = [
  ...['review>credited', 'review>returned'],
  ...['unmatched>credited', 'unmatched>returned', 'unmatched>closed', 'returned>closed'],
];

const SETTLEMENT_IDENTITY = [
  ...['account_id', 'mode', 'acquirer', 'namespace', 'end_to_end_id', 'txid', 'amount', 'method'],
  ...['settled_at', 'created_at', 'id', 'provider_fee'],
];

const CORRECTION_IDENTITY = [
  ...['id', 'kind', 'account_id', 'mode', 'currency', 'amount', 'borne_by', 'settlement_id', 'transaction_id'],
  ...['bank_reference', 'reason', 'idempotency_key', 'requested_by', 'created_at'],
];

const fixed = (table: string, columns: readonly string[]): string => {
  const of = (row: string): string => `(${columns.map((column) => `${row}.${column}`).join(', ')})`;
  return `CREATE TRIGGER ${table}_fixed BEFORE UPDATE OF ${columns.join(', ')} ON ${table} FOR EACH ROW
    WHEN (${of('OLD')} IS DISTINCT FROM ${of('NEW')}) EXECUTE FUNCTION refuse_rewrite();`;
};
const moves = (table: string, column: string, legal: readonly string[]): string =>
  `CREATE TRIGGER ${table}_moves BEFORE UPDATE OF ${column} ON ${table} FOR EACH ROW
    WHEN (OLD.${column} <> NEW.${column} AND OLD.${column} || '>' || NEW.${column} NOT IN ('${legal.join(`', '`)}'))
    EXECUTE FUNCTION refuse_rewrite();`;
const checkReturn = (same: string): string => `
  CREATE OR REPLACE FUNCTION check_return() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF NOT EXISTS (
        SELECT 1 FROM settlements s WHERE s.transaction_id ${same} NEW.transaction_id AND s.outcome = 'returned'
          AND (s.account_id, s.acquirer, s.end_to_end_id, s.amount) = (NEW.account_id, NEW.acquirer, NEW.end_to_end_id, NEW.amount))
      OR EXISTS (
        SELECT 1 FROM pix_returns r WHERE r.transaction_id ${same} NEW.transaction_id AND r.id <> NEW.id AND r.status <> 'FAILED'
          AND (r.account_id, r.acquirer, r.end_to_end_id) = (NEW.account_id, NEW.acquirer, NEW.end_to_end_id)) THEN
      RAISE EXCEPTION 'return % is not the one of a payment that goes back', NEW.id;
    END IF;
    RETURN NULL;
  END $$;`;

/**
 * What operators put right: money in suspense is sent back, assigned to its charge, or closed as gone or given up; a
 * bank's fee or a loss is entered. What a correction says of itself never changes, and what it has done is in the books.
 */
export class Corrections1700000009800 implements MigrationInterface {
  readonly name = 'Corrections1700000009800';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE corrections (
        id uuid NOT NULL CONSTRAINT corrections_pkey PRIMARY KEY,
        kind text NOT NULL CONSTRAINT corrections_kind_check
          CHECK (kind IN ('return', 'assign', 'returned_elsewhere', 'write_off', 'bank_fee', 'loss')),
        status text NOT NULL CONSTRAINT corrections_status_check CHECK (status IN ('waiting', 'applied', 'rejected')),
        account_id uuid NOT NULL,
        mode text NOT NULL CONSTRAINT corrections_mode_check CHECK (mode IN ('test', 'live')),
        currency text NOT NULL,
        amount bigint NOT NULL CONSTRAINT corrections_amount_check
          CHECK (amount > 0 OR (amount < 0 AND kind IN ('bank_fee', 'loss'))),
        borne_by text CONSTRAINT corrections_borne_by_check CHECK (borne_by IN ('merchant', 'platform')),
        settlement_id uuid CONSTRAINT corrections_settlement_id_fkey REFERENCES settlements (id),
        transaction_id uuid CONSTRAINT corrections_transaction_id_fkey REFERENCES transactions (id),
        bank_reference text,
        reason text NOT NULL,
        idempotency_key text NOT NULL CONSTRAINT corrections_idempotency_key_key UNIQUE,
        requested_by uuid NOT NULL,
        decided_by uuid,
        created_at timestamptz NOT NULL,
        decided_at timestamptz,
        CONSTRAINT corrections_subject_check CHECK (CASE WHEN kind IN ('bank_fee', 'loss')
          THEN borne_by IS NOT NULL ELSE borne_by IS NULL AND settlement_id IS NOT NULL END),
        CONSTRAINT corrections_decided_check
          CHECK ((status = 'waiting') = (decided_by IS NULL) AND (decided_by IS NULL) = (decided_at IS NULL))
      );
      CREATE INDEX corrections_waiting_idx ON corrections (id) WHERE status = 'waiting';
      CREATE INDEX corrections_settlement_id_idx ON corrections (settlement_id);
      CREATE INDEX corrections_transaction_id_idx ON corrections (transaction_id);
      CREATE UNIQUE INDEX corrections_one_waits_idx ON corrections (settlement_id)
        WHERE status = 'waiting' AND kind NOT IN ('bank_fee', 'loss');
      ${fixed('corrections', CORRECTION_IDENTITY)}
      ${moves('corrections', 'status', ['waiting>applied', 'waiting>rejected'])}

      ALTER TABLE settlements DROP CONSTRAINT settlements_outcome_check, ADD CONSTRAINT settlements_outcome_check
        CHECK (outcome IN ('credited', 'returned', 'review', 'unmatched', 'closed'));
      DROP TRIGGER settlements_moves ON settlements;
      ${moves('settlements', 'outcome', SETTLEMENT_MOVES)}
      DROP TRIGGER settlements_fixed ON settlements;
      ${fixed('settlements', SETTLEMENT_IDENTITY)}
      CREATE TRIGGER settlements_assigned BEFORE UPDATE OF transaction_id ON settlements FOR EACH ROW
        WHEN (OLD.transaction_id IS DISTINCT FROM NEW.transaction_id
          AND (OLD.transaction_id IS NOT NULL OR OLD.outcome <> 'unmatched' OR NEW.outcome <> 'credited'))
        EXECUTE FUNCTION refuse_rewrite();

      ALTER TABLE pix_returns ALTER COLUMN transaction_id DROP NOT NULL;
      ${checkReturn('IS NOT DISTINCT FROM')}

      CREATE FUNCTION check_settlement_corrected() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF NOT (CASE NEW.outcome
            WHEN 'credited' THEN EXISTS (
              SELECT 1 FROM transactions t WHERE t.id = NEW.transaction_id AND t.paid_at IS NOT NULL
                AND (t.account_id, t.mode, t.acquirer, t.end_to_end_id) = (NEW.account_id, NEW.mode, NEW.acquirer, NEW.end_to_end_id))
            WHEN 'returned' THEN EXISTS (
              SELECT 1 FROM pix_returns r WHERE (r.account_id, r.acquirer, r.end_to_end_id) = (NEW.account_id, NEW.acquirer, NEW.end_to_end_id)
                AND r.transaction_id IS NOT DISTINCT FROM NEW.transaction_id)
            ELSE EXISTS (
                SELECT 1 FROM corrections c WHERE c.settlement_id = NEW.id AND c.status = 'applied'
                  AND c.kind IN ('returned_elsewhere', 'write_off') AND c.amount = NEW.amount)
              AND NOT EXISTS (
                SELECT 1 FROM pix_returns r WHERE (r.account_id, r.acquirer, r.end_to_end_id) = (NEW.account_id, NEW.acquirer, NEW.end_to_end_id)
                  AND r.transaction_id IS NOT DISTINCT FROM NEW.transaction_id AND r.status <> 'FAILED')
          END) THEN
          RAISE EXCEPTION 'settlement % is % and nothing says so', NEW.id, NEW.outcome;
        END IF;
        RETURN NULL;
      END $$;
      CREATE CONSTRAINT TRIGGER settlements_corrected AFTER UPDATE OF outcome ON settlements
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
        WHEN (OLD.outcome IN ('unmatched', 'returned') AND OLD.outcome <> NEW.outcome)
        EXECUTE FUNCTION check_settlement_corrected();

      CREATE FUNCTION check_correction() RETURNS trigger LANGUAGE plpgsql AS $$
      DECLARE settled settlements;
      BEGIN
        SELECT * INTO settled FROM settlements s WHERE s.id = NEW.settlement_id;
        IF settled.id IS NOT NULL AND (settled.account_id, settled.mode) <> (NEW.account_id, NEW.mode) THEN
          RAISE EXCEPTION 'correction %: its Pix is of another account', NEW.id;
        END IF;
        IF NEW.kind NOT IN ('bank_fee', 'loss') AND (settled.amount <> NEW.amount
          OR settled.outcome <> CASE NEW.kind WHEN 'return' THEN 'returned' WHEN 'assign' THEN 'credited' ELSE 'closed' END
          OR (NEW.kind = 'assign' AND settled.transaction_id <> NEW.transaction_id)) THEN
          RAISE EXCEPTION 'correction %: its Pix is not what the correction says', NEW.id;
        END IF;
        IF NEW.kind NOT IN ('return', 'assign') AND (
            SELECT array_agg(l.bucket || ' ' || l.amount ORDER BY l.bucket) FROM journal_entries e JOIN journal_lines l ON l.entry_id = e.id
            WHERE e.cause = 'correction:' || NEW.id
              AND (e.account_id, e.mode, e.currency) = (NEW.account_id, NEW.mode, NEW.currency))
          IS DISTINCT FROM (
            SELECT array_agg(bucket || ' ' || amount ORDER BY bucket) FROM (VALUES
              (CASE WHEN NEW.borne_by IS NULL THEN 'suspense' WHEN NEW.borne_by = 'merchant' THEN 'available' ELSE 'platform_fees' END, -NEW.amount),
              (CASE NEW.kind WHEN 'write_off' THEN 'platform_fees' WHEN 'bank_fee' THEN 'provider_fees' ELSE 'clearing' END, NEW.amount)) l (bucket, amount)) THEN
          RAISE EXCEPTION 'correction %: its money is not in the journal', NEW.id;
        END IF;
        RETURN NULL;
      END $$;
      CREATE CONSTRAINT TRIGGER corrections_made AFTER INSERT ON corrections
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.status = 'applied') EXECUTE FUNCTION check_correction();
      CREATE CONSTRAINT TRIGGER corrections_applied AFTER UPDATE OF status ON corrections
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.status = 'applied') EXECUTE FUNCTION check_correction();
    `);
  }

  /** Where something was corrected, what the version before does not know refuses. */
  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP FUNCTION check_correction() CASCADE;
      DROP FUNCTION check_settlement_corrected() CASCADE;
      ${checkReturn('=')}
      ALTER TABLE pix_returns ALTER COLUMN transaction_id SET NOT NULL;
      DROP TRIGGER settlements_assigned ON settlements;
      DROP TRIGGER settlements_fixed ON settlements;
      ${fixed('settlements', [...SETTLEMENT_IDENTITY, 'transaction_id'])}
      DROP TRIGGER settlements_moves ON settlements;
      CREATE TRIGGER settlements_moves BEFORE UPDATE OF outcome ON settlements FOR EACH ROW
        WHEN (OLD.outcome <> NEW.outcome AND (OLD.outcome <> 'review' OR NEW.outcome NOT IN ('credited', 'returned')))
        EXECUTE FUNCTION refuse_rewrite();
      ALTER TABLE settlements DROP CONSTRAINT settlements_outcome_check, ADD CONSTRAINT settlements_outcome_check
        CHECK (outcome IN ('credited', 'returned', 'review', 'unmatched'));
      DROP TABLE corrections;
    `);
  }
}
