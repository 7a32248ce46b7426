/** Connections to PSPs, and everything that PSPs report. */
export const ACQUIRERS = `
  -- Live Pix of an account at a PSP. Its acquirer is named pix-api:<id> for ever, so no row is ever removed.
  CREATE TABLE acquirer_connections (
    id uuid PRIMARY KEY,
    account_id uuid NOT NULL CONSTRAINT acquirer_connections_account_id_fkey REFERENCES accounts (id),
    profile text NOT NULL,
    pix_key text NOT NULL,
    -- Null: the addresses of the profile.
    base_url text,
    token_url text,
    -- Client id and secret, certificate with its key, values of the profile's variables.
    credentials_sealed bytea NOT NULL,
    -- SHA-256 and end of the client certificate; null if the profile needs none.
    certificate_fingerprint text,
    certificate_expires_at timestamptz,
    -- The last warning about this certificate, in days before its end; null: none yet.
    certificate_warned_days integer,
    version integer NOT NULL CONSTRAINT acquirer_connections_version_check CHECK (version > 0),
    webhook_registered_at timestamptz,
    -- The secret in the address of callbacks, and the oldest one that is still accepted.
    callback_secret integer NOT NULL DEFAULT 1,
    oldest_callback_secret integer NOT NULL DEFAULT 1,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    CONSTRAINT acquirer_connections_pix_key_key UNIQUE (profile, pix_key),
    CONSTRAINT acquirer_connections_certificate_check
      CHECK ((certificate_fingerprint IS NULL) = (certificate_expires_at IS NULL))
  );
  CREATE INDEX acquirer_connections_account_id_idx ON acquirer_connections (account_id);

  -- Fees of a PSP by day, which API Pix does not report.
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
    -- Payments that were settled before have their fees already.
    CONSTRAINT acquirer_fees_valid_from_check
      CHECK (valid_from >= (created_at AT TIME ZONE 'America/Sao_Paulo')::date)
  );

  -- Bodies of callbacks as they came, for thirty days.
  CREATE TABLE acquirer_callbacks (
    id uuid PRIMARY KEY,
    acquirer text NOT NULL,
    -- Hash of the body: the same body again is this row, counted in times.
    sha256 bytea NOT NULL,
    -- Sealed, as it names payers.
    body_sealed bytea NOT NULL,
    times integer NOT NULL DEFAULT 1,
    status text NOT NULL CONSTRAINT acquirer_callbacks_status_check CHECK (status IN ('pending', 'read', 'unreadable')),
    -- How many notifications the body contained.
    hints integer NOT NULL,
    received_at timestamptz NOT NULL,
    CONSTRAINT acquirer_callbacks_sha256_key UNIQUE (acquirer, sha256)
  );
  CREATE INDEX acquirer_callbacks_received_at_idx ON acquirer_callbacks (received_at);

  -- The inbox: each report of an acquirer is a hint, and is confirmed by asking the acquirer.
  CREATE TABLE acquirer_notifications (
    id uuid PRIMARY KEY,
    acquirer text NOT NULL,
    kind text NOT NULL,
    -- The subject, for example an end-to-end id. Repeated reports of one subject are one row.
    reference text NOT NULL,
    -- The txid of the charge that a Pix is said to pay. The charge's expiry waits for the answer about that Pix.
    txid text,
    -- Only a callback has reported it, which anybody may have sent.
    is_hearsay boolean NOT NULL DEFAULT false,
    -- How often it was reported. A report that comes while the one before is being applied is confirmed once more.
    hints integer NOT NULL DEFAULT 1,
    status text NOT NULL DEFAULT 'pending' CONSTRAINT acquirer_notifications_status_check
      CHECK (status IN ('pending', 'applied', 'ignored')),
    attempts integer NOT NULL DEFAULT 0,
    next_attempt_at timestamptz NOT NULL,
    last_error text,
    -- For a dispute: the reference or txid of the payment that has to be settled first, and what operators see meanwhile.
    awaits text,
    about jsonb,
    -- The acquirer has the subject, but we cannot read its answer: operators see it.
    unreadable_since timestamptz,
    received_at timestamptz NOT NULL,
    applied_at timestamptz,
    CONSTRAINT acquirer_notifications_reference_key UNIQUE (acquirer, kind, reference)
  );
  -- Each acquirer has two queues, unconfirmed reports of callbacks and other hints, which are served in turn.
  CREATE INDEX acquirer_notifications_due_idx ON acquirer_notifications (acquirer, is_hearsay, next_attempt_at)
    WHERE status = 'pending';
  CREATE INDEX acquirer_notifications_txid_idx ON acquirer_notifications (acquirer, txid)
    WHERE status = 'pending' AND txid IS NOT NULL;
  -- Hints that no acquirer has confirmed are removed some time after they were given up.
  CREATE INDEX acquirer_notifications_ignored_idx ON acquirer_notifications (next_attempt_at) WHERE status = 'ignored';
  CREATE INDEX acquirer_notifications_awaits_idx ON acquirer_notifications (acquirer, awaits) WHERE awaits IS NOT NULL;
  CREATE INDEX acquirer_notifications_unreadable_idx ON acquirer_notifications (id) WHERE unreadable_since IS NOT NULL;

  -- How far the acquirers' own lists were read.
  CREATE TABLE acquirer_statements (
    acquirer text NOT NULL,
    list text NOT NULL CONSTRAINT acquirer_statements_list_check
      CHECK (list IN ('payments', 'late_payments', 'returns')),
    -- The list was read completely up to here; null before the first pass.
    swept_until timestamptz,
    -- Where a pass that takes several reads continues; null between passes.
    resume_at timestamptz,
    -- When the list is read again, or the end of the lease while somebody reads it.
    next_due_at timestamptz NOT NULL,
    -- Failed attempts since the last success.
    attempts integer NOT NULL DEFAULT 0,
    last_error text,
    CONSTRAINT acquirer_statements_pkey PRIMARY KEY (acquirer, list)
  );
  CREATE INDEX acquirer_statements_due_idx ON acquirer_statements (next_due_at);
`;
