import type { MigrationInterface, QueryRunner } from 'typeorm';

export class AcquirerConnections1700000006000 implements MigrationInterface {
  readonly name = 'AcquirerConnections1700000006000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      -- The acquirer of new live charges, by its name; null: a live key cannot charge.
      ALTER TABLE accounts ADD COLUMN live_acquirer text;

      -- An account's live Pix at a PSP. Its acquirer is named pix-api:<id> for ever, so rows are never removed.
      CREATE TABLE acquirer_connections (
        id uuid PRIMARY KEY,
        account_id uuid NOT NULL CONSTRAINT acquirer_connections_account_id_fkey REFERENCES accounts (id),
        profile text NOT NULL,
        pix_key text NOT NULL,
        -- Instead of the profile's.
        base_url text,
        token_url text,
        -- Client id and secret, certificate with its key, values of the profile's variables.
        credentials_sealed bytea NOT NULL,
        -- SHA-256 of the client certificate, and its end; null where the profile asks for none.
        certificate_fingerprint text,
        certificate_expires_at timestamptz,
        -- The last warning about this certificate, by how many days before its end it was due; null: none yet.
        certificate_warned_days integer,
        version integer NOT NULL CONSTRAINT acquirer_connections_version_check CHECK (version > 0),
        webhook_registered_at timestamptz,
        created_at timestamptz NOT NULL,
        updated_at timestamptz NOT NULL,
        CONSTRAINT acquirer_connections_pix_key_key UNIQUE (profile, pix_key),
        CONSTRAINT acquirer_connections_certificate_check
          CHECK ((certificate_fingerprint IS NULL) = (certificate_expires_at IS NULL))
      );
      CREATE INDEX acquirer_connections_account_id_idx ON acquirer_connections (account_id);
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP TABLE acquirer_connections;
      ALTER TABLE accounts DROP COLUMN live_acquirer;
    `);
  }
}
