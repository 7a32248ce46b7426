import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A text that each key of ENCRYPTION_KEY has sealed: a start knows by it whether it has the keys of what is stored. */
export class EncryptionKeys1700000009960 implements MigrationInterface {
  readonly name = 'EncryptionKeys1700000009960';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE encryption_keys (
        key_id text CONSTRAINT encryption_keys_pkey PRIMARY KEY,
        canary bytea,
        created_at timestamptz NOT NULL DEFAULT now(),
        lost_at timestamptz,
        CONSTRAINT encryption_keys_canary_check CHECK (canary IS NOT NULL OR lost_at IS NOT NULL)
      )
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE encryption_keys');
  }
}
