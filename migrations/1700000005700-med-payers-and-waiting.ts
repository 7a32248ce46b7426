import type { MigrationInterface, QueryRunner } from 'typeorm';

export class MedPayersAndWaiting1700000005700 implements MigrationInterface {
  readonly name = 'MedPayersAndWaiting1700000005700';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE acquirer_notifications
        -- Of a dispute: the reference or txid of the payment that has to be settled here first.
        ADD COLUMN awaits text,
        -- What operators are shown of it meanwhile.
        ADD COLUMN about jsonb;
      CREATE INDEX acquirer_notifications_awaits_idx ON acquirer_notifications (acquirer, awaits)
        WHERE awaits IS NOT NULL;
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE acquirer_notifications DROP COLUMN awaits, DROP COLUMN about;
    `);
  }
}
