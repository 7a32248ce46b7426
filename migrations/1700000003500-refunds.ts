import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Refunds1700000003500 implements MigrationInterface {
  readonly name = 'Refunds1700000003500';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      -- What a Pix-out costs the account when it takes the fee of a refund (passFeeToTenant).
      ALTER TABLE accounts ADD COLUMN pix_out_fee bigint NOT NULL DEFAULT 0
        CONSTRAINT accounts_pix_out_fee_check CHECK (pix_out_fee >= 0);

      -- Null for the keys in the body of payments and refunds, which are never forgotten.
      ALTER TABLE idempotency_keys ALTER COLUMN expires_at DROP NOT NULL;

      -- The sum of the transaction's refunds that have not failed: more than was paid cannot be written.
      ALTER TABLE transactions ADD COLUMN refunds_amount bigint NOT NULL DEFAULT 0
        CONSTRAINT transactions_refunds_amount_check CHECK (refunds_amount BETWEEN 0 AND amount);

      -- Money that merchants send back. Its name at the acquirer is (payment_reference, an id made of id): the same at
      -- every attempt.
      CREATE TABLE refunds (
        id uuid PRIMARY KEY,
        account_id uuid NOT NULL,
        mode text NOT NULL,
        transaction_id uuid NOT NULL CONSTRAINT refunds_transaction_id_fkey REFERENCES transactions (id),
        acquirer text NOT NULL,
        payment_reference text NOT NULL,
        way text NOT NULL CONSTRAINT refunds_way_check CHECK (way IN ('cashout', 'devolution', 'card')),
        amount bigint NOT NULL CONSTRAINT refunds_amount_check CHECK (amount > 0),
        -- The Pix-out fee that the merchant bears; reserved with the amount.
        fee bigint NOT NULL CONSTRAINT refunds_fee_check CHECK (fee >= 0),
        currency text NOT NULL,
        reason text,
        -- The Pix key of a cashout that names one; null: the payer's document.
        destination_sealed bytea,
        status text NOT NULL
          CONSTRAINT refunds_status_check CHECK (status IN ('PENDING', 'IN_PROGRESS', 'REFUNDED', 'FAILED')),
        attempts integer NOT NULL DEFAULT 0,
        next_attempt_at timestamptz,
        bank_reference text,
        failure_reason text,
        created_at timestamptz NOT NULL,
        updated_at timestamptz NOT NULL
      );
      CREATE INDEX refunds_transaction_id_idx ON refunds (transaction_id, id);
      CREATE INDEX refunds_due_idx ON refunds (next_attempt_at) WHERE status IN ('PENDING', 'IN_PROGRESS');

      -- The sandbox bank's side of it.
      ALTER TABLE sandbox_returns
        ADD COLUMN way text NOT NULL DEFAULT 'devolution',
        ADD COLUMN destination_sealed bytea,
        ADD COLUMN bank_reference text,
        ADD COLUMN fails boolean NOT NULL DEFAULT false;
      CREATE TABLE sandbox_refund_failures (
        txid text PRIMARY KEY,
        asked_at timestamptz NOT NULL
      );
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP TABLE sandbox_refund_failures, refunds;
      ALTER TABLE sandbox_returns DROP COLUMN way, DROP COLUMN destination_sealed, DROP COLUMN bank_reference,
        DROP COLUMN fails;
      ALTER TABLE transactions DROP COLUMN refunds_amount;
      DELETE FROM idempotency_keys WHERE expires_at IS NULL;
      ALTER TABLE idempotency_keys ALTER COLUMN expires_at SET NOT NULL;
      ALTER TABLE accounts DROP COLUMN pix_out_fee;
    `);
  }
}
