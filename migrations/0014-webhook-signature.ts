import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Endpoints that get the headers of Standard Webhooks beside ours. */
export class WebhookSignature1700000140000 implements MigrationInterface {
  readonly name = 'WebhookSignature1700000140000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE webhook_endpoints ADD signature text NOT NULL DEFAULT 'default'`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE webhook_endpoints DROP signature');
  }
}
