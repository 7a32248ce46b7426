import type { MigrationInterface, QueryRunner } from 'typeorm';

const CORRECTION_IDENTITY = [
  ...['id', 'kind', 'account_id', 'mode', 'currency', 'amount', 'borne_by', 'settlement_id', 'transaction_id'],
  ...['bank_reference', 'reason', 'idempotency_key', 'requested_by', 'created_at'],
];

const fixedCorrections = (columns: readonly string[]): string => {
  const of = (row: string): string => `(${columns.map((column) => `${row}.${column}`).join(', ')})`;
  return `DROP TRIGGER corrections_fixed ON corrections;
    CREATE TRIGGER corrections_fixed BEFORE UPDATE OF ${columns.join(', ')} ON corrections FOR EACH ROW
      WHEN (${of('OLD')} IS DISTINCT FROM ${of('NEW')}) EXECUTE FUNCTION refuse_rewrite();`;
};

/** Money that went back has its fee with its end, and never another one. */
const endsWithFee = (table: string, end: string): string => `
  ALTER TABLE ${table} ADD COLUMN provider_fee bigint NOT NULL DEFAULT 0,
    ADD CONSTRAINT ${table}_provider_fee_check CHECK (provider_fee = 0 OR (provider_fee > 0 AND status = '${end}'));
  CREATE TRIGGER ${table}_charged_once BEFORE UPDATE OF provider_fee ON ${table} FOR EACH ROW
    WHEN (OLD.provider_fee <> NEW.provider_fee AND OLD.status = NEW.status) EXECUTE FUNCTION refuse_rewrite();
  CREATE CONSTRAINT TRIGGER ${table}_charged AFTER INSERT OR UPDATE OF status, provider_fee ON ${table}
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.provider_fee > 0) EXECUTE FUNCTION check_provider_fee();`;

/**
 * What a PSP charges and API Pix does not tell: schedules of each connection, the fee of each Pix that goes back, and the
 * month of a bank's invoice that a correction belongs to. A fee that is recorded is in the journal.
 */
export class ProviderFees1700000009830 implements MigrationInterface {
  readonly name = 'ProviderFees1700000009830';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE acquirer_fees (
        connection_id uuid NOT NULL CONSTRAINT acquirer_fees_connection_id_fkey REFERENCES acquirer_connections (id),
        operation text NOT NULL CONSTRAINT acquirer_fees_operation_check CHECK (operation IN ('PIX', 'devolution')),
        valid_from date NOT NULL,
        bps integer NOT NULL CONSTRAINT acquirer_fees_bps_check CHECK (bps BETWEEN 0 AND 10000),
        fixed bigint NOT NULL CONSTRAINT acquirer_fees_fixed_check CHECK (fixed >= 0),
        minimum bigint NOT NULL CONSTRAINT acquirer_fees_minimum_check CHECK (minimum >= 0),
        maximum bigint CONSTRAINT acquirer_fees_maximum_check CHECK (maximum >= minimum),
        created_at timestamptz NOT NULL,
        CONSTRAINT acquirer_fees_pkey PRIMARY KEY (connection_id, operation, valid_from, created_at),
        -- What was settled before has its fee.
        CONSTRAINT acquirer_fees_valid_from_check
          CHECK (valid_from >= (created_at AT TIME ZONE 'America/Sao_Paulo')::date)
      );
      CREATE TRIGGER acquirer_fees_append_only BEFORE UPDATE OR DELETE ON acquirer_fees
        FOR EACH ROW EXECUTE FUNCTION refuse_change();
      CREATE TRIGGER acquirer_fees_keep BEFORE TRUNCATE ON acquirer_fees
        FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

      CREATE FUNCTION check_provider_fee() RETURNS trigger LANGUAGE plpgsql AS $$
      DECLARE causes text[] := ARRAY['provider_fee:' || NEW.id]; posted bigint; others bigint;
      BEGIN
        IF TG_TABLE_NAME = 'settlements' THEN
          IF NEW.outcome = 'credited' THEN
            causes := causes || ARRAY['charge.paid:' || NEW.transaction_id, 'provider_fee.passed:' || NEW.transaction_id];
          END IF;
        END IF;
        SELECT coalesce(sum(l.amount) FILTER (WHERE l.bucket = 'provider_fees'), 0),
          count(*) FILTER (WHERE e.type = 'provider_fee' AND l.bucket NOT IN ('provider_fees', 'platform_fees'))
        INTO posted, others FROM journal_entries e JOIN journal_lines l ON l.entry_id = e.id
        WHERE e.cause = ANY (causes) AND (l.account_id, l.mode) = (NEW.account_id, NEW.mode);
        IF posted <> NEW.provider_fee OR others > 0 THEN
          RAISE EXCEPTION '% %: its fee of % is not in the journal, which has %', TG_TABLE_NAME, NEW.id, NEW.provider_fee, posted;
        END IF;
        RETURN NULL;
      END $$;
      CREATE CONSTRAINT TRIGGER settlements_charged AFTER INSERT ON settlements
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.provider_fee > 0 AND NEW.account_id IS NOT NULL)
        EXECUTE FUNCTION check_provider_fee();
      CREATE CONSTRAINT TRIGGER settlements_still_charged AFTER UPDATE OF outcome ON settlements
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
        WHEN (NEW.provider_fee > 0 AND NEW.account_id IS NOT NULL AND OLD.outcome <> NEW.outcome)
        EXECUTE FUNCTION check_provider_fee();
      ${endsWithFee('refunds', 'REFUNDED')}
      ${endsWithFee('pix_returns', 'RETURNED')}

      ALTER TABLE corrections ADD COLUMN acquirer text, ADD COLUMN invoice_month text,
        ADD CONSTRAINT corrections_invoice_check CHECK ((acquirer IS NULL) = (invoice_month IS NULL)
          AND (invoice_month IS NULL OR (kind = 'bank_fee' AND mode = 'live' AND currency = 'BRL'
            AND invoice_month ~ '^[0-9]{4}-(0[1-9]|1[0-2])$')));
      CREATE INDEX corrections_invoice_idx ON corrections (acquirer, invoice_month) WHERE invoice_month IS NOT NULL;
      ${fixedCorrections([...CORRECTION_IDENTITY, 'acquirer', 'invoice_month'])}
    `);
  }

  /** Entries are never removed: where fees were entered the version before would not know what they are for. */
  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DO $$
      BEGIN
        IF EXISTS (SELECT 1 FROM journal_entries WHERE type = 'provider_fee') THEN
          RAISE EXCEPTION 'The journal has fees of PSPs (type provider_fee): stay at this version, or restore a backup from before them.';
        END IF;
      END $$;
      ${fixedCorrections(CORRECTION_IDENTITY)}
      DROP INDEX corrections_invoice_idx;
      ALTER TABLE corrections DROP COLUMN invoice_month, DROP COLUMN acquirer;
      DROP FUNCTION check_provider_fee() CASCADE;
      ${['refunds', 'pix_returns']
        .map(
          (table) => `DROP TRIGGER ${table}_charged_once ON ${table};
      ALTER TABLE ${table} DROP COLUMN provider_fee;`,
        )
        .join('\n')}
      DROP TABLE acquirer_fees;
    `);
  }
}
