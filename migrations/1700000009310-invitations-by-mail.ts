import type { MigrationInterface, QueryRunner } from 'typeorm';

/** An invitation is no member: it reserves no e-mail before it is accepted. */
export class InvitationsByMail1700000009310 implements MigrationInterface {
  readonly name = 'InvitationsByMail1700000009310';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE invitations
        DROP CONSTRAINT invitations_member_fkey,
        DROP CONSTRAINT invitations_pkey,
        ADD COLUMN id uuid NOT NULL DEFAULT gen_random_uuid(),
        ADD COLUMN email text,
        ADD COLUMN name text,
        ADD COLUMN role text;
      UPDATE invitations i SET email = u.email, name = u.name, role = m.role
        FROM users u, members m WHERE u.id = i.user_id AND m.account_id = i.account_id AND m.user_id = i.user_id;
      -- Who has not accepted is a member no more; the user stays, for the audit trail names them.
      DELETE FROM members m USING invitations i WHERE m.account_id = i.account_id AND m.user_id = i.user_id;
      ALTER TABLE invitations
        DROP COLUMN user_id,
        ALTER COLUMN id DROP DEFAULT,
        ALTER COLUMN email SET NOT NULL,
        ALTER COLUMN name SET NOT NULL,
        ALTER COLUMN role SET NOT NULL,
        ADD CONSTRAINT invitations_role_check CHECK (role IN ('OWNER', 'ADMIN', 'MEMBER')),
        ADD CONSTRAINT invitations_pkey PRIMARY KEY (id),
        ADD CONSTRAINT invitations_account_id_email_key UNIQUE (account_id, email),
        ADD CONSTRAINT invitations_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts (id);
      CREATE INDEX invitations_expires_at_idx ON invitations (expires_at);
      -- Tokens that are in a mail alone are sealed until it is sent, and gone then.
      ALTER TABLE emails ADD COLUMN secret_sealed bytea;
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE emails DROP COLUMN secret_sealed;
      -- The version before keeps an e-mail for one account: the newest invitation of those that nobody logs in with.
      DELETE FROM invitations i WHERE EXISTS (
          SELECT FROM users u WHERE u.email = i.email
            AND (u.operator OR EXISTS (SELECT FROM members m WHERE m.user_id = u.id)))
        OR EXISTS (SELECT FROM invitations j WHERE j.email = i.email AND (j.created_at, j.id) > (i.created_at, i.id));
      INSERT INTO users (id, email, name, operator, created_at)
        SELECT id, email, name, false, created_at FROM invitations ON CONFLICT (email) DO NOTHING;
      UPDATE users u SET password_hash = NULL FROM invitations i WHERE i.email = u.email;
      ALTER TABLE invitations ADD COLUMN user_id uuid;
      UPDATE invitations i SET user_id = u.id FROM users u WHERE u.email = i.email;
      INSERT INTO members (account_id, user_id, role, created_at)
        SELECT account_id, user_id, role, created_at FROM invitations;
      DROP INDEX invitations_expires_at_idx;
      ALTER TABLE invitations
        DROP CONSTRAINT invitations_account_id_fkey,
        DROP CONSTRAINT invitations_account_id_email_key,
        DROP CONSTRAINT invitations_pkey,
        DROP COLUMN id, DROP COLUMN email, DROP COLUMN name, DROP COLUMN role,
        ALTER COLUMN user_id SET NOT NULL,
        ADD CONSTRAINT invitations_pkey PRIMARY KEY (account_id, user_id),
        ADD CONSTRAINT invitations_member_fkey FOREIGN KEY (account_id, user_id)
          REFERENCES members (account_id, user_id) ON DELETE CASCADE;
    `);
  }
}
