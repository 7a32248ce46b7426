import type { MigrationInterface, QueryRunner } from 'typeorm';

export class WebhookManagement1700000001000 implements MigrationInterface {
  readonly name = 'WebhookManagement1700000001000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      -- A transaction's own webhookUrl is an endpoint too, one that no list shows: kind 'direct'.
      ALTER TABLE webhook_endpoints
        ADD COLUMN kind text NOT NULL DEFAULT 'registered'
          CONSTRAINT webhook_endpoints_kind_check CHECK (kind IN ('registered', 'direct')),
        -- The secret before the last rotation: signs too until previous_secret_until, and afterwards only explains
        -- why a merchant's verification fails.
        ADD COLUMN previous_secret_sealed bytea,
        ADD COLUMN previous_secret_until timestamptz,
        -- Deliveries tell of their endpoint after it is deleted.
        ADD COLUMN deleted_at timestamptz,
        -- Health: what the last attempts since a success were.
        ADD COLUMN failures integer NOT NULL DEFAULT 0,
        ADD COLUMN failing_since timestamptz,
        -- The circuit breaker: nothing is sent before it, except the probe that closes it.
        ADD COLUMN paused_until timestamptz;
      -- A merchant may have a URL of its own for each transaction, and delete as many endpoints as it likes: no look-up
      -- of an account's endpoints reads those.
      DROP INDEX webhook_endpoints_account_id_idx;
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

      ALTER TABLE webhook_deliveries
        DROP COLUMN queued_until,
        -- What the event is about: one delivery for each is enough when what failed is sent again.
        ADD COLUMN subject_id uuid,
        -- Asked for by hand (resend, recover, test): may repeat an event that was delivered before.
        ADD COLUMN manual boolean NOT NULL DEFAULT false,
        DROP CONSTRAINT webhook_deliveries_event_key;
      UPDATE webhook_deliveries d SET subject_id = e.subject_id FROM events e WHERE e.id = d.event_id;
      ALTER TABLE webhook_deliveries ALTER COLUMN subject_id SET NOT NULL;
      CREATE UNIQUE INDEX webhook_deliveries_event_key ON webhook_deliveries (event_id, endpoint_id, event_type)
        WHERE NOT manual;
      -- What waits, by endpoint and in two lines: what failed before, or is sent again by hand, never stands before
      -- what is new. A delivery is in one of the two or, in the hands of a worker, in the third.
      DROP INDEX webhook_deliveries_due_idx;
      DROP INDEX webhook_deliveries_endpoint_idx;
      CREATE INDEX webhook_deliveries_fresh_idx ON webhook_deliveries (endpoint_id, next_attempt_at)
        WHERE status = 'PENDING' AND attempts = 0 AND NOT manual;
      CREATE INDEX webhook_deliveries_again_idx ON webhook_deliveries (endpoint_id, next_attempt_at)
        WHERE status = 'PENDING' AND (attempts > 0 OR manual);
      CREATE INDEX webhook_deliveries_lease_idx ON webhook_deliveries (next_attempt_at) WHERE status = 'PROCESSING';
      CREATE INDEX webhook_deliveries_manual_idx ON webhook_deliveries (endpoint_id, subject_id) WHERE manual;
      -- What a merchant lists and counts, by any filter, without touching a row. DELIVERED is an end and nearly all:
      -- a delivery enters those two once, each name's behind one another. The others are few, in one index for all.
      DROP INDEX webhook_deliveries_list_idx;
      CREATE INDEX webhook_deliveries_delivered_idx ON webhook_deliveries (account_id, mode, event_type, id)
        WHERE status = 'DELIVERED';
      CREATE INDEX webhook_deliveries_history_idx ON webhook_deliveries (endpoint_id, event_type, id)
        WHERE status = 'DELIVERED';
      CREATE INDEX webhook_deliveries_undelivered_idx
        ON webhook_deliveries (account_id, mode, status, endpoint_id, event_type, id) WHERE status <> 'DELIVERED';
      -- Two dead versions for each delivery: with the usual fifth of the table they would pile up for days, and what
      -- is not vacuumed cannot be counted from an index alone.
      ALTER TABLE webhook_deliveries SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02);

      -- The order of the events of one subject, which deliveries do not keep.
      ALTER TABLE events ADD COLUMN sequence integer;
      UPDATE events e SET sequence = n.sequence FROM (
        SELECT id, row_number() OVER (PARTITION BY subject_id ORDER BY occurred_at, id) AS sequence FROM events
      ) n WHERE n.id = e.id;
      ALTER TABLE events ALTER COLUMN sequence SET NOT NULL;
      DROP INDEX events_subject_id_idx;
      CREATE UNIQUE INDEX events_subject_key ON events (subject_id, sequence);

      ALTER TABLE transactions ADD COLUMN webhook_url text;

      -- Mail to be sent: written with what it tells of, sent by a worker.
      CREATE TABLE emails (
        id uuid PRIMARY KEY,
        account_id uuid,
        recipient text NOT NULL,
        subject text NOT NULL,
        text_body text NOT NULL,
        html_body text NOT NULL,
        status text NOT NULL DEFAULT 'pending'
          CONSTRAINT emails_status_check CHECK (status IN ('pending', 'sent', 'failed')),
        attempts integer NOT NULL DEFAULT 0,
        next_attempt_at timestamptz NOT NULL,
        last_error text,
        created_at timestamptz NOT NULL,
        sent_at timestamptz
      );
      CREATE INDEX emails_due_idx ON emails (next_attempt_at) WHERE status = 'pending';
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP TABLE emails;
      ALTER TABLE transactions DROP COLUMN webhook_url;
      DROP INDEX events_subject_key;
      CREATE INDEX events_subject_id_idx ON events (subject_id);
      ALTER TABLE events DROP COLUMN sequence;
      DROP INDEX webhook_deliveries_manual_idx;
      ALTER TABLE webhook_deliveries RESET (autovacuum_vacuum_scale_factor, autovacuum_vacuum_insert_scale_factor);
      DROP INDEX webhook_deliveries_undelivered_idx;
      DROP INDEX webhook_deliveries_history_idx;
      DROP INDEX webhook_deliveries_delivered_idx;
      CREATE INDEX webhook_deliveries_list_idx ON webhook_deliveries (account_id, mode, id);
      DROP INDEX webhook_deliveries_lease_idx;
      DROP INDEX webhook_deliveries_again_idx;
      DROP INDEX webhook_deliveries_fresh_idx;
      CREATE INDEX webhook_deliveries_endpoint_idx ON webhook_deliveries (endpoint_id) WHERE status = 'PENDING';
      CREATE INDEX webhook_deliveries_due_idx ON webhook_deliveries (next_attempt_at)
        WHERE status IN ('PENDING', 'PROCESSING');
      DROP INDEX webhook_deliveries_event_key;
      DELETE FROM webhook_attempts a USING webhook_deliveries d WHERE d.id = a.delivery_id AND d.manual;
      DELETE FROM webhook_deliveries WHERE manual;
      ALTER TABLE webhook_deliveries
        DROP COLUMN subject_id,
        DROP COLUMN manual,
        ADD COLUMN queued_until timestamptz,
        ADD CONSTRAINT webhook_deliveries_event_key UNIQUE (event_id, endpoint_id, event_type);
      DROP TABLE webhook_default_secrets;
      DROP INDEX webhook_endpoints_account_id_idx;
      CREATE INDEX webhook_endpoints_account_id_idx ON webhook_endpoints (account_id, mode, id);
      ALTER TABLE webhook_endpoints DROP COLUMN kind, DROP COLUMN previous_secret_sealed,
        DROP COLUMN previous_secret_until, DROP COLUMN deleted_at, DROP COLUMN failures, DROP COLUMN failing_since,
        DROP COLUMN paused_until;
    `);
  }
}
