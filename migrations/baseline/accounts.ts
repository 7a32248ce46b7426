/** Merchants' accounts, the people and programs that act for them, and the record of what they did. */
export const ACCOUNTS = `
  CREATE TABLE accounts (
    id uuid PRIMARY KEY,
    name text NOT NULL,
    contact_email text NOT NULL,
    city text NOT NULL DEFAULT 'SAO PAULO',
    suspended boolean NOT NULL DEFAULT false,
    -- Colour and logo of the checkout.
    accent text,
    logo text,
    -- False: payers get no receipt by mail.
    payer_receipts boolean NOT NULL DEFAULT true,
    -- False: no webhook tells the account how its disputes end.
    med_outcome_notifications boolean NOT NULL DEFAULT true,
    -- Name of the acquirer of new live charges; null: a live key cannot charge.
    live_acquirer text,
    default_expires_in integer NOT NULL DEFAULT 3600
      CONSTRAINT accounts_default_expires_in_check CHECK (default_expires_in BETWEEN 60 AND 86400),
    payer_lock boolean NOT NULL DEFAULT false,
    fee_bps integer NOT NULL DEFAULT 0 CONSTRAINT accounts_fee_bps_check CHECK (fee_bps BETWEEN 0 AND 10000),
    fee_fixed bigint NOT NULL DEFAULT 0 CONSTRAINT accounts_fee_fixed_check CHECK (fee_fixed >= 0),
    -- Cost of a cashout that the account bears (passFeeToTenant).
    pix_out_fee bigint NOT NULL DEFAULT 0 CONSTRAINT accounts_pix_out_fee_check CHECK (pix_out_fee >= 0),
    release_days integer NOT NULL DEFAULT 0
      CONSTRAINT accounts_release_days_check CHECK (release_days BETWEEN 0 AND 365),
    -- A part of each sale is held longer than the rest.
    reserve_bps integer NOT NULL DEFAULT 0
      CONSTRAINT accounts_reserve_bps_check CHECK (reserve_bps BETWEEN 0 AND 10000),
    reserve_days integer NOT NULL DEFAULT 0
      CONSTRAINT accounts_reserve_days_check CHECK (reserve_days BETWEEN 0 AND 365),
    negative_notice_days integer NOT NULL DEFAULT 7,
    fraud_mode text NOT NULL DEFAULT 'enforce'
      CONSTRAINT accounts_fraud_mode_check CHECK (fraud_mode IN ('enforce', 'shadow', 'off')),
    fraud_velocity integer NOT NULL DEFAULT 30
      CONSTRAINT accounts_fraud_velocity_check CHECK (fraud_velocity BETWEEN 1 AND 10000),
    -- Null: no limit.
    fraud_max_amount bigint CONSTRAINT accounts_fraud_max_amount_check CHECK (fraud_max_amount > 0),
    fraud_blocked_documents text[] NOT NULL DEFAULT '{}',
    created_at timestamptz NOT NULL
  );

  CREATE TABLE users (
    id uuid PRIMARY KEY,
    email text NOT NULL CONSTRAINT users_email_key UNIQUE,
    name text NOT NULL,
    operator boolean NOT NULL DEFAULT false,
    -- Null until an invited user has chosen a password.
    password_hash text,
    totp_secret_sealed bytea,
    totp_confirmed_at timestamptz,
    -- The step of the last accepted code: neither this nor an earlier one is accepted again.
    totp_step integer,
    recovery_code_hashes bytea[] NOT NULL DEFAULT '{}',
    -- When the user last got a mail about failed logins.
    warned_at timestamptz,
    created_at timestamptz NOT NULL
  );

  CREATE TABLE members (
    account_id uuid NOT NULL CONSTRAINT members_account_id_fkey REFERENCES accounts (id),
    user_id uuid NOT NULL CONSTRAINT members_user_id_fkey REFERENCES users (id),
    role text NOT NULL CONSTRAINT members_role_check CHECK (role IN ('OWNER', 'ADMIN', 'MEMBER')),
    created_at timestamptz NOT NULL,
    CONSTRAINT members_pkey PRIMARY KEY (account_id, user_id)
  );
  CREATE INDEX members_user_id_idx ON members (user_id);

  -- An invitation is no member: it reserves no e-mail before it is accepted.
  CREATE TABLE invitations (
    id uuid NOT NULL CONSTRAINT invitations_pkey PRIMARY KEY,
    account_id uuid NOT NULL CONSTRAINT invitations_account_id_fkey REFERENCES accounts (id),
    email text NOT NULL,
    name text NOT NULL,
    role text NOT NULL CONSTRAINT invitations_role_check CHECK (role IN ('OWNER', 'ADMIN', 'MEMBER')),
    token_hash bytea NOT NULL CONSTRAINT invitations_token_hash_key UNIQUE,
    -- The invitation ends when this user is removed.
    invited_by uuid,
    expires_at timestamptz NOT NULL,
    created_at timestamptz NOT NULL,
    CONSTRAINT invitations_account_id_email_key UNIQUE (account_id, email)
  );
  CREATE INDEX invitations_expires_at_idx ON invitations (expires_at);

  CREATE TABLE sessions (
    id uuid PRIMARY KEY,
    user_id uuid NOT NULL CONSTRAINT sessions_user_id_fkey REFERENCES users (id),
    -- Null: the session of an operator.
    account_id uuid,
    ip text,
    user_agent text,
    created_at timestamptz NOT NULL,
    -- The hour of the last request.
    used_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    -- A member who is removed is logged out.
    CONSTRAINT sessions_member_fkey FOREIGN KEY (account_id, user_id)
      REFERENCES members (account_id, user_id) ON DELETE CASCADE
  );
  CREATE INDEX sessions_user_id_idx ON sessions (user_id, account_id);
  CREATE INDEX sessions_expires_at_idx ON sessions (expires_at);

  CREATE TABLE password_resets (
    user_id uuid PRIMARY KEY CONSTRAINT password_resets_user_id_fkey REFERENCES users (id),
    token_hash bytea NOT NULL CONSTRAINT password_resets_token_hash_key UNIQUE,
    expires_at timestamptz NOT NULL
  );

  -- Failed logins, counted by the minute.
  CREATE TABLE login_failures (
    id uuid PRIMARY KEY,
    -- A keyed hash, so that nobody finds e-mails by trying them.
    email_hash text NOT NULL,
    ip text NOT NULL,
    minute_at timestamptz NOT NULL,
    count integer NOT NULL,
    -- Null: no user has this e-mail.
    user_id uuid,
    request_id text,
    CONSTRAINT login_failures_email_hash_key UNIQUE (email_hash, ip, minute_at)
  );

  CREATE TABLE api_keys (
    id uuid PRIMARY KEY,
    account_id uuid NOT NULL CONSTRAINT api_keys_account_id_fkey REFERENCES accounts (id),
    mode text NOT NULL CONSTRAINT api_keys_mode_check CHECK (mode IN ('test', 'live')),
    key_hash bytea NOT NULL CONSTRAINT api_keys_key_hash_key UNIQUE,
    prefix text NOT NULL,
    label text,
    allowed_ips text[] NOT NULL DEFAULT '{}',
    issued_by uuid,
    created_at timestamptz NOT NULL,
    last_used_at timestamptz,
    expires_at timestamptz,
    revoked_at timestamptz
  );
  CREATE INDEX api_keys_account_id_idx ON api_keys (account_id, id);

  -- Answers of requests by their idempotency keys.
  CREATE TABLE idempotency_keys (
    account_id uuid NOT NULL,
    mode text NOT NULL,
    operation text NOT NULL,
    key text NOT NULL,
    fingerprint bytea NOT NULL,
    resource_id uuid NOT NULL,
    -- Null while the outcome is not known: the acquirer was called, or is about to be.
    response_status smallint,
    response_body text,
    -- The lease of the working process. If that process crashes, the next repetition of the request continues.
    leased_until timestamptz NOT NULL,
    -- Null: a key in the body of a payment or refund, which is kept for ever.
    expires_at timestamptz,
    CONSTRAINT idempotency_keys_pkey PRIMARY KEY (account_id, mode, operation, key)
  );
  CREATE INDEX idempotency_keys_expires_at_idx ON idempotency_keys (expires_at);
  -- Permanent keys whose stored answers are removed after a day.
  CREATE INDEX idempotency_keys_answered_idx ON idempotency_keys (leased_until)
    WHERE expires_at IS NULL AND response_body IS NOT NULL;

  -- Charges that the fraud guard refused, or would have refused in shadow mode.
  CREATE TABLE fraud_hits (
    id uuid PRIMARY KEY,
    account_id uuid NOT NULL,
    mode text NOT NULL CONSTRAINT fraud_hits_mode_check CHECK (mode IN ('test', 'live')),
    code text NOT NULL,
    enforced boolean NOT NULL,
    operation text NOT NULL,
    amount bigint NOT NULL,
    masked_document text,
    created_at timestamptz NOT NULL
  );
  CREATE INDEX fraud_hits_account_id_idx ON fraud_hits (account_id, id);

  CREATE TABLE audit_events (
    id uuid PRIMARY KEY,
    -- Null: the event concerns no account, as a login with an e-mail that nobody has.
    account_id uuid CONSTRAINT audit_events_account_id_fkey REFERENCES accounts (id),
    type text NOT NULL,
    actor_type text NOT NULL CONSTRAINT audit_events_actor_type_check
      CHECK (actor_type IN ('member', 'operator', 'api_key', 'cli', 'system', 'anonymous')),
    actor_id uuid,
    api_key_fingerprint text,
    ip text,
    request_id text,
    data jsonb NOT NULL,
    created_at timestamptz NOT NULL
  );
  CREATE INDEX audit_events_account_id_idx ON audit_events (account_id, id);

  -- Requests of merchants in the last days. One partition a day (UTC): old days are dropped whole, not row by row.
  CREATE TABLE request_logs (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    -- Null: a person at the dashboard, who sees both modes.
    mode text CONSTRAINT request_logs_mode_check CHECK (mode IN ('test', 'live')),
    request_id text NOT NULL,
    api_key_fingerprint text,
    user_id uuid,
    method text NOT NULL,
    route text NOT NULL,
    path text NOT NULL,
    status integer NOT NULL,
    error_code text,
    duration_ms integer NOT NULL,
    ip text,
    created_at timestamptz NOT NULL,
    CONSTRAINT request_logs_pkey PRIMARY KEY (account_id, created_at, id)
  ) PARTITION BY RANGE (created_at);
  CREATE INDEX request_logs_key_idx ON request_logs (account_id, api_key_fingerprint, created_at, id);
  CREATE INDEX request_logs_request_id_idx ON request_logs (account_id, request_id);
  -- People look for errors, and errors are rare.
  CREATE INDEX request_logs_errors_idx ON request_logs (account_id, status, created_at, id) WHERE status >= 400;
`;
