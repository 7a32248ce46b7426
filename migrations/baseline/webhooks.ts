/** Events, and their delivery to the endpoints of merchants. */
export const WEBHOOKS = `
  CREATE FUNCTION current_xid() RETURNS bigint LANGUAGE sql VOLATILE
    RETURN pg_current_xact_id()::text::bigint;

  -- The outbox: each event is written in the commit of the change that it reports.
  CREATE TABLE events (
    id uuid PRIMARY KEY,
    account_id uuid NOT NULL,
    mode text NOT NULL,
    type text NOT NULL,
    subject_id uuid NOT NULL,
    -- The order of the events of one subject, which deliveries do not keep.
    sequence integer NOT NULL,
    data jsonb NOT NULL,
    -- The part of the data that tells of the customer, sealed.
    customer_sealed text,
    -- The database transaction that wrote the event. A reader who continues after the last event that it has seen misses
    -- none, although transactions commit in another order than that of their ids.
    xid bigint NOT NULL DEFAULT current_xid(),
    status text NOT NULL DEFAULT 'pending' CONSTRAINT events_status_check CHECK (status IN ('pending', 'done')),
    -- Moved on if an event cannot be relayed, so that it does not hold up the others.
    next_attempt_at timestamptz NOT NULL,
    occurred_at timestamptz NOT NULL
  );
  CREATE INDEX events_pending_idx ON events (next_attempt_at) WHERE status = 'pending';
  CREATE UNIQUE INDEX events_subject_key ON events (subject_id, sequence);
  CREATE INDEX events_position_idx ON events (account_id, mode, xid, id);

  CREATE TABLE webhook_endpoints (
    id uuid PRIMARY KEY,
    account_id uuid NOT NULL CONSTRAINT webhook_endpoints_account_id_fkey REFERENCES accounts (id),
    mode text NOT NULL,
    -- direct: the webhookUrl of a sale, which no list shows.
    kind text NOT NULL DEFAULT 'registered'
      CONSTRAINT webhook_endpoints_kind_check CHECK (kind IN ('registered', 'direct')),
    url text NOT NULL,
    events text[] NOT NULL,
    secret_sealed bytea NOT NULL,
    -- The secret before the last rotation. It signs too until previous_secret_until; later it only explains why a
    -- merchant's verification fails.
    previous_secret_sealed bytea,
    previous_secret_until timestamptz,
    status text NOT NULL CONSTRAINT webhook_endpoints_status_check CHECK (status IN ('ACTIVE', 'INACTIVE')),
    -- Failed attempts since the last success.
    failures integer NOT NULL DEFAULT 0,
    failing_since timestamptz,
    -- The circuit breaker: nothing is sent before this time, except the probe that closes it.
    paused_until timestamptz,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    -- The row stays, as deliveries name their endpoint after it is deleted.
    deleted_at timestamptz
  );
  -- A merchant may have a URL of its own for each sale, and delete any number of endpoints: no look-up of an account's
  -- endpoints reads those.
  CREATE INDEX webhook_endpoints_account_id_idx ON webhook_endpoints (account_id, mode, id)
    WHERE kind = 'registered' AND deleted_at IS NULL;

  CREATE TABLE webhook_default_secrets (
    account_id uuid NOT NULL CONSTRAINT webhook_default_secrets_account_id_fkey REFERENCES accounts (id),
    mode text NOT NULL,
    secret_sealed bytea NOT NULL,
    previous_secret_sealed bytea,
    previous_secret_until timestamptz,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    CONSTRAINT webhook_default_secrets_pkey PRIMARY KEY (account_id, mode)
  );

  -- The payload, once for all its receivers and never changed. A delivery is rewritten at each step, so it is kept narrow;
  -- the key that lets an event be sent only once is here, where no step touches it.
  CREATE TABLE webhook_messages (
    id uuid CONSTRAINT webhook_messages_pkey PRIMARY KEY,
    account_id uuid NOT NULL,
    mode text NOT NULL,
    event_id uuid NOT NULL,
    event_type text NOT NULL,
    -- Requested by hand (resend, recover, test): may repeat an event that was delivered before.
    manual boolean NOT NULL,
    payload text NOT NULL,
    delivery_ids uuid[] NOT NULL
  );
  CREATE UNIQUE INDEX webhook_messages_event_key ON webhook_messages (event_id, event_type) WHERE NOT manual;

  -- Each delivery leaves two dead versions. By the default a fifth of the table would pile up for days before a vacuum, and
  -- rows that are not vacuumed cannot be counted from an index alone.
  CREATE TABLE webhook_deliveries (
    id uuid PRIMARY KEY,
    account_id uuid NOT NULL,
    mode text NOT NULL,
    endpoint_id uuid NOT NULL CONSTRAINT webhook_deliveries_endpoint_id_fkey REFERENCES webhook_endpoints (id),
    message_id uuid NOT NULL,
    event_type text NOT NULL,
    -- The subject of the event: when failed deliveries are sent again, one for each subject is enough.
    subject_id uuid NOT NULL,
    manual boolean NOT NULL DEFAULT false,
    status text NOT NULL CONSTRAINT webhook_deliveries_status_check
      CHECK (status IN ('PENDING', 'PROCESSING', 'DELIVERED', 'FAILED', 'CANCELLED')),
    attempts integer NOT NULL DEFAULT 0,
    max_attempts integer NOT NULL,
    -- PENDING: when it may be tried. PROCESSING: when its worker is taken for dead.
    next_attempt_at timestamptz,
    last_status_code integer,
    last_error text,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    delivered_at timestamptz
  ) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02);
  -- Each endpoint has two queues: a delivery that failed before, or is sent again by hand, never stands before a new one.
  -- A delivery is in one of the two or, while a worker has it, in the third index.
  CREATE INDEX webhook_deliveries_fresh_idx ON webhook_deliveries (endpoint_id, next_attempt_at)
    WHERE status = 'PENDING' AND attempts = 0 AND NOT manual;
  CREATE INDEX webhook_deliveries_again_idx ON webhook_deliveries (endpoint_id, next_attempt_at)
    WHERE status = 'PENDING' AND (attempts > 0 OR manual);
  CREATE INDEX webhook_deliveries_lease_idx ON webhook_deliveries (next_attempt_at) WHERE status = 'PROCESSING';
  CREATE INDEX webhook_deliveries_manual_idx ON webhook_deliveries (endpoint_id, subject_id) WHERE manual;
  -- Lists and counts of a merchant, by any filter, without reading a row. Nearly all deliveries end as DELIVERED, and enter
  -- the first two indexes once. The few others share the third.
  CREATE INDEX webhook_deliveries_delivered_idx ON webhook_deliveries (account_id, mode, event_type, id)
    WHERE status = 'DELIVERED';
  CREATE INDEX webhook_deliveries_history_idx ON webhook_deliveries (endpoint_id, event_type, id)
    WHERE status = 'DELIVERED';
  CREATE INDEX webhook_deliveries_undelivered_idx
    ON webhook_deliveries (account_id, mode, status, endpoint_id, event_type, id) WHERE status <> 'DELIVERED';

  -- No foreign key: an attempt is written with the step of its delivery, and checking each for its delivery took a tenth of
  -- that.
  CREATE TABLE webhook_attempts (
    delivery_id uuid NOT NULL,
    number integer NOT NULL,
    account_id uuid NOT NULL,
    started_at timestamptz NOT NULL,
    duration_ms integer NOT NULL,
    status_code integer,
    error text,
    response_body text,
    CONSTRAINT webhook_attempts_pkey PRIMARY KEY (delivery_id, number)
  );
`;
