/** Sales, and money that comes in and goes back for them. */
export const SALES = `
  CREATE TABLE transactions (
    id uuid PRIMARY KEY,
    -- No foreign key: each insert would share-lock the account's row, and concurrent charges of one merchant would queue
    -- on it. Accounts are never deleted.
    account_id uuid NOT NULL,
    mode text NOT NULL CONSTRAINT transactions_mode_check CHECK (mode IN ('test', 'live')),
    status text NOT NULL CONSTRAINT transactions_status_check CHECK (status IN (
      'PENDING', 'WAITING_PAYMENT', 'PROCESSING', 'PAID', 'APPROVED', 'REFUSED', 'CANCELLED', 'EXPIRED',
      'REFUNDED', 'CHARGEBACK', 'DISPUTE')),
    amount bigint NOT NULL CONSTRAINT transactions_amount_check CHECK (amount > 0),
    currency text NOT NULL,
    payment_methods text[] NOT NULL,

    customer_name text,
    customer_document text,
    customer_email text,
    customer_phone text,
    -- The merchant's own id of its user.
    customer_ref text,
    -- json and not jsonb, which would sort the keys: the merchant reads them in the order in which it sent them.
    metadata json NOT NULL,
    webhook_url text,
    -- Set only if the payer lock holds for this sale.
    expected_payer_tax_id text,

    acquirer text NOT NULL,
    txid text,
    br_code text,
    -- By method, what the payer needs for each method but Pix, as the acquirer made it.
    artefacts jsonb,
    failure jsonb,

    expires_at timestamptz,
    -- An expired charge is not written as expired before its acquirer was asked about it. The first of these is when the
    -- acquirer is asked (again), or the end of the lease while somebody asks.
    expiry_ask_at timestamptz,
    -- When the acquirer was first asked, or the question was put off: its silence is measured from here.
    expiry_first_asked_at timestamptz,
    -- When the acquirer had answered and every Pix that it named was settled.
    expiry_asked_at timestamptz,

    paid_at timestamptz,
    paid_with text,
    end_to_end_id text,
    provider_fee bigint,
    platform_fee bigint,
    net_amount bigint,

    -- The sum of the refunds that have not failed, and the cashouts among them. A cashout leaves the payer's Pix where it
    -- was, so that the payer's bank can still take all of the Pix back.
    refunds_amount bigint NOT NULL DEFAULT 0
      CONSTRAINT transactions_refunds_amount_check CHECK (refunds_amount BETWEEN 0 AND amount),
    cashouts_amount bigint NOT NULL DEFAULT 0
      CONSTRAINT transactions_cashouts_amount_check CHECK (cashouts_amount BETWEEN 0 AND refunds_amount),
    -- The sum that disputes hold or have taken.
    disputed_amount bigint NOT NULL DEFAULT 0,
    -- The sum of the losses that operators have entered.
    losses_amount bigint NOT NULL DEFAULT 0,
    -- The last report of the payer's bank (metadata.med).
    med jsonb,
    -- Late, double and wrong Pix that went back to their payers, as the merchant sees them. Stored here so that no read of
    -- a sale queries another table; nearly always null.
    returns jsonb,

    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    CONSTRAINT transactions_txid_key UNIQUE (txid),
    CONSTRAINT transactions_fees_check CHECK (net_amount = amount - provider_fee - platform_fee),
    CONSTRAINT transactions_paid_check
      CHECK (paid_at IS NOT NULL OR status NOT IN ('PAID', 'APPROVED', 'DISPUTE', 'CHARGEBACK')),
    CONSTRAINT transactions_disputed_amount_check
      CHECK (disputed_amount >= 0 AND refunds_amount - cashouts_amount + disputed_amount <= amount)
  );
  CREATE INDEX transactions_list_idx ON transactions (account_id, mode, id);
  CREATE INDEX transactions_status_idx ON transactions (account_id, mode, status, id);
  -- First pages of lists that are sorted by these columns.
  CREATE INDEX transactions_amount_idx ON transactions (account_id, mode, amount, id);
  CREATE INDEX transactions_customer_name_idx ON transactions (account_id, mode, customer_name, id)
    WHERE customer_name IS NOT NULL;
  CREATE INDEX transactions_paid_at_idx ON transactions (account_id, mode, paid_at, id) WHERE paid_at IS NOT NULL;
  CREATE INDEX transactions_document_idx ON transactions (account_id, mode, customer_document, id)
    WHERE customer_document IS NOT NULL;
  CREATE INDEX transactions_open_idx ON transactions (expires_at)
    WHERE status IN ('PENDING', 'WAITING_PAYMENT', 'PROCESSING');
  -- Some PSPs write a txid in capitals.
  CREATE INDEX transactions_open_txid_idx ON transactions (lower(txid), acquirer)
    WHERE status IN ('PENDING', 'WAITING_PAYMENT', 'PROCESSING');

  -- A Pix, or a payment of another method, that an acquirer has confirmed. Each has one row for ever, also if it was not
  -- credited.
  CREATE TABLE settlements (
    id uuid PRIMARY KEY,
    -- Null: the payment matches no charge and its account is not known.
    account_id uuid,
    mode text,
    transaction_id uuid CONSTRAINT settlements_transaction_id_fkey REFERENCES transactions (id),
    acquirer text NOT NULL,
    method text NOT NULL DEFAULT 'PIX',
    -- The end-to-end id of a Pix, or the acquirer's id of a payment of another method.
    end_to_end_id text NOT NULL,
    -- The namespace in which end_to_end_id is unique: null for the real world, which all acquirers share; the account's id
    -- in the sandbox, where whoever simulates a payment chooses its id.
    namespace uuid,
    txid text,
    amount bigint NOT NULL CONSTRAINT settlements_amount_check CHECK (amount > 0),
    -- The part that the acquirer keeps.
    provider_fee bigint NOT NULL DEFAULT 0
      CONSTRAINT settlements_provider_fee_check CHECK (provider_fee >= 0),
    payer_document_sealed bytea,
    outcome text NOT NULL CONSTRAINT settlements_outcome_check
      CHECK (outcome IN ('credited', 'returned', 'review', 'unmatched', 'closed')),
    reason text,
    -- The operator who decided about a held payment; outcome says how.
    reviewed_at timestamptz,
    reviewed_by uuid,
    settled_at timestamptz NOT NULL,
    created_at timestamptz NOT NULL,
    CONSTRAINT settlements_end_to_end_id_key UNIQUE NULLS NOT DISTINCT (end_to_end_id, namespace)
  );
  -- A sale is credited at most once, whatever the code does.
  CREATE UNIQUE INDEX settlements_credited_key ON settlements (transaction_id) WHERE outcome = 'credited';
  CREATE INDEX settlements_transaction_id_idx ON settlements (transaction_id);
  CREATE INDEX settlements_attention_idx ON settlements (created_at) WHERE outcome IN ('review', 'unmatched');
  -- Sales are found by the ids of payments that were not credited.
  CREATE INDEX settlements_uncredited_idx ON settlements (end_to_end_id) WHERE outcome <> 'credited';
  -- One day of an acquirer. The sandbox has no statement to compare with.
  CREATE INDEX settlements_settled_at_idx ON settlements (acquirer, settled_at) WHERE acquirer <> 'sandbox';

  -- Payments that go back to the payer because they were not credited. Each has one name at the acquirer: (end_to_end_id,
  -- return_id).
  CREATE TABLE pix_returns (
    id uuid PRIMARY KEY,
    account_id uuid NOT NULL,
    mode text NOT NULL,
    -- Null: the payment matched no charge.
    transaction_id uuid CONSTRAINT pix_returns_transaction_id_fkey REFERENCES transactions (id),
    acquirer text NOT NULL,
    end_to_end_id text NOT NULL,
    return_id text NOT NULL,
    way text NOT NULL DEFAULT 'devolution',
    amount bigint NOT NULL CONSTRAINT pix_returns_amount_check CHECK (amount > 0),
    currency text NOT NULL DEFAULT 'BRL',
    provider_fee bigint NOT NULL DEFAULT 0,
    reason text NOT NULL,
    status text NOT NULL CONSTRAINT pix_returns_status_check
      CHECK (status IN ('PENDING', 'IN_PROGRESS', 'RETURNED', 'FAILED')),
    failure_reason text,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    CONSTRAINT pix_returns_return_id_key UNIQUE (acquirer, end_to_end_id, return_id),
    CONSTRAINT pix_returns_provider_fee_check
      CHECK (provider_fee = 0 OR (provider_fee > 0 AND status = 'RETURNED'))
  );
  CREATE INDEX pix_returns_transaction_id_idx ON pix_returns (transaction_id);
  CREATE INDEX pix_returns_account_id_idx ON pix_returns (account_id, id);
  -- Money that could not be sent back waits for operators.
  CREATE INDEX pix_returns_failed_idx ON pix_returns (acquirer, end_to_end_id) WHERE status = 'FAILED';

  -- Money that merchants send back. The name of a refund at the acquirer, (payment_reference, an id made of id), is the
  -- same at every attempt.
  CREATE TABLE refunds (
    id uuid PRIMARY KEY,
    account_id uuid NOT NULL,
    mode text NOT NULL,
    transaction_id uuid NOT NULL CONSTRAINT refunds_transaction_id_fkey REFERENCES transactions (id),
    acquirer text NOT NULL,
    payment_reference text NOT NULL,
    way text NOT NULL CONSTRAINT refunds_way_check CHECK (way IN ('cashout', 'devolution', 'card')),
    amount bigint NOT NULL CONSTRAINT refunds_amount_check CHECK (amount > 0),
    -- The Pix-out fee that the merchant bears; reserved together with the amount.
    fee bigint NOT NULL CONSTRAINT refunds_fee_check CHECK (fee >= 0),
    currency text NOT NULL,
    provider_fee bigint NOT NULL DEFAULT 0,
    reason text,
    -- The Pix key of a cashout that names one; null: the payer's document.
    destination_sealed bytea,
    status text NOT NULL CONSTRAINT refunds_status_check
      CHECK (status IN ('PENDING', 'IN_PROGRESS', 'REFUNDED', 'FAILED')),
    bank_reference text,
    failure_reason text,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    CONSTRAINT refunds_provider_fee_check CHECK (provider_fee = 0 OR (provider_fee > 0 AND status = 'REFUNDED'))
  );
  CREATE INDEX refunds_list_idx ON refunds (account_id, mode, id);
  CREATE INDEX refunds_transaction_id_idx ON refunds (transaction_id, id);
  CREATE INDEX refunds_bank_reference_idx ON refunds (bank_reference) WHERE bank_reference IS NOT NULL;
`;
