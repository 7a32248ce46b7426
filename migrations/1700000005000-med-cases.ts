import type { MigrationInterface, QueryRunner } from 'typeorm';

export class MedCases1700000005000 implements MigrationInterface {
  readonly name = 'MedCases1700000005000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      -- False: the account is not told by webhook how its cases end.
      ALTER TABLE accounts ADD COLUMN med_outcome_notifications boolean NOT NULL DEFAULT true;

      ALTER TABLE transactions
        -- metadata.med: what the payer's bank last said.
        ADD COLUMN med jsonb,
        -- What cases hold of it or have lost. Together with the refunds never more than was paid.
        ADD COLUMN disputed_amount bigint NOT NULL DEFAULT 0,
        ADD CONSTRAINT transactions_disputed_amount_check
          CHECK (disputed_amount >= 0 AND refunds_amount + disputed_amount <= amount);

      -- How often it was told: what was told again while it was being applied is asked for once more.
      ALTER TABLE acquirer_notifications ADD COLUMN hints integer NOT NULL DEFAULT 1;

      CREATE TABLE med_cases (
        id uuid PRIMARY KEY,
        account_id uuid NOT NULL,
        mode text NOT NULL CONSTRAINT med_cases_mode_check CHECK (mode IN ('test', 'live')),
        transaction_id uuid NOT NULL CONSTRAINT med_cases_transaction_id_fkey REFERENCES transactions (id),
        acquirer text NOT NULL,
        -- The bank's own id of the dispute.
        reference text NOT NULL,
        -- Of the settlement that is disputed: one that was sent back has no claim on what another has credited.
        payment_reference text NOT NULL,
        type text NOT NULL CONSTRAINT med_cases_type_check CHECK (type IN ('med', 'chargeback', 'dispute', 'fraud')),
        status text NOT NULL
          CONSTRAINT med_cases_status_check CHECK (status IN ('open', 'appealed', 'accepted', 'rejected', 'closed')),
        money_outcome text CONSTRAINT med_cases_money_outcome_check
          CHECK (money_outcome IN ('refunded_to_merchant', 'closed_without_refund', 'lost')),
        -- Whether the merchant sees it: not before an operator has approved one that does not fit its charge.
        visible boolean NOT NULL,
        -- Why an operator has to look at it; null: nobody has to.
        review text CONSTRAINT med_cases_review_check
          CHECK (review IN ('amount_mismatch', 'not_disputable', 'ruling', 'contradiction')),
        reviewed_at timestamptz,
        reviewed_by uuid,
        -- What is disputed: as reported, or as an operator set it right.
        amount bigint NOT NULL CONSTRAINT med_cases_amount_check CHECK (amount > 0),
        reported_amount bigint NOT NULL CONSTRAINT med_cases_reported_amount_check CHECK (reported_amount > 0),
        -- What of it is retained now, and what is gone for good.
        held_amount bigint NOT NULL DEFAULT 0,
        lost_amount bigint NOT NULL DEFAULT 0,
        currency text NOT NULL,
        reason text,
        response_deadline timestamptz,
        -- When its approach is told next; null when it is not any more.
        deadline_due_at timestamptz,
        evidence_requested_at timestamptz,
        appeal_reason text,
        appealed_at timestamptz,
        -- Evidence whose upload was confirmed.
        evidence_count integer NOT NULL DEFAULT 0 CONSTRAINT med_cases_evidence_count_check CHECK (evidence_count >= 0),
        opened_at timestamptz NOT NULL,
        closed_at timestamptz,
        -- The bank's side of it.
        bank_status text NOT NULL
          CONSTRAINT med_cases_bank_status_check CHECK (bank_status IN ('created', 'delivered', 'closed', 'canceled')),
        bank_result text CONSTRAINT med_cases_bank_result_check CHECK (bank_result IN ('agreed', 'disagreed')),
        method text,
        payer_name text,
        payer_document text,
        bank_updated_at timestamptz NOT NULL,
        bank_closed_at timestamptz,
        -- When the latest of it was applied.
        applied_at timestamptz NOT NULL,
        -- When the merchant could first see it; of one under review when it came.
        created_at timestamptz NOT NULL,
        updated_at timestamptz NOT NULL,
        CONSTRAINT med_cases_reference_key UNIQUE (acquirer, reference),
        CONSTRAINT med_cases_money_check
          CHECK (held_amount >= 0 AND lost_amount >= 0 AND held_amount + lost_amount <= amount),
        CONSTRAINT med_cases_end_check CHECK (status IN ('open', 'appealed') OR held_amount = 0)
      );
      CREATE INDEX med_cases_list_idx ON med_cases (account_id, mode, created_at, id) WHERE visible;
      CREATE INDEX med_cases_status_idx ON med_cases (account_id, mode, status, created_at, id) WHERE visible;
      CREATE INDEX med_cases_type_idx ON med_cases (account_id, mode, type, created_at, id) WHERE visible;
      CREATE INDEX med_cases_type_status_idx ON med_cases (account_id, mode, type, status, created_at, id) WHERE visible;
      CREATE INDEX med_cases_transaction_id_idx ON med_cases (transaction_id);
      CREATE INDEX med_cases_review_idx ON med_cases (id) WHERE review IS NOT NULL;
      CREATE INDEX med_cases_deadline_idx ON med_cases (deadline_due_at) WHERE deadline_due_at IS NOT NULL;

      -- The sandbox bank's side of it. Disputes of cards were events of their orders before.
      CREATE TABLE sandbox_disputes (
        reference text PRIMARY KEY,
        txid text NOT NULL,
        holder_id uuid NOT NULL,
        end_to_end_id text NOT NULL,
        type text NOT NULL,
        amount bigint NOT NULL CONSTRAINT sandbox_disputes_amount_check CHECK (amount > 0),
        status text NOT NULL,
        result text,
        method text,
        reason text,
        response_deadline timestamptz,
        opened_at timestamptz NOT NULL,
        updated_at timestamptz NOT NULL,
        closed_at timestamptz,
        CONSTRAINT sandbox_disputes_end_to_end_id_fkey FOREIGN KEY (holder_id, end_to_end_id)
          REFERENCES sandbox_pix (holder_id, end_to_end_id)
      );
      CREATE INDEX sandbox_disputes_txid_idx ON sandbox_disputes (txid);
      CREATE INDEX sandbox_disputes_end_to_end_id_idx ON sandbox_disputes (holder_id, end_to_end_id);
      DELETE FROM sandbox_order_events WHERE kind IN ('chargeback', 'dispute');
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP TABLE sandbox_disputes, med_cases;
      ALTER TABLE acquirer_notifications DROP COLUMN hints;
      ALTER TABLE transactions DROP COLUMN med, DROP COLUMN disputed_amount;
      ALTER TABLE accounts DROP COLUMN med_outcome_notifications;
    `);
  }
}
