import type { MigrationInterface, QueryRunner } from 'typeorm';

/** One-time codes, forgotten passwords, and failed logins by the minute. */
export class SecondFactor1700000009320 implements MigrationInterface {
  readonly name = 'SecondFactor1700000009320';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE users
        ADD COLUMN totp_secret_sealed bytea,
        ADD COLUMN totp_confirmed_at timestamptz,
        -- A code is taken once: no earlier step than this, and not this one.
        ADD COLUMN totp_step integer,
        ADD COLUMN recovery_code_hashes bytea[] NOT NULL DEFAULT '{}',
        ADD COLUMN warned_at timestamptz;
      CREATE TABLE password_resets (
        user_id uuid PRIMARY KEY CONSTRAINT password_resets_user_id_fkey REFERENCES users (id),
        token_hash bytea NOT NULL CONSTRAINT password_resets_token_hash_key UNIQUE,
        expires_at timestamptz NOT NULL
      );
      CREATE TABLE login_failures (
        id uuid PRIMARY KEY,
        -- Keyed, so that nobody finds e-mails by trying them.
        email_hash text NOT NULL,
        ip text NOT NULL,
        minute_at timestamptz NOT NULL,
        count integer NOT NULL,
        -- Null: nobody has this e-mail.
        user_id uuid,
        request_id text,
        CONSTRAINT login_failures_email_hash_key UNIQUE (email_hash, ip, minute_at)
      );
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP TABLE login_failures, password_resets;
      ALTER TABLE users
        DROP COLUMN totp_secret_sealed, DROP COLUMN totp_confirmed_at, DROP COLUMN totp_step,
        DROP COLUMN recovery_code_hashes, DROP COLUMN warned_at;
    `);
  }
}
