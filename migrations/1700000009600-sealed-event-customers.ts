import type { MigrationInterface, QueryRunner } from 'typeorm';

/** By these names `data.transaction` tells of the customer. */
const FIELDS = ['customerName', 'customerDocument', 'customerEmail', 'customerPhone', 'expectedPayerTaxId', 'metadata'];
const NAMES = `'{${FIELDS.join()}}'::text[]`;

/** What an event tells of its customer gets a column that is sealed; `recebe secrets reseal` seals what is there. */
export class SealedEventCustomers1700000009600 implements MigrationInterface {
  readonly name = 'SealedEventCustomers1700000009600';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE events ADD COLUMN customer_sealed text;
      UPDATE events SET
        customer_sealed = (SELECT jsonb_object_agg(f.key, f.value) FROM jsonb_each(data -> 'transaction') f
                           WHERE f.key = ANY (${NAMES}))::text,
        data = jsonb_set(data, '{transaction}', (data -> 'transaction') - ${NAMES})
      WHERE jsonb_typeof(data -> 'transaction') = 'object'`);
  }

  /** Fails where something is sealed already: the version before could not read it. */
  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      UPDATE events SET data = jsonb_set(data, '{transaction}', (data -> 'transaction') || customer_sealed::jsonb)
      WHERE customer_sealed IS NOT NULL;
      ALTER TABLE events DROP COLUMN customer_sealed`);
  }
}
