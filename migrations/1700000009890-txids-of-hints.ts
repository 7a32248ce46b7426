import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The txid of the charge that a Pix is said to pay: the charge's expiry waits for the acquirer's answer about the Pix. */
export class TxidsOfHints1700000009890 implements MigrationInterface {
  readonly name = 'TxidsOfHints1700000009890';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE acquirer_notifications ADD COLUMN txid text;
      CREATE INDEX acquirer_notifications_txid_idx ON acquirer_notifications (acquirer, txid)
        WHERE status = 'pending' AND txid IS NOT NULL;
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE acquirer_notifications DROP COLUMN txid');
  }
}
