import type { MigrationInterface, QueryRunner } from 'typeorm';

export class AcquirerCallbacks1700000006500 implements MigrationInterface {
  readonly name = 'AcquirerCallbacks1700000006500';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      -- What PSPs have posted, as it came: stored before anything is made of it, removed after thirty days.
      CREATE TABLE acquirer_callbacks (
        id uuid PRIMARY KEY,
        acquirer text NOT NULL,
        -- Of the body: the same one again is this row.
        sha256 bytea NOT NULL,
        -- It names payers.
        body_sealed bytea NOT NULL,
        -- How often it came.
        times integer NOT NULL DEFAULT 1,
        status text NOT NULL DEFAULT 'pending'
          CONSTRAINT acquirer_callbacks_status_check CHECK (status IN ('pending', 'read', 'unreadable')),
        -- How many notifications it was.
        hints integer,
        attempts integer NOT NULL DEFAULT 0,
        next_attempt_at timestamptz NOT NULL,
        last_error text,
        received_at timestamptz NOT NULL,
        CONSTRAINT acquirer_callbacks_sha256_key UNIQUE (acquirer, sha256)
      );
      CREATE INDEX acquirer_callbacks_due_idx ON acquirer_callbacks (next_attempt_at) WHERE status = 'pending';
      CREATE INDEX acquirer_callbacks_received_at_idx ON acquirer_callbacks (received_at);

      -- Hints that no acquirer has confirmed are removed some time after they were given up.
      CREATE INDEX acquirer_notifications_ignored_idx ON acquirer_notifications (next_attempt_at)
        WHERE status = 'ignored';

      -- How far the acquirers' own lists have been read: payments all the time, returns once a day.
      CREATE TABLE acquirer_statements (
        acquirer text NOT NULL,
        list text NOT NULL CONSTRAINT acquirer_statements_list_check CHECK (list IN ('payments', 'returns')),
        -- Everything before it has been read; null before the first pass.
        swept_until timestamptz,
        -- Where a pass that was too long for one go is continued; null between passes.
        resume_at timestamptz,
        -- When it is read again; while somebody reads it, the end of the lease.
        next_due_at timestamptz NOT NULL,
        -- That failed, since one did not.
        attempts integer NOT NULL DEFAULT 0,
        last_error text,
        CONSTRAINT acquirer_statements_pkey PRIMARY KEY (acquirer, list)
      );
      CREATE INDEX acquirer_statements_due_idx ON acquirer_statements (next_due_at);

      -- A charge whose acquirer may know more of it is not written as expired before it was asked.
      ALTER TABLE transactions
        -- When it is asked (again); while somebody does, the end of the lease.
        ADD COLUMN expiry_ask_at timestamptz,
        -- When it has answered and everything it knew of was settled.
        ADD COLUMN expiry_asked_at timestamptz;

      -- A day of an acquirer. The sandbox gives no list to compare with.
      CREATE INDEX settlements_settled_at_idx ON settlements (acquirer, settled_at) WHERE acquirer <> 'sandbox';
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP INDEX settlements_settled_at_idx;
      ALTER TABLE transactions DROP COLUMN expiry_ask_at, DROP COLUMN expiry_asked_at;
      DROP TABLE acquirer_statements;
      DROP INDEX acquirer_notifications_ignored_idx;
      DROP TABLE acquirer_callbacks;
    `);
  }
}
