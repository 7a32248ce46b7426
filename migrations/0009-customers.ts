import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The index by which the sales of a customer are found, newest payment first. */
export class Customers1700000090000 implements MigrationInterface {
  readonly name = 'Customers1700000090000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE INDEX transactions_customer_idx ON transactions (account_id, mode,
        coalesce(customer_document, expected_payer_tax_id, lower(customer_email)), paid_at, id)
        WHERE paid_at IS NOT NULL
          AND coalesce(customer_document, expected_payer_tax_id, lower(customer_email)) IS NOT NULL;
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP INDEX transactions_customer_idx');
  }
}
