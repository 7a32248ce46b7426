import type { MigrationInterface, QueryRunner } from 'typeorm';

export class MedPayersAndWaiting1700000005700 implements MigrationInterface {
  readonly name = 'MedPayersAndWaiting1700000005700';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      -- Who opened a dispute was kept in clear. Only the service has the key to seal it, and nothing is in production:
      -- what there is of it is removed, here and from where it was copied to.
      ALTER TABLE med_cases DROP COLUMN payer_name, DROP COLUMN payer_document, ADD COLUMN payer_sealed bytea;
      UPDATE transactions SET med = med - 'payerName' - 'payerDocument' WHERE med IS NOT NULL;
      UPDATE events SET data = data #- '{transaction,med,payerName}' #- '{transaction,med,payerDocument}'
        WHERE data -> 'transaction' -> 'med' ?| ARRAY['payerName', 'payerDocument'];

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
      UPDATE transactions SET med = med - 'payerSealed' WHERE med IS NOT NULL;
      UPDATE events SET data = data #- '{transaction,med,payerSealed}' WHERE data -> 'transaction' -> 'med' ? 'payerSealed';
      ALTER TABLE med_cases DROP COLUMN payer_sealed, ADD COLUMN payer_name text, ADD COLUMN payer_document text;
    `);
  }
}
