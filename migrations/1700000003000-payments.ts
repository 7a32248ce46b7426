import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Payments1700000003000 implements MigrationInterface {
  readonly name = 'Payments1700000003000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE transactions
        ADD COLUMN IF NOT EXISTS webhook_url text,
        -- The merchant's own id of its user.
        ADD COLUMN customer_ref text,
        -- What the payer needs for each method but Pix, by method, as the acquirer made it.
        ADD COLUMN artefacts jsonb,
        -- When the acquirer has to be called about it (again): to issue what waits, to take back what was cancelled.
        ADD COLUMN acquirer_due_at timestamptz;
      CREATE INDEX transactions_acquirer_due_idx ON transactions (acquirer_due_at) WHERE acquirer_due_at IS NOT NULL;

      -- A card in flight expires too.
      DROP INDEX transactions_open_idx;
      CREATE INDEX transactions_open_idx ON transactions (expires_at)
        WHERE status IN ('PENDING', 'WAITING_PAYMENT', 'PROCESSING');

      -- Lists of one status.
      CREATE INDEX transactions_status_idx ON transactions (account_id, mode, status, id);

      -- end_to_end_id: of a Pix; of another method what the acquirer knows the payment by.
      ALTER TABLE settlements ADD COLUMN method text NOT NULL DEFAULT 'PIX';
      ALTER TABLE pix_returns
        ADD COLUMN way text NOT NULL DEFAULT 'devolution',
        ADD COLUMN currency text NOT NULL DEFAULT 'BRL';

      -- The sandbox bank's side of it: payments of every method, and what happens to orders.
      ALTER TABLE sandbox_pix ADD COLUMN method text NOT NULL DEFAULT 'PIX';
      CREATE INDEX sandbox_pix_txid_idx ON sandbox_pix (txid);
      ALTER TABLE sandbox_charges DROP CONSTRAINT sandbox_charges_status_check,
        ADD CONSTRAINT sandbox_charges_status_check CHECK (status IN ('EXPIRED', 'REFUSED', 'REMOVED'));
      CREATE TABLE sandbox_order_events (
        txid text NOT NULL,
        kind text NOT NULL,
        happened_at timestamptz NOT NULL,
        CONSTRAINT sandbox_order_events_pkey PRIMARY KEY (txid, kind)
      );
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    // webhook_url stays: where an earlier migration made the column, it is that one's to drop.
    await queryRunner.query(`
      DROP TABLE sandbox_order_events;
      DELETE FROM sandbox_charges WHERE status = 'REMOVED';
      ALTER TABLE sandbox_charges DROP CONSTRAINT sandbox_charges_status_check,
        ADD CONSTRAINT sandbox_charges_status_check CHECK (status IN ('EXPIRED', 'REFUSED'));
      DROP INDEX sandbox_pix_txid_idx;
      ALTER TABLE sandbox_pix DROP COLUMN method;
      ALTER TABLE pix_returns DROP COLUMN way, DROP COLUMN currency;
      ALTER TABLE settlements DROP COLUMN method;
      DROP INDEX transactions_status_idx;
      DROP INDEX transactions_open_idx;
      CREATE INDEX transactions_open_idx ON transactions (expires_at) WHERE status IN ('PENDING', 'WAITING_PAYMENT');
      ALTER TABLE transactions DROP COLUMN customer_ref, DROP COLUMN artefacts, DROP COLUMN acquirer_due_at;
    `);
  }
}
