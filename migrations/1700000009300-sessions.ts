import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A login is a row, which its bearer sees and ends. Whoever is logged in before this logs in anew. */
export class Sessions1700000009300 implements MigrationInterface {
  readonly name = 'Sessions1700000009300';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE sessions (
        id uuid PRIMARY KEY,
        user_id uuid NOT NULL CONSTRAINT sessions_user_id_fkey REFERENCES users (id),
        -- Null: an operator's.
        account_id uuid,
        created_at timestamptz NOT NULL,
        -- The hour of the last request.
        used_at timestamptz NOT NULL,
        expires_at timestamptz NOT NULL,
        ip text,
        user_agent text,
        -- Who is removed is logged out.
        CONSTRAINT sessions_member_fkey FOREIGN KEY (account_id, user_id)
          REFERENCES members (account_id, user_id) ON DELETE CASCADE
      );
      CREATE INDEX sessions_user_id_idx ON sessions (user_id, account_id);
      CREATE INDEX sessions_expires_at_idx ON sessions (expires_at);
      DROP TABLE revoked_tokens;
      ALTER TABLE users DROP COLUMN sessions_from;
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE users ADD COLUMN sessions_from timestamptz;
      CREATE TABLE revoked_tokens (
        jti uuid PRIMARY KEY,
        expires_at timestamptz NOT NULL
      );
      CREATE INDEX revoked_tokens_expires_at_idx ON revoked_tokens (expires_at);
      -- The version before cannot tell which tokens were ended, so all are.
      UPDATE users SET sessions_from = now();
      DROP TABLE sessions;
    `);
  }
}
