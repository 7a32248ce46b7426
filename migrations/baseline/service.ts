/** The service's own tables: work that is due later, mail, reports and encryption keys. */
export const SERVICE = `
  -- Work to do later, by its subject. A finished row is deleted.
  CREATE TABLE work (
    kind text NOT NULL,
    subject_id uuid NOT NULL,
    due_at timestamptz NOT NULL,
    attempts integer NOT NULL DEFAULT 0,
    lease_id uuid,
    leased_until timestamptz,
    last_error text,
    failing_since timestamptz,
    CONSTRAINT work_pkey PRIMARY KEY (kind, subject_id)
  );
  -- Each kind has two queues, new work and repeated work: what fails never stands before what is new.
  CREATE INDEX work_fresh_idx ON work (kind, due_at) WHERE attempts = 0;
  CREATE INDEX work_again_idx ON work (kind, due_at) WHERE attempts > 0;

  -- Mail is written in the commit of the fact that it reports, and a worker sends it.
  CREATE TABLE emails (
    id uuid PRIMARY KEY,
    -- Null: mail to an operator, which concerns no account.
    account_id uuid,
    is_test boolean NOT NULL DEFAULT false,
    recipient text NOT NULL,
    subject text NOT NULL,
    text_body text NOT NULL,
    html_body text NOT NULL,
    -- A token that only this mail has; blanked when the mail is sent.
    secret_sealed bytea,
    status text NOT NULL DEFAULT 'pending'
      CONSTRAINT emails_status_check CHECK (status IN ('pending', 'sent', 'failed')),
    last_error text,
    created_at timestamptz NOT NULL,
    ended_at timestamptz
  );
  -- Mail names people: it is removed some time after it was sent or given up.
  CREATE INDEX emails_ended_idx ON emails (ended_at) WHERE status <> 'pending';

  CREATE TABLE reports (
    id uuid NOT NULL CONSTRAINT reports_pkey PRIMARY KEY,
    account_id uuid NOT NULL,
    mode text NOT NULL,
    type text NOT NULL,
    format text NOT NULL,
    window_from timestamptz NOT NULL,
    window_to timestamptz NOT NULL,
    columns text[],
    filters jsonb,
    status text NOT NULL,
    rows bigint NOT NULL DEFAULT 0,
    total_rows bigint,
    size bigint,
    object_name text,
    created_at timestamptz NOT NULL,
    ready_at timestamptz,
    expires_at timestamptz
  );
  CREATE INDEX reports_list_idx ON reports (account_id, mode, id);
  CREATE INDEX reports_over_idx ON reports (id) WHERE status IN ('failed', 'expired');

  -- The last mail to operators about each of their queues.
  CREATE TABLE operator_alerts (
    queue text NOT NULL CONSTRAINT operator_alerts_pkey PRIMARY KEY,
    sent_at timestamptz NOT NULL
  );

  -- A text that each key of ENCRYPTION_KEY has sealed. A start opens it to see whether it has the keys of the stored data.
  CREATE TABLE encryption_keys (
    key_id text CONSTRAINT encryption_keys_pkey PRIMARY KEY,
    canary bytea,
    created_at timestamptz NOT NULL DEFAULT now(),
    lost_at timestamptz,
    CONSTRAINT encryption_keys_canary_check CHECK (canary IS NOT NULL OR lost_at IS NOT NULL)
  );
`;
