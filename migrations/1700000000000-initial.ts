import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Every merchant table carries account_id (a later distribution key) and mode (test and live are separate worlds).
 * Primary keys are UUIDv7 made by the application: their order is the order of creation.
 */
export class Initial1700000000000 implements MigrationInterface {
  readonly name = 'Initial1700000000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE accounts (
        id uuid PRIMARY KEY,
        name text NOT NULL,
        contact_email text NOT NULL,
        city text NOT NULL DEFAULT 'SAO PAULO',
        fee_bps integer NOT NULL DEFAULT 0 CONSTRAINT accounts_fee_bps_check CHECK (fee_bps BETWEEN 0 AND 10000),
        fee_fixed bigint NOT NULL DEFAULT 0 CONSTRAINT accounts_fee_fixed_check CHECK (fee_fixed >= 0),
        release_days integer NOT NULL DEFAULT 0 CONSTRAINT accounts_release_days_check CHECK (release_days BETWEEN 0 AND 365),
        payer_lock boolean NOT NULL DEFAULT false,
        default_expires_in integer NOT NULL DEFAULT 3600
          CONSTRAINT accounts_default_expires_in_check CHECK (default_expires_in BETWEEN 60 AND 86400),
        created_at timestamptz NOT NULL
      );

      CREATE TABLE users (
        id uuid PRIMARY KEY,
        email text NOT NULL CONSTRAINT users_email_key UNIQUE,
        name text NOT NULL,
        password_hash text NOT NULL,
        operator boolean NOT NULL DEFAULT false,
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

      CREATE TABLE api_keys (
        id uuid PRIMARY KEY,
        account_id uuid NOT NULL CONSTRAINT api_keys_account_id_fkey REFERENCES accounts (id),
        mode text NOT NULL CONSTRAINT api_keys_mode_check CHECK (mode IN ('test', 'live')),
        key_hash bytea NOT NULL CONSTRAINT api_keys_key_hash_key UNIQUE,
        prefix text NOT NULL,
        label text,
        created_at timestamptz NOT NULL,
        revoked_at timestamptz
      );
      CREATE INDEX api_keys_account_id_idx ON api_keys (account_id, id);

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
        -- Who works on it; a crashed worker's lease runs out and the next repetition of the request goes on.
        leased_until timestamptz NOT NULL,
        expires_at timestamptz NOT NULL,
        CONSTRAINT idempotency_keys_pkey PRIMARY KEY (account_id, mode, operation, key)
      );
      CREATE INDEX idempotency_keys_expires_at_idx ON idempotency_keys (expires_at);

      CREATE TABLE transactions (
        id uuid PRIMARY KEY,
        -- No foreign key: each insert would share-lock the account's row, and concurrent creates of one merchant would
        -- queue on it. Accounts are never deleted.
        account_id uuid NOT NULL,
        mode text NOT NULL CONSTRAINT transactions_mode_check CHECK (mode IN ('test', 'live')),
        status text NOT NULL CONSTRAINT transactions_status_check CHECK (status IN (
          'PENDING', 'WAITING_PAYMENT', 'PROCESSING', 'PAID', 'APPROVED', 'REFUSED', 'CANCELLED', 'EXPIRED',
          'REFUNDED', 'CHARGEBACK', 'DISPUTE')),
        amount bigint NOT NULL CONSTRAINT transactions_amount_check CHECK (amount > 0),
        currency text NOT NULL,
        payment_methods text[] NOT NULL,
        paid_with text,
        customer_name text,
        customer_document text,
        customer_email text,
        customer_phone text,
        metadata jsonb NOT NULL,
        -- Set only when the payer lock holds for this transaction.
        expected_payer_tax_id text,
        acquirer text NOT NULL,
        txid text,
        br_code text,
        expires_at timestamptz,
        end_to_end_id text,
        provider_fee bigint,
        platform_fee bigint,
        net_amount bigint,
        paid_at timestamptz,
        failure jsonb,
        created_at timestamptz NOT NULL,
        updated_at timestamptz NOT NULL,
        CONSTRAINT transactions_txid_key UNIQUE (txid),
        CONSTRAINT transactions_fees_check CHECK (net_amount = amount - provider_fee - platform_fee)
      );
      CREATE INDEX transactions_list_idx ON transactions (account_id, mode, id);
      CREATE INDEX transactions_document_idx ON transactions (account_id, mode, customer_document, id)
        WHERE customer_document IS NOT NULL;
      CREATE INDEX transactions_open_idx ON transactions (expires_at)
        WHERE status IN ('PENDING', 'WAITING_PAYMENT');

      -- Money that an acquirer reported and confirmed, whatever became of it. One row for each Pix, for ever.
      CREATE TABLE settlements (
        id uuid PRIMARY KEY,
        account_id uuid,
        mode text,
        transaction_id uuid CONSTRAINT settlements_transaction_id_fkey REFERENCES transactions (id),
        acquirer text NOT NULL,
        end_to_end_id text NOT NULL,
        txid text,
        amount bigint NOT NULL CONSTRAINT settlements_amount_check CHECK (amount > 0),
        outcome text NOT NULL CONSTRAINT settlements_outcome_check CHECK (outcome IN ('credited', 'returned', 'review', 'unmatched')),
        reason text,
        payer_document_sealed bytea,
        settled_at timestamptz NOT NULL,
        created_at timestamptz NOT NULL,
        CONSTRAINT settlements_end_to_end_id_key UNIQUE (acquirer, end_to_end_id)
      );
      -- A transaction is credited at most once, whatever the code does.
      CREATE UNIQUE INDEX settlements_credited_key ON settlements (transaction_id) WHERE outcome = 'credited';
      CREATE INDEX settlements_transaction_id_idx ON settlements (transaction_id);
      CREATE INDEX settlements_attention_idx ON settlements (created_at) WHERE outcome IN ('review', 'unmatched');

      -- Pix that go back to the payer by (end-to-end id, return id): devolutions.
      CREATE TABLE pix_returns (
        id uuid PRIMARY KEY,
        account_id uuid NOT NULL,
        mode text NOT NULL,
        transaction_id uuid NOT NULL CONSTRAINT pix_returns_transaction_id_fkey REFERENCES transactions (id),
        acquirer text NOT NULL,
        end_to_end_id text NOT NULL,
        return_id text NOT NULL,
        amount bigint NOT NULL CONSTRAINT pix_returns_amount_check CHECK (amount > 0),
        reason text NOT NULL,
        status text NOT NULL CONSTRAINT pix_returns_status_check CHECK (status IN ('PENDING', 'IN_PROGRESS', 'RETURNED', 'FAILED')),
        attempts integer NOT NULL DEFAULT 0,
        next_attempt_at timestamptz,
        failure_reason text,
        created_at timestamptz NOT NULL,
        updated_at timestamptz NOT NULL,
        CONSTRAINT pix_returns_return_id_key UNIQUE (acquirer, end_to_end_id, return_id)
      );
      CREATE INDEX pix_returns_transaction_id_idx ON pix_returns (transaction_id);
      CREATE INDEX pix_returns_due_idx ON pix_returns (next_attempt_at) WHERE status IN ('PENDING', 'IN_PROGRESS');

      CREATE TABLE journal_entries (
        id uuid PRIMARY KEY,
        account_id uuid NOT NULL,
        mode text NOT NULL,
        currency text NOT NULL,
        -- What made it, for example charge.paid:<id>: the same cause can never post twice.
        cause text NOT NULL CONSTRAINT journal_entries_cause_key UNIQUE,
        transaction_id uuid,
        created_at timestamptz NOT NULL
      );
      CREATE INDEX journal_entries_account_id_idx ON journal_entries (account_id, mode, id);

      CREATE TABLE journal_lines (
        entry_id uuid NOT NULL CONSTRAINT journal_lines_entry_id_fkey REFERENCES journal_entries (id),
        line smallint NOT NULL,
        account_id uuid NOT NULL,
        mode text NOT NULL,
        currency text NOT NULL,
        bucket text NOT NULL,
        amount bigint NOT NULL CONSTRAINT journal_lines_amount_check CHECK (amount <> 0),
        CONSTRAINT journal_lines_pkey PRIMARY KEY (entry_id, line)
      );

      CREATE TABLE balances (
        account_id uuid NOT NULL,
        mode text NOT NULL,
        currency text NOT NULL,
        bucket text NOT NULL,
        amount bigint NOT NULL,
        updated_at timestamptz NOT NULL,
        CONSTRAINT balances_pkey PRIMARY KEY (account_id, mode, currency, bucket)
      ) WITH (fillfactor = 50);

      CREATE TABLE releases (
        id uuid PRIMARY KEY,
        account_id uuid NOT NULL,
        mode text NOT NULL,
        currency text NOT NULL,
        transaction_id uuid NOT NULL CONSTRAINT releases_transaction_id_key UNIQUE,
        amount bigint NOT NULL CONSTRAINT releases_amount_check CHECK (amount > 0),
        release_at timestamptz NOT NULL,
        released_at timestamptz
      );
      CREATE INDEX releases_due_idx ON releases (release_at) WHERE released_at IS NULL;
      CREATE INDEX releases_next_idx ON releases (account_id, mode, currency, release_at) WHERE released_at IS NULL;

      CREATE TABLE events (
        id uuid PRIMARY KEY,
        account_id uuid NOT NULL,
        mode text NOT NULL,
        type text NOT NULL,
        subject_id uuid NOT NULL,
        data jsonb NOT NULL,
        occurred_at timestamptz NOT NULL,
        status text NOT NULL DEFAULT 'pending' CONSTRAINT events_status_check CHECK (status IN ('pending', 'done')),
        -- Moved on when an event cannot be relayed, so that it does not hold up the others.
        next_attempt_at timestamptz NOT NULL
      );
      CREATE INDEX events_pending_idx ON events (next_attempt_at) WHERE status = 'pending';
      CREATE INDEX events_subject_id_idx ON events (subject_id);

      CREATE TABLE acquirer_notifications (
        id uuid PRIMARY KEY,
        acquirer text NOT NULL,
        kind text NOT NULL,
        -- What it is about, for example an end-to-end id: repeated notifications are one row.
        reference text NOT NULL,
        status text NOT NULL DEFAULT 'pending'
          CONSTRAINT acquirer_notifications_status_check CHECK (status IN ('pending', 'applied', 'ignored')),
        attempts integer NOT NULL DEFAULT 0,
        next_attempt_at timestamptz NOT NULL,
        last_error text,
        received_at timestamptz NOT NULL,
        applied_at timestamptz,
        CONSTRAINT acquirer_notifications_reference_key UNIQUE (acquirer, kind, reference)
      );
      CREATE INDEX acquirer_notifications_due_idx ON acquirer_notifications (next_attempt_at) WHERE status = 'pending';

      CREATE TABLE webhook_endpoints (
        id uuid PRIMARY KEY,
        account_id uuid NOT NULL CONSTRAINT webhook_endpoints_account_id_fkey REFERENCES accounts (id),
        mode text NOT NULL,
        url text NOT NULL,
        events text[] NOT NULL,
        secret_sealed bytea NOT NULL,
        status text NOT NULL CONSTRAINT webhook_endpoints_status_check CHECK (status IN ('ACTIVE', 'INACTIVE')),
        created_at timestamptz NOT NULL,
        updated_at timestamptz NOT NULL
      );
      CREATE INDEX webhook_endpoints_account_id_idx ON webhook_endpoints (account_id, mode, id);

      CREATE TABLE webhook_deliveries (
        id uuid PRIMARY KEY,
        account_id uuid NOT NULL,
        mode text NOT NULL,
        endpoint_id uuid NOT NULL CONSTRAINT webhook_deliveries_endpoint_id_fkey REFERENCES webhook_endpoints (id),
        event_id uuid NOT NULL,
        event_type text NOT NULL,
        payload text NOT NULL,
        status text NOT NULL CONSTRAINT webhook_deliveries_status_check
          CHECK (status IN ('PENDING', 'PROCESSING', 'DELIVERED', 'FAILED', 'CANCELLED')),
        attempts integer NOT NULL DEFAULT 0,
        max_attempts integer NOT NULL,
        -- PENDING: when it may be tried. PROCESSING: when its worker is given up for dead.
        next_attempt_at timestamptz,
        -- Until then a queue job is taken to exist; past it the sweeper queues the delivery again.
        queued_until timestamptz,
        last_status_code integer,
        last_error text,
        delivered_at timestamptz,
        created_at timestamptz NOT NULL,
        updated_at timestamptz NOT NULL,
        CONSTRAINT webhook_deliveries_event_key UNIQUE (event_id, endpoint_id, event_type)
      );
      CREATE INDEX webhook_deliveries_due_idx ON webhook_deliveries (next_attempt_at)
        WHERE status IN ('PENDING', 'PROCESSING');
      CREATE INDEX webhook_deliveries_endpoint_idx ON webhook_deliveries (endpoint_id) WHERE status = 'PENDING';
      CREATE INDEX webhook_deliveries_list_idx ON webhook_deliveries (account_id, mode, id);

      CREATE TABLE webhook_attempts (
        delivery_id uuid NOT NULL CONSTRAINT webhook_attempts_delivery_id_fkey REFERENCES webhook_deliveries (id),
        number integer NOT NULL,
        account_id uuid NOT NULL,
        started_at timestamptz NOT NULL,
        duration_ms integer NOT NULL,
        status_code integer,
        error text,
        response_body text,
        CONSTRAINT webhook_attempts_pkey PRIMARY KEY (delivery_id, number)
      );

      -- The sandbox acquirer's own books: it stands for a bank, so it remembers what a bank would.
      CREATE TABLE sandbox_pix (
        end_to_end_id text PRIMARY KEY,
        txid text NOT NULL,
        amount bigint NOT NULL,
        payer_sealed bytea NOT NULL,
        settled_at timestamptz NOT NULL
      );
      CREATE TABLE sandbox_charges (
        txid text PRIMARY KEY,
        status text NOT NULL CONSTRAINT sandbox_charges_status_check CHECK (status IN ('EXPIRED', 'REFUSED')),
        ended_at timestamptz NOT NULL
      );
      CREATE TABLE sandbox_returns (
        end_to_end_id text NOT NULL CONSTRAINT sandbox_returns_end_to_end_id_fkey REFERENCES sandbox_pix (end_to_end_id),
        return_id text NOT NULL,
        amount bigint NOT NULL,
        requested_at timestamptz NOT NULL,
        CONSTRAINT sandbox_returns_pkey PRIMARY KEY (end_to_end_id, return_id)
      );

      CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        RAISE EXCEPTION '% is append-only: write a new entry that corrects the old one', TG_TABLE_NAME;
      END $$;
      CREATE TRIGGER journal_entries_append_only BEFORE UPDATE OR DELETE ON journal_entries
        FOR EACH ROW EXECUTE FUNCTION refuse_change();
      CREATE TRIGGER journal_lines_append_only BEFORE UPDATE OR DELETE ON journal_lines
        FOR EACH ROW EXECUTE FUNCTION refuse_change();

      -- The lines of an entry are inserted by one statement, so the sum can be checked at its end.
      CREATE FUNCTION refuse_unbalanced() RETURNS trigger LANGUAGE plpgsql AS $$
      DECLARE unbalanced uuid;
      BEGIN
        SELECT entry_id INTO unbalanced FROM inserted GROUP BY entry_id HAVING sum(amount) <> 0 OR count(*) < 2 LIMIT 1;
        IF FOUND THEN
          RAISE EXCEPTION 'journal entry % does not sum to zero', unbalanced;
        END IF;
        RETURN NULL;
      END $$;
      CREATE TRIGGER journal_lines_balanced AFTER INSERT ON journal_lines
        REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION refuse_unbalanced();
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP TABLE sandbox_returns, sandbox_charges, sandbox_pix, webhook_attempts, webhook_deliveries,
        webhook_endpoints, acquirer_notifications, events, releases, balances, journal_lines, journal_entries,
        pix_returns, settlements, transactions, idempotency_keys, api_keys, members, users, accounts;
      DROP FUNCTION refuse_change();
      DROP FUNCTION refuse_unbalanced();
    `);
  }
}
