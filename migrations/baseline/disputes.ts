/** Disputes of sales (MED, chargebacks) and their evidence. */
export const DISPUTES = `
  CREATE TABLE med_cases (
    id uuid PRIMARY KEY,
    account_id uuid NOT NULL,
    mode text NOT NULL CONSTRAINT med_cases_mode_check CHECK (mode IN ('test', 'live')),
    transaction_id uuid NOT NULL CONSTRAINT med_cases_transaction_id_fkey REFERENCES transactions (id),
    acquirer text NOT NULL,
    -- The bank's own id of the dispute.
    reference text NOT NULL,
    -- The disputed settlement. A dispute of one that was sent back has no claim on the money that another has credited.
    payment_reference text NOT NULL,
    type text NOT NULL CONSTRAINT med_cases_type_check CHECK (type IN ('med', 'chargeback', 'dispute', 'fraud')),
    method text,
    payer_sealed bytea,

    status text NOT NULL CONSTRAINT med_cases_status_check
      CHECK (status IN ('open', 'appealed', 'accepted', 'rejected', 'closed')),
    -- Whether the merchant sees the case. An operator has to approve a case that does not fit its charge.
    visible boolean NOT NULL,
    -- Why an operator has to look at the case; null: nobody has to. A dismissed ruling stays in the queue.
    review text CONSTRAINT med_cases_review_check
      CHECK (review IN ('amount_mismatch', 'not_disputable', 'ruling', 'ruling_dismissed', 'contradiction')),
    reviewed_at timestamptz,
    reviewed_by uuid,

    -- The disputed amount, as reported or as an operator corrected it.
    amount bigint NOT NULL CONSTRAINT med_cases_amount_check CHECK (amount > 0),
    reported_amount bigint NOT NULL CONSTRAINT med_cases_reported_amount_check CHECK (reported_amount > 0),
    -- The part that is retained now, and the part that is lost for good.
    held_amount bigint NOT NULL DEFAULT 0,
    lost_amount bigint NOT NULL DEFAULT 0,
    currency text NOT NULL,
    money_outcome text CONSTRAINT med_cases_money_outcome_check
      CHECK (money_outcome IN ('refunded_to_merchant', 'closed_without_refund', 'lost')),

    reason text,
    response_deadline timestamptz,
    -- When the merchant is next warned of the deadline; null: no warning is left.
    deadline_due_at timestamptz,
    evidence_requested_at timestamptz,
    -- Evidence whose upload was confirmed.
    evidence_count integer NOT NULL DEFAULT 0 CONSTRAINT med_cases_evidence_count_check CHECK (evidence_count >= 0),
    appeal_reason text,
    appealed_at timestamptz,

    -- The bank's view of the case.
    bank_status text NOT NULL CONSTRAINT med_cases_bank_status_check
      CHECK (bank_status IN ('created', 'delivered', 'closed', 'canceled')),
    bank_result text CONSTRAINT med_cases_bank_result_check CHECK (bank_result IN ('agreed', 'disagreed')),
    bank_updated_at timestamptz NOT NULL,
    bank_closed_at timestamptz,
    -- When the latest report of the bank was applied.
    applied_at timestamptz NOT NULL,

    opened_at timestamptz NOT NULL,
    closed_at timestamptz,
    -- When the merchant could first see the case; for a case under review, when it came.
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    CONSTRAINT med_cases_reference_key UNIQUE (acquirer, reference),
    CONSTRAINT med_cases_money_check
      CHECK (held_amount >= 0 AND lost_amount >= 0 AND held_amount + lost_amount <= amount),
    CONSTRAINT med_cases_held_check CHECK (held_amount = 0
      OR (held_amount BETWEEN 1 AND amount AND visible AND status IN ('open', 'appealed'))),
    CONSTRAINT med_cases_lost_check CHECK (lost_amount = 0
      OR (lost_amount BETWEEN 1 AND amount AND visible AND status NOT IN ('open', 'appealed'))),
    CONSTRAINT med_cases_end_check CHECK (status IN ('open', 'appealed') OR held_amount = 0)
  );
  CREATE INDEX med_cases_list_idx ON med_cases (account_id, mode, created_at, id) WHERE visible;
  CREATE INDEX med_cases_status_idx ON med_cases (account_id, mode, status, created_at, id) WHERE visible;
  CREATE INDEX med_cases_type_idx ON med_cases (account_id, mode, type, created_at, id) WHERE visible;
  CREATE INDEX med_cases_type_status_idx ON med_cases (account_id, mode, type, status, created_at, id) WHERE visible;
  -- Open disputes in the order of their deadlines.
  CREATE INDEX med_cases_open_idx ON med_cases (account_id, mode, coalesce(response_deadline, 'infinity'), id)
    WHERE visible AND status = 'open';
  CREATE INDEX med_cases_transaction_id_idx ON med_cases (transaction_id);
  CREATE INDEX med_cases_review_idx ON med_cases (id) WHERE review IS NOT NULL;
  CREATE INDEX med_cases_deadline_idx ON med_cases (deadline_due_at) WHERE deadline_due_at IS NOT NULL;

  -- Files of cases. The files themselves are in the object storage, with the id as their key.
  CREATE TABLE med_evidence (
    id uuid PRIMARY KEY,
    account_id uuid NOT NULL,
    mode text NOT NULL CONSTRAINT med_evidence_mode_check CHECK (mode IN ('test', 'live')),
    case_id uuid NOT NULL CONSTRAINT med_evidence_case_id_fkey REFERENCES med_cases (id),
    file_name text NOT NULL,
    -- Bytes.
    file_size integer NOT NULL CONSTRAINT med_evidence_file_size_check CHECK (file_size > 0),
    mime_type text NOT NULL,
    uploaded_by text NOT NULL CONSTRAINT med_evidence_uploaded_by_check
      CHECK (uploaded_by IN ('merchant', 'partner', 'platform')),
    -- waiting: the upload is not confirmed yet. abandoned: it was not confirmed in time, and its files are being removed.
    status text NOT NULL CONSTRAINT med_evidence_status_check CHECK (status IN ('waiting', 'confirmed', 'abandoned')),
    -- The name in the storage of the file that was checked.
    object_name text,
    created_at timestamptz NOT NULL,
    -- When the URL for the upload ends.
    expires_at timestamptz NOT NULL,
    uploaded_at timestamptz,
    CONSTRAINT med_evidence_confirmed_check
      CHECK ((status = 'confirmed') = (object_name IS NOT NULL AND uploaded_at IS NOT NULL))
  );
  CREATE INDEX med_evidence_case_id_idx ON med_evidence (case_id, id);
  -- An account has a quota of bytes in each mode.
  CREATE INDEX med_evidence_account_idx ON med_evidence (account_id, mode);
`;
