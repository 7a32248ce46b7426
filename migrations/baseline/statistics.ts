/** Counts and sums of sales. */
export const STATISTICS = `
  -- Counts and sums, for totals of lists, for pages far from the first one, and for statistics. A worker folds
  -- transaction_changes into them.
  CREATE TABLE transaction_figures (
    account_id uuid NOT NULL,
    mode text NOT NULL,
    -- By the time of creation: month, day, hour by status; offered by each accepted method; paid by the method used.
    -- settled: payments by the method used, by the day of payment. refunded: refunds that have reached the payer.
    -- wait, wait_month: payments by the seconds they took, to some ten per cent, with the sum of the seconds as amount.
    kind text NOT NULL CONSTRAINT transaction_figures_kind_check CHECK (kind IN (
      'month', 'day', 'hour', 'offered', 'paid', 'refunded', 'wait', 'wait_month', 'settled')),
    -- When the month, day or hour of São Paulo begins.
    bucket timestamptz NOT NULL,
    currency text NOT NULL,
    key text NOT NULL,
    count bigint NOT NULL,
    -- numeric, as nothing limits the sum of unpaid charges: beyond a bigint's end the folding would stop for everybody.
    amount numeric NOT NULL,
    CONSTRAINT transaction_figures_pkey PRIMARY KEY (account_id, mode, kind, bucket, currency, key)
  ) WITH (fillfactor = 70);

  -- Changes that are not folded yet: a row for each new sale, each change of a status and each refund that has reached the
  -- payer, in the same commit. If requests counted a figure up themselves, all of one merchant would queue on its row.
  CREATE TABLE transaction_changes (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    account_id uuid NOT NULL,
    mode text NOT NULL,
    transaction_id uuid NOT NULL,
    -- Set only for a refund; both statuses are null then.
    refund_id uuid,
    -- When the sale was created.
    created_at timestamptz NOT NULL,
    currency text NOT NULL,
    -- The amount of the sale, or of the refund.
    amount bigint NOT NULL,
    -- Set only for a new sale.
    payment_methods text[],
    -- Null for a new sale.
    from_status text,
    to_status text,
    paid_with text,
    -- Set only for the change by which the sale was paid.
    paid_at timestamptz
  ) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
  CREATE INDEX transaction_changes_account_idx ON transaction_changes (account_id, mode);

  -- Triggers, so that no statement that writes a status can forget it.
  CREATE FUNCTION log_new_transaction() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
  BEGIN
    INSERT INTO transaction_changes (account_id, mode, transaction_id, created_at, currency, amount, payment_methods,
      to_status, paid_with, paid_at)
    VALUES (NEW.account_id, NEW.mode, NEW.id, NEW.created_at, NEW.currency, NEW.amount, NEW.payment_methods,
      NEW.status, NEW.paid_with, NEW.paid_at);
    RETURN NULL;
  END $$;
  CREATE TRIGGER transactions_log_new AFTER INSERT ON transactions
    FOR EACH ROW EXECUTE FUNCTION log_new_transaction();

  CREATE FUNCTION log_transaction_move() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
  BEGIN
    INSERT INTO transaction_changes (account_id, mode, transaction_id, created_at, currency, amount, from_status,
      to_status, paid_with, paid_at)
    VALUES (NEW.account_id, NEW.mode, NEW.id, NEW.created_at, NEW.currency, NEW.amount, OLD.status, NEW.status,
      NEW.paid_with, CASE WHEN OLD.paid_at IS NULL THEN NEW.paid_at END);
    RETURN NULL;
  END $$;
  CREATE TRIGGER transactions_log_move AFTER UPDATE OF status, paid_at ON transactions FOR EACH ROW
    WHEN (OLD.status <> NEW.status OR (OLD.paid_at IS NULL AND NEW.paid_at IS NOT NULL))
    EXECUTE FUNCTION log_transaction_move();

  CREATE FUNCTION log_returned_refund() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
  BEGIN
    INSERT INTO transaction_changes (account_id, mode, transaction_id, created_at, currency, amount, refund_id)
    SELECT account_id, mode, id, created_at, currency, NEW.amount, NEW.id FROM transactions
    WHERE id = NEW.transaction_id;
    RETURN NULL;
  END $$;
  -- Two triggers: one for both could not look at OLD.
  CREATE TRIGGER refunds_log_new AFTER INSERT ON refunds
    FOR EACH ROW WHEN (NEW.status = 'REFUNDED') EXECUTE FUNCTION log_returned_refund();
  CREATE TRIGGER refunds_log_returned AFTER UPDATE OF status ON refunds
    FOR EACH ROW WHEN (OLD.status <> NEW.status AND NEW.status = 'REFUNDED') EXECUTE FUNCTION log_returned_refund();
`;
