import type { MigrationInterface, QueryRunner } from 'typeorm';

export class UnreadableNews1700000007130 implements MigrationInterface {
  readonly name = 'UnreadableNews1700000007130';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      -- The acquirer has what this is about, and nobody understands what it says of it: operators see it.
      ALTER TABLE acquirer_notifications ADD COLUMN unreadable_since timestamptz;
      CREATE INDEX acquirer_notifications_unreadable_idx ON acquirer_notifications (id)
        WHERE unreadable_since IS NOT NULL;
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE acquirer_notifications DROP COLUMN unreadable_since');
  }
}
