/** Money of merchants and of the platform is in these buckets; `clearing` is what acquirers owe us, with the other sign. */
const BUCKETS = `(
      'available', 'pending', 'retained', 'reserved', 'platform_fees', 'provider_fees', 'clearing', 'suspense')`;

/** The double-entry ledger, wallets' balances, releases of held money, and corrections by operators. */
export const LEDGER = `
  CREATE TABLE journal_entries (
    id uuid PRIMARY KEY,
    account_id uuid NOT NULL,
    mode text NOT NULL,
    currency text NOT NULL,
    -- The entries of a wallet (account, mode, currency) are numbered without gaps.
    number bigint NOT NULL,
    type text NOT NULL,
    -- The fact that is booked, for example charge.paid:<id>. One fact can never be booked twice.
    cause text NOT NULL CONSTRAINT journal_entries_cause_key UNIQUE,
    transaction_id uuid,
    created_at timestamptz NOT NULL,
    CONSTRAINT journal_entries_number_key UNIQUE (account_id, mode, currency, number)
  );
  -- A sale and its release are found by their causes, so only later entries pay for these indexes.
  CREATE INDEX journal_entries_transaction_id_idx ON journal_entries (transaction_id)
    WHERE type <> 'sale' AND type <> 'release';
  CREATE INDEX journal_entries_source_idx ON journal_entries (split_part(cause, ':', 2))
    WHERE type <> 'sale' AND type <> 'release';

  CREATE TABLE journal_lines (
    entry_id uuid NOT NULL CONSTRAINT journal_lines_entry_id_fkey REFERENCES journal_entries (id),
    line smallint NOT NULL,
    account_id uuid NOT NULL,
    mode text NOT NULL,
    currency text NOT NULL,
    number bigint NOT NULL,
    bucket text NOT NULL CONSTRAINT journal_lines_bucket_check CHECK (bucket IN ${BUCKETS}),
    amount bigint NOT NULL CONSTRAINT journal_lines_amount_check CHECK (amount <> 0),
    balance_after bigint NOT NULL,
    created_at timestamptz NOT NULL,
    CONSTRAINT journal_lines_pkey PRIMARY KEY (entry_id, line)
  );
  CREATE INDEX journal_lines_statement_idx ON journal_lines (account_id, mode, currency, bucket, created_at, number)
    WHERE bucket IN ('available', 'pending', 'retained');

  -- Each hash includes the hash before it: ledger verify names the first entry that was changed, added or removed.
  CREATE TABLE journal_hashes (
    account_id uuid NOT NULL,
    mode text NOT NULL,
    currency text NOT NULL,
    number bigint NOT NULL,
    entry_id uuid NOT NULL,
    hash bytea NOT NULL,
    CONSTRAINT journal_hashes_pkey PRIMARY KEY (account_id, mode, currency, number)
  );

  -- Half of each page is left free, so that the many updates of a balance stay on its page.
  CREATE TABLE balances (
    account_id uuid NOT NULL,
    mode text NOT NULL,
    currency text NOT NULL,
    bucket text NOT NULL CONSTRAINT balances_bucket_check CHECK (bucket IN ${BUCKETS}),
    -- A number beyond 2^53 - 1 could not be read exactly. The sum of a merchant's balances is what clearing has with the
    -- other sign, so that no total is beyond it either.
    amount bigint NOT NULL
      CONSTRAINT balances_exact_check CHECK (amount BETWEEN -9007199254740991 AND 9007199254740991),
    -- The number of the wallet's last entry, on the row of its bucket available.
    entries bigint NOT NULL DEFAULT 0,
    -- Since when the available balance is below zero, and when the merchant is next notified.
    negative_since timestamptz,
    negative_notice_at timestamptz,
    updated_at timestamptz NOT NULL,
    CONSTRAINT balances_pkey PRIMARY KEY (account_id, mode, currency, bucket),
    CONSTRAINT balances_negative_check
      CHECK ((negative_since IS NOT NULL) = (bucket = 'available' AND amount < 0)
        AND (negative_notice_at IS NULL OR negative_since IS NOT NULL))
  ) WITH (fillfactor = 50);
  CREATE INDEX balances_negative_idx ON balances (negative_since) WHERE negative_since IS NOT NULL;

  -- The sum of a balance's lines up to an entry: a check adds up only the lines since then.
  CREATE TABLE balance_checkpoints (
    account_id uuid NOT NULL,
    mode text NOT NULL,
    currency text NOT NULL,
    bucket text NOT NULL,
    amount bigint NOT NULL,
    number bigint NOT NULL,
    CONSTRAINT balance_checkpoints_pkey PRIMARY KEY (account_id, mode, currency, bucket)
  );

  -- The result of the last check of all balances, in one row.
  CREATE TABLE balance_checks (
    single boolean NOT NULL DEFAULT true,
    checked_at timestamptz NOT NULL,
    incoherent integer NOT NULL,
    CONSTRAINT balance_checks_pkey PRIMARY KEY (single),
    CONSTRAINT balance_checks_single_check CHECK (single)
  );
  INSERT INTO balance_checks (checked_at, incoherent) VALUES ('-infinity', 0);

  -- Money of a sale that becomes available on a later day: the sale itself, and a reserve that is held longer.
  CREATE TABLE releases (
    id uuid PRIMARY KEY,
    account_id uuid NOT NULL,
    mode text NOT NULL,
    currency text NOT NULL,
    transaction_id uuid NOT NULL,
    kind text NOT NULL DEFAULT 'sale' CONSTRAINT releases_kind_check CHECK (kind IN ('sale', 'reserve')),
    amount bigint NOT NULL CONSTRAINT releases_amount_check CHECK (amount > 0),
    release_at timestamptz NOT NULL,
    -- Failed attempts, and when the next one may be made; null: at release_at.
    attempts integer NOT NULL DEFAULT 0,
    next_attempt_at timestamptz,
    released_at timestamptz,
    CONSTRAINT releases_transaction_id_kind_key UNIQUE (transaction_id, kind),
    CONSTRAINT releases_released_at_check CHECK (released_at >= release_at)
  );
  -- Everybody's money of a day is due at the same instant. The planner would take an index that begins with release_at for
  -- one account's share of that day, and read all of it.
  CREATE INDEX releases_due_idx ON releases (coalesce(next_attempt_at, release_at)) WHERE released_at IS NULL;
  CREATE INDEX releases_next_idx ON releases (account_id, mode, currency, release_at) WHERE released_at IS NULL;

  -- Operators send money in suspense back, assign it to its charge, or close it as returned elsewhere or written off; they
  -- also enter a bank's fee or a loss.
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
    -- The PSP and the month of the invoice that a bank fee is on.
    acquirer text,
    invoice_month text,
    reason text NOT NULL,
    idempotency_key text NOT NULL CONSTRAINT corrections_idempotency_key_key UNIQUE,
    requested_by uuid NOT NULL,
    decided_by uuid,
    created_at timestamptz NOT NULL,
    decided_at timestamptz,
    CONSTRAINT corrections_subject_check CHECK (CASE WHEN kind IN ('bank_fee', 'loss')
      THEN borne_by IS NOT NULL ELSE borne_by IS NULL AND settlement_id IS NOT NULL END),
    CONSTRAINT corrections_decided_check
      CHECK ((status = 'waiting') = (decided_by IS NULL) AND (decided_by IS NULL) = (decided_at IS NULL)),
    CONSTRAINT corrections_invoice_check CHECK ((acquirer IS NULL) = (invoice_month IS NULL)
      AND (invoice_month IS NULL OR (kind = 'bank_fee' AND mode = 'live' AND currency = 'BRL'
        AND invoice_month ~ '^[0-9]{4}-(0[1-9]|1[0-2])$')))
  );
  CREATE INDEX corrections_waiting_idx ON corrections (id) WHERE status = 'waiting';
  CREATE INDEX corrections_settlement_id_idx ON corrections (settlement_id);
  CREATE INDEX corrections_transaction_id_idx ON corrections (transaction_id);
  CREATE INDEX corrections_invoice_idx ON corrections (acquirer, invoice_month) WHERE invoice_month IS NOT NULL;
  CREATE UNIQUE INDEX corrections_one_waits_idx ON corrections (settlement_id)
    WHERE status = 'waiting' AND kind NOT IN ('bank_fee', 'loss');
`;
