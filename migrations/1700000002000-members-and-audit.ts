import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Logins that can be ended, invitations, and the record of who did what. */
export class MembersAndAudit1700000002000 implements MigrationInterface {
  readonly name = 'MembersAndAudit1700000002000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      -- Null until an invited user has chosen a password.
      ALTER TABLE users ALTER COLUMN password_hash DROP NOT NULL;

      CREATE TABLE invitations (
        account_id uuid NOT NULL,
        user_id uuid NOT NULL,
        token_hash bytea NOT NULL CONSTRAINT invitations_token_hash_key UNIQUE,
        expires_at timestamptz NOT NULL,
        created_at timestamptz NOT NULL,
        CONSTRAINT invitations_pkey PRIMARY KEY (account_id, user_id),
        -- Who is removed cannot come in by an old invitation.
        CONSTRAINT invitations_member_fkey FOREIGN KEY (account_id, user_id)
          REFERENCES members (account_id, user_id) ON DELETE CASCADE
      );

      -- Tokens that were ended before their time; kept until then.
      CREATE TABLE revoked_tokens (
        jti uuid PRIMARY KEY,
        expires_at timestamptz NOT NULL
      );
      CREATE INDEX revoked_tokens_expires_at_idx ON revoked_tokens (expires_at);

      CREATE TABLE audit_events (
        id uuid PRIMARY KEY,
        -- Null: concerns no account, as a login with an e-mail that nobody has.
        account_id uuid CONSTRAINT audit_events_account_id_fkey REFERENCES accounts (id),
        type text NOT NULL,
        actor_type text NOT NULL CONSTRAINT audit_events_actor_type_check
          CHECK (actor_type IN ('member', 'operator', 'cli', 'system', 'anonymous')),
        actor_id uuid,
        api_key_fingerprint text,
        ip text,
        request_id text,
        data jsonb NOT NULL,
        created_at timestamptz NOT NULL
      );
      CREATE INDEX audit_events_account_id_idx ON audit_events (account_id, id);
      CREATE TRIGGER audit_events_append_only BEFORE UPDATE OR DELETE ON audit_events
        FOR EACH ROW EXECUTE FUNCTION refuse_change();
      CREATE TRIGGER audit_events_keep BEFORE TRUNCATE ON audit_events
        FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP TABLE audit_events, revoked_tokens, invitations;
      -- No password has this hash.
      UPDATE users SET password_hash =
        '$argon2id$v=19$m=19456,t=2,p=1$bm9ib2R5J3Mgc2FsdC4uLg$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'
        WHERE password_hash IS NULL;
      ALTER TABLE users ALTER COLUMN password_hash SET NOT NULL;
    `);
  }
}
