import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What merchants asked of the API in the last days, the fraud guard's settings and hits, and operators' reviews. */
export class RequestLogsAndFraud1700000002500 implements MigrationInterface {
  readonly name = 'RequestLogsAndFraud1700000002500';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      -- One partition a day (UTC), so that old days are dropped whole instead of deleted row by row.
      CREATE TABLE request_logs (
        id uuid NOT NULL,
        account_id uuid NOT NULL,
        -- Null for a person at the dashboard, who sees both modes.
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
      -- What people look for is rare.
      CREATE INDEX request_logs_errors_idx ON request_logs (account_id, status, created_at, id) WHERE status >= 400;

      CREATE FUNCTION request_logs_add_days(days date[]) RETURNS void LANGUAGE plpgsql AS $$
      DECLARE
        day date;
        name text;
      BEGIN
        -- Two processes that make the same day at once would fail on each other.
        PERFORM pg_advisory_xact_lock(hashtext('request_logs'));
        FOREACH day IN ARRAY days LOOP
          name := 'request_logs_' || to_char(day, 'YYYYMMDD');
          CONTINUE WHEN to_regclass(name) IS NOT NULL;
          -- Attached, not made as a partition: that would keep everybody from the other days meanwhile.
          EXECUTE format('CREATE TABLE %I (LIKE request_logs INCLUDING ALL)', name);
          EXECUTE format('ALTER TABLE request_logs ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
            name, day::timestamp AT TIME ZONE 'UTC', (day + 1)::timestamp AT TIME ZONE 'UTC');
        END LOOP;
      END $$;

      CREATE FUNCTION request_logs_drop_before(first_kept date) RETURNS void LANGUAGE plpgsql AS $$
      DECLARE name text;
      BEGIN
        PERFORM pg_advisory_xact_lock(hashtext('request_logs'));
        -- Dropping waits for every reader and writer, and those who come meanwhile wait behind it: not for long.
        PERFORM set_config('lock_timeout', '1s', true);
        FOR name IN
          SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
          WHERE i.inhparent = 'request_logs'::regclass
            AND c.relname < 'request_logs_' || to_char(first_kept, 'YYYYMMDD')
        LOOP
          EXECUTE format('DROP TABLE %I', name);
        END LOOP;
      END $$;

      ALTER TABLE accounts
        ADD COLUMN fraud_mode text NOT NULL DEFAULT 'enforce'
          CONSTRAINT accounts_fraud_mode_check CHECK (fraud_mode IN ('enforce', 'shadow', 'off')),
        ADD COLUMN fraud_velocity integer NOT NULL DEFAULT 30
          CONSTRAINT accounts_fraud_velocity_check CHECK (fraud_velocity BETWEEN 1 AND 10000),
        -- Null: no limit.
        ADD COLUMN fraud_max_amount bigint CONSTRAINT accounts_fraud_max_amount_check CHECK (fraud_max_amount > 0),
        ADD COLUMN fraud_blocked_documents text[] NOT NULL DEFAULT '{}';

      -- What the guard refused, or would have refused in shadow mode.
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

      ALTER TABLE settlements
        -- What the acquirer keeps; asked for again when an operator accepts a payment that was held.
        ADD COLUMN provider_fee bigint NOT NULL DEFAULT 0
          CONSTRAINT settlements_provider_fee_check CHECK (provider_fee >= 0),
        -- By which operator a held payment was decided; its outcome says how.
        ADD COLUMN reviewed_at timestamptz,
        ADD COLUMN reviewed_by uuid;
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE settlements DROP COLUMN provider_fee, DROP COLUMN reviewed_at, DROP COLUMN reviewed_by;
      ALTER TABLE accounts DROP COLUMN fraud_mode, DROP COLUMN fraud_velocity, DROP COLUMN fraud_max_amount,
        DROP COLUMN fraud_blocked_documents;
      DROP TABLE fraud_hits, request_logs;
      DROP FUNCTION request_logs_add_days(date[]);
      DROP FUNCTION request_logs_drop_before(date);
    `);
  }
}
