import type { MigrationInterface, QueryRunner } from 'typeorm';
import { appendOnly, AT_COMMIT, BY_KEY, fixed, hasLine, moves } from './baseline/promises.js';

const SETTINGS = `
  ALTER TABLE accounts
    -- CPF or CNPJ of the merchant; null: no live payout.
    ADD tax_id text,
    ADD payout_fee bigint NOT NULL DEFAULT 0 CONSTRAINT accounts_payout_fee_check CHECK (payout_fee >= 0),
    -- Null in the columns below: the default of the mode (src/payouts/payouts.rules.ts).
    ADD payouts_to text CONSTRAINT accounts_payouts_to_check CHECK (payouts_to IN ('own', 'anyone')),
    ADD payout_approval_above bigint CONSTRAINT accounts_payout_approval_above_check CHECK (payout_approval_above >= 0),
    ADD payout_new_destination_hours integer
      CONSTRAINT accounts_payout_new_destination_hours_check CHECK (payout_new_destination_hours BETWEEN 0 AND 720),
    ADD payout_max bigint CONSTRAINT accounts_payout_max_check CHECK (payout_max >= 0),
    ADD payout_daily_max bigint CONSTRAINT accounts_payout_daily_max_check CHECK (payout_daily_max >= 0),
    ADD payout_night_max bigint CONSTRAINT accounts_payout_night_max_check CHECK (payout_night_max >= 0),
    -- Null: no schedule.
    ADD payout_schedule jsonb,
    -- Occurrences of the schedule up to this time are over.
    ADD payout_schedule_after timestamptz;
`;

const TABLES = `
  -- Keys of target_hash and tax_id_hash. They stay the same when ENCRYPTION_KEY changes, and so do the hashes. A second
  -- one is made only when the first cannot be opened any more.
  CREATE TABLE payout_hash_keys (
    number smallint CONSTRAINT payout_hash_keys_pkey PRIMARY KEY,
    key_sealed bytea NOT NULL,
    created_at timestamptz NOT NULL
  );

  -- Receivers that a merchant has saved.
  CREATE TABLE payout_destinations (
    id uuid PRIMARY KEY,
    account_id uuid NOT NULL,
    mode text NOT NULL,
    type text NOT NULL CONSTRAINT payout_destinations_type_check CHECK (type IN ('pix_key', 'br_code', 'bank_account')),
    label text,
    -- The masked receiver, as answers show it.
    shown jsonb NOT NULL,
    -- Null: the receiver was erased.
    target_sealed bytea,
    -- Keyed hash of the receiver: equal receivers are found without opening them. Empty: the receiver was erased.
    target_hash bytea NOT NULL,
    -- Keyed hash of the receiver's tax id, by which a person's data are found; null if the tax id is not known.
    tax_id_hash bytea,
    -- The person who saved it, or who issued the API key; null if unknown.
    created_by uuid,
    approved_by uuid,
    approved_at timestamptz,
    created_at timestamptz NOT NULL,
    deleted_at timestamptz,
    CONSTRAINT payout_destinations_target_check CHECK (target_sealed IS NOT NULL OR deleted_at IS NOT NULL)
  );
  CREATE UNIQUE INDEX payout_destinations_target_key ON payout_destinations (account_id, mode, target_hash)
    WHERE deleted_at IS NULL;
  CREATE INDEX payout_destinations_list_idx ON payout_destinations (account_id, mode, id);
  CREATE INDEX payout_destinations_tax_id_idx ON payout_destinations (account_id, tax_id_hash)
    WHERE tax_id_hash IS NOT NULL;

  CREATE TABLE payouts (
    id uuid PRIMARY KEY,
    account_id uuid NOT NULL,
    mode text NOT NULL,
    acquirer text NOT NULL,
    amount bigint NOT NULL CONSTRAINT payouts_amount_check CHECK (amount > 0),
    -- The service's fee, set aside and paid together with the amount.
    fee bigint NOT NULL CONSTRAINT payouts_fee_check CHECK (fee >= 0),
    currency text NOT NULL,
    status text NOT NULL CONSTRAINT payouts_status_check
      CHECK (status IN ('AWAITING', 'QUEUED', 'SENDING', 'PAID', 'FAILED', 'CANCELLED', 'REFUNDED')),
    destination_id uuid CONSTRAINT payouts_destination_id_fkey REFERENCES payout_destinations (id),
    shown jsonb NOT NULL,
    -- These three as in payout_destinations.
    target_sealed bytea,
    target_hash bytea NOT NULL,
    tax_id_hash bytea,
    -- The receiver's tax id is the account's own, or of the same company.
    is_own boolean NOT NULL,
    description text,
    metadata jsonb NOT NULL DEFAULT '{}',
    -- The person who requested it, or who issued the API key; null if unknown, or by the schedule.
    requested_by uuid,
    -- The occurrence of the account's schedule that made it; null: a request did.
    occurrence timestamptz,
    needs_approval boolean NOT NULL,
    approved_by uuid,
    approved_at timestamptz,
    send_after timestamptz NOT NULL,
    -- When the PSP was first called; null before, and after a call that was turned away whole.
    sent_at timestamptz,
    -- Why a SENDING payout is not over: the PSP works on it or reviews it, its answer is unknown, or an operator decides.
    processing_reason text CONSTRAINT payouts_processing_reason_check
      CHECK (processing_reason IN ('sent', 'review', 'unknown', 'operator')),
    end_to_end_id text,
    provider_fee bigint NOT NULL DEFAULT 0 CONSTRAINT payouts_provider_fee_check CHECK (provider_fee >= 0),
    failure text,
    amount_returned bigint NOT NULL DEFAULT 0
      CONSTRAINT payouts_amount_returned_check CHECK (amount_returned BETWEEN 0 AND amount),
    paid_at timestamptz,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    CONSTRAINT payouts_paid_check CHECK (status NOT IN ('PAID', 'REFUNDED') OR paid_at IS NOT NULL),
    -- A payout keeps its receiver for as long as it may be sent.
    CONSTRAINT payouts_target_check
      CHECK (target_sealed IS NOT NULL OR status NOT IN ('AWAITING', 'QUEUED', 'SENDING'))
  );
  CREATE INDEX payouts_list_idx ON payouts (account_id, mode, id);
  CREATE INDEX payouts_destination_id_idx ON payouts (destination_id, id) WHERE destination_id IS NOT NULL;
  CREATE INDEX payouts_target_idx ON payouts (account_id, mode, target_hash, id);
  CREATE INDEX payouts_tax_id_idx ON payouts (account_id, tax_id_hash) WHERE tax_id_hash IS NOT NULL;
  CREATE INDEX payouts_waiting_idx ON payouts (account_id, mode) WHERE status IN ('AWAITING', 'QUEUED', 'SENDING');
  CREATE INDEX payouts_under_way_idx ON payouts (acquirer, sent_at) WHERE status = 'SENDING';
  CREATE INDEX payouts_sent_idx ON payouts (acquirer, sent_at) WHERE acquirer <> 'sandbox';
  CREATE INDEX payouts_end_to_end_id_idx ON payouts (end_to_end_id) WHERE end_to_end_id IS NOT NULL;
  -- An occurrence of a schedule makes one payout, whatever crashes.
  CREATE UNIQUE INDEX payouts_occurrence_key ON payouts (account_id, occurrence) WHERE occurrence IS NOT NULL;

  -- Parts of payouts that came back.
  CREATE TABLE payout_returns (
    payout_id uuid NOT NULL CONSTRAINT payout_returns_payout_id_fkey REFERENCES payouts (id),
    -- The PSP's id.
    return_id text NOT NULL,
    account_id uuid NOT NULL,
    mode text NOT NULL,
    amount bigint NOT NULL CONSTRAINT payout_returns_amount_check CHECK (amount > 0),
    end_to_end_id text,
    reason text,
    returned_at timestamptz NOT NULL,
    created_at timestamptz NOT NULL,
    CONSTRAINT payout_returns_pkey PRIMARY KEY (payout_id, return_id)
  );

  -- The sandbox bank's payouts. A row without requested_at is what a test wants to happen to a payout that comes later.
  CREATE TABLE sandbox_payouts (
    holder_id uuid NOT NULL,
    send_id text NOT NULL,
    amount bigint,
    end_to_end_id text,
    requested_at timestamptz,
    -- auto: paid after a second.
    state text NOT NULL DEFAULT 'auto' CONSTRAINT sandbox_payouts_state_check
      CHECK (state IN ('auto', 'paid', 'failed', 'unknown', 'review')),
    paid_at timestamptz,
    returns jsonb NOT NULL DEFAULT '[]',
    CONSTRAINT sandbox_payouts_pkey PRIMARY KEY (holder_id, send_id)
  );
`;

const RULES = `
  ${appendOnly('payout_returns')}
  ${fixed('payouts', [
    ...['id', 'account_id', 'mode', 'acquirer', 'amount', 'fee', 'currency', 'destination_id'],
    ...['requested_by', 'occurrence', 'needs_approval', 'created_at'],
  ])}
  ${moves('payouts', 'status', [
    ...['AWAITING>QUEUED', 'AWAITING>CANCELLED', 'QUEUED>CANCELLED', 'QUEUED>FAILED', 'QUEUED>SENDING'],
    ...['SENDING>QUEUED', 'SENDING>PAID', 'SENDING>FAILED', 'PAID>FAILED', 'PAID>REFUNDED'],
  ])}
  ${['payouts', 'payout_destinations']
    .map(
      (table) => `
  -- A receiver never becomes another one; an erased one has no hash.
  CREATE TRIGGER ${table}_target_kept BEFORE UPDATE OF target_hash ON ${table} FOR EACH ROW
    WHEN (OLD.target_hash <> NEW.target_hash AND (length(NEW.target_hash) > 0 OR NEW.target_sealed IS NOT NULL))
    EXECUTE FUNCTION refuse_rewrite();`,
    )
    .join('')}
  CREATE TRIGGER payouts_sent_once BEFORE UPDATE OF end_to_end_id ON payouts FOR EACH ROW
    WHEN (OLD.end_to_end_id IS NOT NULL AND OLD.end_to_end_id IS DISTINCT FROM NEW.end_to_end_id)
    EXECUTE FUNCTION refuse_rewrite();
  CREATE TRIGGER payouts_approved_by_two BEFORE INSERT OR UPDATE OF status, approved_by ON payouts FOR EACH ROW
    WHEN (NEW.needs_approval AND NEW.status NOT IN ('AWAITING', 'CANCELLED')
      AND (NEW.approved_by IS NULL OR NEW.approved_by = NEW.requested_by))
    EXECUTE FUNCTION refuse_rewrite();

  -- A payout is in the journal with its exact amounts from the same commit on.
  CREATE FUNCTION check_payout() RETURNS trigger LANGUAGE plpgsql ${BY_KEY} AS $$
  DECLARE
    was_paid boolean := NEW.paid_at IS NOT NULL;
    wanted text := CASE
      WHEN NEW.status IN ('PAID', 'REFUNDED') THEN 'payout.paid:'
      WHEN NEW.status IN ('FAILED', 'CANCELLED') THEN CASE WHEN was_paid THEN 'payout.reversed:' ELSE 'payout.released:' END
      ELSE 'payout.reserved:' END || NEW.id;
    returned bigint;
  BEGIN
    IF NOT ${hasLine(
      'wanted',
      `l.currency = NEW.currency AND (l.bucket, l.amount) = (
        CASE WHEN NEW.status IN ('PAID', 'REFUNDED') THEN 'clearing' ELSE 'available' END,
        CASE WHEN NEW.status IN ('PAID', 'REFUNDED') THEN NEW.amount
          WHEN NEW.status IN ('FAILED', 'CANCELLED') THEN NEW.amount + NEW.fee - NEW.amount_returned
          ELSE -(NEW.amount + NEW.fee) END)`,
    )} THEN
      RAISE EXCEPTION 'payout % is % without the journal entry %', NEW.id, NEW.status, wanted;
    END IF;
    SELECT coalesce(sum(r.amount), 0) INTO returned FROM payout_returns r WHERE r.payout_id = NEW.id;
    IF returned <> NEW.amount_returned OR (returned > 0 AND NOT was_paid)
      OR (NEW.status = 'REFUNDED') <> (returned = NEW.amount AND NEW.status <> 'FAILED') THEN
      RAISE EXCEPTION 'payout %: % came back, and it says % and %', NEW.id, returned, NEW.amount_returned, NEW.status;
    END IF;
    RETURN NULL;
  END $$;
  CREATE CONSTRAINT TRIGGER payouts_posted AFTER INSERT OR UPDATE OF status, amount_returned ON payouts
    ${AT_COMMIT} EXECUTE FUNCTION check_payout();

  CREATE FUNCTION check_payout_return() RETURNS trigger LANGUAGE plpgsql ${BY_KEY} AS $$
  DECLARE wanted text := 'payout.returned:' || NEW.payout_id || ':' || NEW.return_id;
  BEGIN
    IF NOT EXISTS (SELECT 1 FROM payouts p WHERE (p.id, p.account_id, p.mode) = (NEW.payout_id, NEW.account_id, NEW.mode))
      OR NOT ${hasLine('wanted', `l.bucket = 'available' AND l.amount = NEW.amount`)} THEN
      RAISE EXCEPTION 'a return of payout % is not in the journal as %', NEW.payout_id, wanted;
    END IF;
    RETURN NULL;
  END $$;
  CREATE CONSTRAINT TRIGGER payout_returns_posted AFTER INSERT ON payout_returns
    ${AT_COMMIT} EXECUTE FUNCTION check_payout_return();

  CREATE TRIGGER payouts_charged_once BEFORE UPDATE OF provider_fee ON payouts FOR EACH ROW
    WHEN (OLD.provider_fee <> NEW.provider_fee AND OLD.status = NEW.status) EXECUTE FUNCTION refuse_rewrite();
  CREATE CONSTRAINT TRIGGER payouts_charged AFTER INSERT OR UPDATE OF status, provider_fee ON payouts
    ${AT_COMMIT} WHEN (NEW.provider_fee > 0) EXECUTE FUNCTION check_provider_fee();

  -- Fees of sends are recorded per connection as those of payments are.
  ALTER TABLE acquirer_fees DROP CONSTRAINT acquirer_fees_operation_check;
  ALTER TABLE acquirer_fees ADD CONSTRAINT acquirer_fees_operation_check
    CHECK (operation IN ('PIX', 'devolution', 'payout'));

  -- Lists of sends are read as those of payments are.
  ALTER TABLE acquirer_statements DROP CONSTRAINT acquirer_statements_list_check;
  ALTER TABLE acquirer_statements ADD CONSTRAINT acquirer_statements_list_check
    CHECK (list IN ('payments', 'late_payments', 'returns', 'payouts', 'late_payouts'));
`;

/** Payouts: money that merchants send to a bank account. */
export class Payouts1700000020000 implements MigrationInterface {
  readonly name = 'Payouts1700000020000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query([SETTINGS, TABLES, RULES].join('\n'));
  }

  /** Drops payouts and their destinations. The journal keeps their entries. */
  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DELETE FROM work WHERE kind IN ('payout', 'payout_schedule');
      DROP TABLE sandbox_payouts, payout_returns, payouts, payout_destinations, payout_hash_keys;
      DROP FUNCTION check_payout(), check_payout_return();
      ALTER TABLE accounts DROP tax_id, DROP payout_fee, DROP payouts_to, DROP payout_approval_above,
        DROP payout_new_destination_hours, DROP payout_max, DROP payout_daily_max, DROP payout_night_max,
        DROP payout_schedule, DROP payout_schedule_after;
      ALTER TABLE acquirer_fees DROP CONSTRAINT acquirer_fees_operation_check;
      ALTER TABLE acquirer_fees ADD CONSTRAINT acquirer_fees_operation_check
        CHECK (operation IN ('PIX', 'devolution'));
      DELETE FROM acquirer_statements WHERE list IN ('payouts', 'late_payouts');
      ALTER TABLE acquirer_statements DROP CONSTRAINT acquirer_statements_list_check;
      ALTER TABLE acquirer_statements ADD CONSTRAINT acquirer_statements_list_check
        CHECK (list IN ('payments', 'late_payments', 'returns'));
    `);
  }
}
