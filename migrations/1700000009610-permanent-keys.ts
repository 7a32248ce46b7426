import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Permanent keys whose stored answers are to be forgotten after a day. */
export class PermanentKeys1700000009610 implements MigrationInterface {
  readonly name = 'PermanentKeys1700000009610';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE INDEX idempotency_keys_answered_idx ON idempotency_keys (leased_until)
      WHERE expires_at IS NULL AND response_body IS NOT NULL`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP INDEX idempotency_keys_answered_idx');
  }
}
