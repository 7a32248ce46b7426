import type { MigrationInterface, QueryRunner } from 'typeorm';

export class DailyFigures1700000004000 implements MigrationInterface {
  readonly name = 'DailyFigures1700000004000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      -- Counts and sums of transactions by the time of their creation: what lists need for their totals and for finding a
      -- page far from the first one, and what statistics are made of. Kept by folding the table below into it.
      CREATE TABLE transaction_figures (
        account_id uuid NOT NULL,
        mode text NOT NULL,
        -- month, day, hour: transactions by their status; offered: by each method they may be paid with; paid: what was ever paid,
        -- by the method used; refunded: refunds that have reached the payer; wait, wait_month: payments by the seconds
        -- they took, to some ten per cent, with the sum of the seconds as amount.
        kind text NOT NULL
          CONSTRAINT transaction_figures_kind_check CHECK (kind IN ('month', 'day', 'hour', 'offered', 'paid', 'refunded', 'wait', 'wait_month')),
        -- When the month, day or hour of São Paulo begins.
        bucket timestamptz NOT NULL,
        currency text NOT NULL,
        key text NOT NULL,
        count bigint NOT NULL,
        amount bigint NOT NULL,
        CONSTRAINT transaction_figures_pkey PRIMARY KEY (account_id, mode, kind, bucket, currency, key)
      ) WITH (fillfactor = 70);

      -- What is not folded yet: a row for each new transaction, each change of a status and each refund that has reached
      -- the payer, in the same commit. A figure that was counted up there would be one row for all requests of a merchant
      -- to queue on.
      CREATE TABLE transaction_changes (
        number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        account_id uuid NOT NULL,
        mode text NOT NULL,
        transaction_id uuid NOT NULL,
        -- Of the transaction.
        created_at timestamptz NOT NULL,
        currency text NOT NULL,
        -- Of the transaction, or of the refund.
        amount bigint NOT NULL,
        -- Null but for a new transaction.
        payment_methods text[],
        -- Null for a new transaction; both are null for a refund.
        from_status text,
        to_status text,
        paid_with text,
        -- Null but for the change by which it was paid.
        paid_at timestamptz,
        refund_id uuid
      ) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
      CREATE INDEX transaction_changes_account_idx ON transaction_changes (account_id, mode);

      -- Triggers, so that no statement that writes a status can forget it.
      CREATE FUNCTION log_new_transaction() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        INSERT INTO transaction_changes (account_id, mode, transaction_id, created_at, currency, amount, payment_methods,
          to_status, paid_with, paid_at)
        VALUES (NEW.account_id, NEW.mode, NEW.id, NEW.created_at, NEW.currency, NEW.amount, NEW.payment_methods,
          NEW.status, NEW.paid_with, NEW.paid_at);
        RETURN NULL;
      END $$;
      CREATE FUNCTION log_transaction_move() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        INSERT INTO transaction_changes (account_id, mode, transaction_id, created_at, currency, amount, from_status,
          to_status, paid_with, paid_at)
        VALUES (NEW.account_id, NEW.mode, NEW.id, NEW.created_at, NEW.currency, NEW.amount, OLD.status, NEW.status,
          NEW.paid_with, CASE WHEN OLD.paid_at IS NULL THEN NEW.paid_at END);
        RETURN NULL;
      END $$;
      CREATE FUNCTION log_returned_refund() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        INSERT INTO transaction_changes (account_id, mode, transaction_id, created_at, currency, amount, refund_id)
        SELECT account_id, mode, id, created_at, currency, NEW.amount, NEW.id FROM transactions
        WHERE id = NEW.transaction_id;
        RETURN NULL;
      END $$;
      CREATE TRIGGER transactions_log_new AFTER INSERT ON transactions
        FOR EACH ROW EXECUTE FUNCTION log_new_transaction();
      CREATE TRIGGER transactions_log_move AFTER UPDATE OF status, paid_at ON transactions FOR EACH ROW
        WHEN (OLD.status <> NEW.status OR (OLD.paid_at IS NULL AND NEW.paid_at IS NOT NULL))
        EXECUTE FUNCTION log_transaction_move();
      -- Two triggers: one for both could not look at OLD.
      CREATE TRIGGER refunds_log_new AFTER INSERT ON refunds
        FOR EACH ROW WHEN (NEW.status = 'REFUNDED') EXECUTE FUNCTION log_returned_refund();
      CREATE TRIGGER refunds_log_returned AFTER UPDATE OF status ON refunds
        FOR EACH ROW WHEN (OLD.status <> NEW.status AND NEW.status = 'REFUNDED') EXECUTE FUNCTION log_returned_refund();

      -- What there is already waits to be folded like the rest.
      INSERT INTO transaction_changes (account_id, mode, transaction_id, created_at, currency, amount, payment_methods,
        to_status, paid_with, paid_at)
        SELECT account_id, mode, id, created_at, currency, amount, payment_methods, status, paid_with, paid_at
        FROM transactions;
      INSERT INTO transaction_changes (account_id, mode, transaction_id, created_at, currency, amount, refund_id)
        SELECT t.account_id, t.mode, t.id, t.created_at, t.currency, r.amount, r.id
        FROM refunds r JOIN transactions t ON t.id = r.transaction_id WHERE r.status = 'REFUNDED';

      -- First pages of lists that are sorted by these.
      CREATE INDEX transactions_amount_idx ON transactions (account_id, mode, amount, id);
      CREATE INDEX transactions_customer_name_idx ON transactions (account_id, mode, customer_name, id)
        WHERE customer_name IS NOT NULL;
      CREATE INDEX transactions_paid_at_idx ON transactions (account_id, mode, paid_at, id) WHERE paid_at IS NOT NULL;
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP INDEX transactions_paid_at_idx, transactions_customer_name_idx, transactions_amount_idx;
      DROP TRIGGER refunds_log_returned ON refunds;
      DROP TRIGGER refunds_log_new ON refunds;
      DROP TRIGGER transactions_log_move ON transactions;
      DROP TRIGGER transactions_log_new ON transactions;
      DROP FUNCTION log_returned_refund();
      DROP FUNCTION log_transaction_move();
      DROP FUNCTION log_new_transaction();
      DROP TABLE transaction_changes, transaction_figures;
    `);
  }
}
