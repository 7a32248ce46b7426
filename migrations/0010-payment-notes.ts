import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Notes of a merchant's people about a payment. */
export class PaymentNotes1700000100000 implements MigrationInterface {
  readonly name = 'PaymentNotes1700000100000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE payment_notes (
        id uuid CONSTRAINT payment_notes_pkey PRIMARY KEY,
        account_id uuid NOT NULL,
        mode text NOT NULL,
        transaction_id uuid NOT NULL
          CONSTRAINT payment_notes_transaction_id_fkey REFERENCES transactions (id),
        author_id uuid NOT NULL,
        -- Null: erased with the customer.
        text text,
        created_at timestamptz NOT NULL
      );
      CREATE INDEX payment_notes_transaction_id_idx ON payment_notes (transaction_id, id);
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE payment_notes');
  }
}
