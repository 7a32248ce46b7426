import type { MigrationInterface, QueryRunner } from 'typeorm';
import { appendOnly, fixed } from './baseline/promises.js';

const TABLES = `
  CREATE TABLE payment_links (
    id uuid PRIMARY KEY,
    account_id uuid NOT NULL,
    mode text NOT NULL,
    -- The end of the link's public address.
    short_id text NOT NULL CONSTRAINT payment_links_short_id_key UNIQUE,
    name text NOT NULL,
    description text,
    picture_type text,
    picture bytea,
    -- Null: the payer chooses, within the two bounds.
    amount bigint CONSTRAINT payment_links_amount_check CHECK (amount > 0),
    amount_min bigint CONSTRAINT payment_links_amount_min_check CHECK (amount_min > 0),
    amount_max bigint CONSTRAINT payment_links_amount_max_check CHECK (amount_max > 0),
    -- Null: any number.
    max_payments integer CONSTRAINT payment_links_max_payments_check CHECK (max_payments > 0),
    expires_at timestamptz,
    ask text[] NOT NULL,
    question text,
    return_url text,
    metadata json NOT NULL,
    -- Payments that were credited. Refunds and disputes do not lower these two.
    paid_count integer NOT NULL DEFAULT 0 CONSTRAINT payment_links_paid_count_check CHECK (paid_count >= 0),
    paid_amount bigint NOT NULL DEFAULT 0 CONSTRAINT payment_links_paid_amount_check CHECK (paid_amount >= 0),
    -- When the merchant ended it; null: not yet.
    ended_at timestamptz,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    CONSTRAINT payment_links_chosen_check CHECK (amount IS NULL OR (amount_min IS NULL AND amount_max IS NULL)),
    CONSTRAINT payment_links_bounds_check CHECK (amount_min <= amount_max),
    CONSTRAINT payment_links_picture_check CHECK ((picture IS NULL) = (picture_type IS NULL)),
    CONSTRAINT payment_links_full_check CHECK (paid_count <= max_payments)
  );
  CREATE INDEX payment_links_list_idx ON payment_links (account_id, mode, id);

  -- The charges of links.
  CREATE TABLE payment_link_charges (
    transaction_id uuid CONSTRAINT payment_link_charges_pkey PRIMARY KEY
      CONSTRAINT payment_link_charges_transaction_id_fkey REFERENCES transactions (id),
    link_id uuid NOT NULL CONSTRAINT payment_link_charges_link_id_fkey REFERENCES payment_links (id),
    account_id uuid NOT NULL,
    mode text NOT NULL
  );
  CREATE INDEX payment_link_charges_link_id_idx ON payment_link_charges (link_id, transaction_id);
`;

const RULES = `
  ${appendOnly('payment_link_charges')}
  ${fixed('payment_links', ['id', 'account_id', 'mode', 'short_id', 'created_at'])}
  CREATE TRIGGER payment_links_counted BEFORE UPDATE OF paid_count, paid_amount ON payment_links FOR EACH ROW
    WHEN (NEW.paid_count < OLD.paid_count OR NEW.paid_amount < OLD.paid_amount) EXECUTE FUNCTION refuse_rewrite();
  CREATE TRIGGER payment_links_ended BEFORE UPDATE OF ended_at ON payment_links FOR EACH ROW
    WHEN (OLD.ended_at IS NOT NULL AND OLD.ended_at IS DISTINCT FROM NEW.ended_at) EXECUTE FUNCTION refuse_rewrite();
`;

/** Payment links: pages on which payers make charges of a merchant. */
export class PaymentLinks1700000040000 implements MigrationInterface {
  readonly name = 'PaymentLinks1700000040000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query([TABLES, RULES].join('\n'));
  }

  /** Drops the links. Charges of links stay. */
  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DELETE FROM work WHERE kind = 'payment_link';
      DROP TABLE payment_link_charges, payment_links;
    `);
  }
}
