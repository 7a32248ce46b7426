import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Who issued a key, when it was last used, when and from where it works; accounts that are suspended. */
export class KeysAndSuspension1700000009500 implements MigrationInterface {
  readonly name = 'KeysAndSuspension1700000009500';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE api_keys ADD COLUMN issued_by uuid, ADD COLUMN expires_at timestamptz,
        ADD COLUMN allowed_ips text[] NOT NULL DEFAULT '{}', ADD COLUMN last_used_at timestamptz;
      ALTER TABLE accounts ADD COLUMN suspended boolean NOT NULL DEFAULT false;
      -- What a program does with its key: the event has the key's fingerprint.
      ALTER TABLE audit_events DROP CONSTRAINT audit_events_actor_type_check,
        ADD CONSTRAINT audit_events_actor_type_check
          CHECK (actor_type IN ('member', 'operator', 'api_key', 'cli', 'system', 'anonymous'));
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      -- Without the columns such a key would work for ever, and from everywhere.
      UPDATE api_keys SET revoked_at = now() WHERE revoked_at IS NULL AND (expires_at IS NOT NULL OR allowed_ips <> '{}'
        OR account_id IN (SELECT id FROM accounts WHERE suspended));
      ALTER TABLE api_keys DROP COLUMN issued_by, DROP COLUMN expires_at, DROP COLUMN allowed_ips,
        DROP COLUMN last_used_at;
      ALTER TABLE accounts DROP COLUMN suspended;
      ALTER TABLE audit_events DROP CONSTRAINT audit_events_actor_type_check,
        -- NOT VALID: events that programs caused stay.
        ADD CONSTRAINT audit_events_actor_type_check
          CHECK (actor_type IN ('member', 'operator', 'cli', 'system', 'anonymous')) NOT VALID;
    `);
  }
}
