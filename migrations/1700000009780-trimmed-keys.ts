import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Idempotency keys in bodies count without the blanks around them. An answer is sealed with its key and is made again.
 * Nothing is to be undone: what has the key with blanks is found by the key without.
 */
export class TrimmedKeys1700000009780 implements MigrationInterface {
  readonly name = 'TrimmedKeys1700000009780';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      WITH written AS (
        SELECT DISTINCT ON (account_id, mode, operation, btrim(key)) account_id, mode, operation, key FROM idempotency_keys
        WHERE expires_at IS NULL AND key <> btrim(key) AND btrim(key) <> ''
        ORDER BY account_id, mode, operation, btrim(key), leased_until)
      UPDATE idempotency_keys k SET key = btrim(k.key), response_body = NULL FROM written w
      WHERE (k.account_id, k.mode, k.operation, k.key) = (w.account_id, w.mode, w.operation, w.key) AND NOT EXISTS (
        SELECT 1 FROM idempotency_keys o
        WHERE (o.account_id, o.mode, o.operation, o.key) = (k.account_id, k.mode, k.operation, btrim(k.key)))`);
  }

  async down(): Promise<void> {}
}
