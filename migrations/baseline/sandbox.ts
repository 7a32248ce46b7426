/** The sandbox acquirer's own books: it stands for a bank, so it remembers what a bank would. */
export const SANDBOX = `
  -- Payments of every method. The holder is the account that the money belongs to: whoever simulates a payment may choose
  -- its end-to-end id, and the ids of one account say nothing to another one.
  CREATE TABLE sandbox_pix (
    holder_id uuid NOT NULL,
    end_to_end_id text NOT NULL,
    txid text NOT NULL,
    method text NOT NULL DEFAULT 'PIX',
    amount bigint NOT NULL,
    payer_sealed bytea NOT NULL,
    settled_at timestamptz NOT NULL,
    CONSTRAINT sandbox_pix_pkey PRIMARY KEY (holder_id, end_to_end_id)
  );
  CREATE INDEX sandbox_pix_txid_idx ON sandbox_pix (txid);

  CREATE TABLE sandbox_charges (
    txid text PRIMARY KEY,
    status text NOT NULL CONSTRAINT sandbox_charges_status_check CHECK (status IN ('EXPIRED', 'REFUSED', 'REMOVED')),
    ended_at timestamptz NOT NULL
  );

  CREATE TABLE sandbox_order_events (
    txid text NOT NULL,
    kind text NOT NULL,
    happened_at timestamptz NOT NULL,
    CONSTRAINT sandbox_order_events_pkey PRIMARY KEY (txid, kind)
  );

  CREATE TABLE sandbox_returns (
    holder_id uuid NOT NULL,
    end_to_end_id text NOT NULL,
    return_id text NOT NULL,
    way text NOT NULL DEFAULT 'devolution',
    amount bigint NOT NULL,
    destination_sealed bytea,
    bank_reference text,
    fails boolean NOT NULL DEFAULT false,
    requested_at timestamptz NOT NULL,
    CONSTRAINT sandbox_returns_pkey PRIMARY KEY (holder_id, end_to_end_id, return_id),
    CONSTRAINT sandbox_returns_end_to_end_id_fkey FOREIGN KEY (holder_id, end_to_end_id)
      REFERENCES sandbox_pix (holder_id, end_to_end_id)
  );

  -- Charges whose next refund fails, as a test asked for.
  CREATE TABLE sandbox_refund_failures (
    txid text PRIMARY KEY,
    asked_at timestamptz NOT NULL
  );

  CREATE TABLE sandbox_disputes (
    reference text PRIMARY KEY,
    holder_id uuid NOT NULL,
    end_to_end_id text NOT NULL,
    txid text NOT NULL,
    type text NOT NULL,
    method text,
    amount bigint NOT NULL CONSTRAINT sandbox_disputes_amount_check CHECK (amount > 0),
    -- Who opened the dispute, which is not always the payer.
    payer_sealed bytea,
    reason text,
    status text NOT NULL,
    result text,
    response_deadline timestamptz,
    opened_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    closed_at timestamptz,
    CONSTRAINT sandbox_disputes_end_to_end_id_fkey FOREIGN KEY (holder_id, end_to_end_id)
      REFERENCES sandbox_pix (holder_id, end_to_end_id)
  );
  CREATE INDEX sandbox_disputes_txid_idx ON sandbox_disputes (txid);
  CREATE INDEX sandbox_disputes_end_to_end_id_idx ON sandbox_disputes (holder_id, end_to_end_id);
`;
