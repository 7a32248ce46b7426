/** Makes functions look into the real tables, also if a session has temporary tables of the same names. */
const PATH = 'SET search_path = public, pg_temp';

/**
 * Functions that look up rows by key, in tables that grow. PostgreSQL keeps the plan of a function for as long as the
 * connection lives. Planned while the journal is small, a join would read all of it at every posting.
 */
export const BY_KEY = `${PATH} SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off`;

export const AT_COMMIT = 'DEFERRABLE INITIALLY DEFERRED FOR EACH ROW';

const rowOf = (row: string, columns: readonly string[]): string =>
  `(${columns.map((column) => `${row}.${column}`).join(', ')})`;

/** A trigger that refuses any change of these columns. */
export const fixed = (table: string, columns: readonly string[]): string => `
  CREATE TRIGGER ${table}_fixed BEFORE UPDATE OF ${columns.join(', ')} ON ${table} FOR EACH ROW
    WHEN (${rowOf('OLD', columns)} IS DISTINCT FROM ${rowOf('NEW', columns)}) EXECUTE FUNCTION refuse_rewrite();`;

/**
 * A trigger that refuses any change of a status but these, each written as `from>to`.
 * @param only SQL condition that limits the rule to some rows
 */
export const moves = (table: string, column: string, legal: readonly string[], only = ''): string => `
  CREATE TRIGGER ${table}_moves BEFORE UPDATE OF ${column} ON ${table} FOR EACH ROW
    WHEN (OLD.${column} <> NEW.${column} ${only}
      AND OLD.${column} || '>' || NEW.${column} NOT IN ('${legal.join(`', '`)}'))
    EXECUTE FUNCTION refuse_rewrite();`;

/** Triggers that refuse changing, deleting and truncating rows. A trigger for each row does not see TRUNCATE. */
export const appendOnly = (table: string): string => `
  CREATE TRIGGER ${table}_append_only BEFORE UPDATE OR DELETE ON ${table}
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
  CREATE TRIGGER ${table}_keep BEFORE TRUNCATE ON ${table}
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();`;

/** @param line condition on the line `l` of the journal, in terms of NEW */
export const hasLine = (cause: string, line: string): string => `EXISTS (
      SELECT 1 FROM journal_entries e JOIN journal_lines l ON l.entry_id = e.id
      WHERE e.cause = ${cause} AND (l.account_id, l.mode) = (NEW.account_id, NEW.mode) AND ${line})`;

/**
 * 1. The journal, its hashes, fees of PSPs, the audit trail and logged requests are append-only. The service's role may only
 * read and insert in the tables whose changes `refuse_change()` refuses (src/core/database/service-role.ts).
 */
const APPEND_ONLY = `
  CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql ${PATH} AS $$
  BEGIN
    RAISE EXCEPTION '% is append-only: write a new entry that corrects the old one', TG_TABLE_NAME;
  END $$;
  ${['journal_entries', 'journal_lines', 'journal_hashes', 'acquirer_fees', 'request_logs'].map(appendOnly).join('')}

  -- Audit events may go after five years.
  CREATE TRIGGER audit_events_append_only BEFORE UPDATE ON audit_events
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
  CREATE TRIGGER audit_events_five_years BEFORE DELETE ON audit_events
    FOR EACH ROW WHEN (OLD.created_at > now() - interval '5 years') EXECUTE FUNCTION refuse_change();
  CREATE TRIGGER audit_events_keep BEFORE TRUNCATE ON audit_events
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

  -- The service's role may neither delete audit events nor drop partitions. These functions do it as the tables' owner, and
  -- only for rows that may go.
  CREATE FUNCTION audit_events_remove(before uuid, most integer) RETURNS integer
    LANGUAGE sql SECURITY DEFINER ${PATH} AS $$
    WITH removed AS (
      DELETE FROM audit_events WHERE id IN (
        SELECT id FROM audit_events WHERE id < before AND created_at <= now() - interval '5 years'
        ORDER BY id LIMIT most)
      RETURNING 1
    )
    SELECT count(*)::integer FROM removed
  $$;

  CREATE FUNCTION request_logs_add_days(days date[]) RETURNS void LANGUAGE plpgsql SECURITY DEFINER ${PATH} AS $$
  DECLARE
    day date;
    name text;
  BEGIN
    -- Two processes that make the same day at once would fail on each other.
    PERFORM pg_advisory_xact_lock(hashtext('request_logs'));
    FOREACH day IN ARRAY days LOOP
      name := 'request_logs_' || to_char(day, 'YYYYMMDD');
      CONTINUE WHEN to_regclass(name) IS NOT NULL;
      -- Attached, as creating a partition in place would lock the other days meanwhile.
      EXECUTE format('CREATE TABLE %I (LIKE request_logs INCLUDING ALL)', name);
      EXECUTE format('ALTER TABLE request_logs ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
        name, day::timestamp AT TIME ZONE 'UTC', (day + 1)::timestamp AT TIME ZONE 'UTC');
    END LOOP;
  END $$;

  -- Today and yesterday stay, whatever the caller asks for.
  CREATE FUNCTION request_logs_drop_before(first_kept date) RETURNS void LANGUAGE plpgsql SECURITY DEFINER ${PATH} AS $$
  DECLARE name text;
  BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('request_logs'));
    -- A drop waits for all readers and writers, and new ones wait behind it: give up soon.
    PERFORM set_config('lock_timeout', '1s', true);
    FOR name IN
      SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
      WHERE i.inhparent = 'request_logs'::regclass
        AND c.relname < 'request_logs_' || to_char(least(first_kept, (now() AT TIME ZONE 'UTC')::date - 1), 'YYYYMMDD')
    LOOP
      EXECUTE format('DROP TABLE %I', name);
    END LOOP;
  END $$;

  REVOKE ALL ON FUNCTION audit_events_remove(uuid, integer), request_logs_add_days(date[]),
    request_logs_drop_before(date) FROM PUBLIC;
`;

/**
 * 2. The ledger is double-entry: an entry has at least two lines, which sum to zero and are of its wallet, and it gets no
 * others later. An entry and its lines are inserted by one statement, so both are checked at its end.
 */
const DOUBLE_ENTRY = `
  CREATE FUNCTION refuse_unbalanced() RETURNS trigger LANGUAGE plpgsql ${BY_KEY} AS $$
  DECLARE wrong uuid;
  BEGIN
    SELECT entry_id INTO wrong FROM inserted GROUP BY entry_id HAVING sum(amount) <> 0 OR count(*) < 2 LIMIT 1;
    IF FOUND THEN
      RAISE EXCEPTION 'journal entry % does not sum to zero', wrong;
    END IF;
    SELECT i.entry_id INTO wrong FROM inserted i
    CROSS JOIN LATERAL (SELECT * FROM journal_entries WHERE id = i.entry_id LIMIT 1) e
    WHERE (i.account_id, i.mode, i.currency, i.number, i.created_at) <> (e.account_id, e.mode, e.currency, e.number, e.created_at)
    LIMIT 1;
    IF FOUND THEN
      RAISE EXCEPTION 'journal entry % has lines of another wallet, number or time', wrong;
    END IF;
    SELECT i.entry_id INTO wrong FROM (SELECT entry_id, count(*) AS lines FROM inserted GROUP BY entry_id) i
    WHERE i.lines < (SELECT count(*) FROM journal_lines l WHERE l.entry_id = i.entry_id) LIMIT 1;
    IF FOUND THEN
      RAISE EXCEPTION 'journal entry % has its lines already', wrong;
    END IF;
    RETURN NULL;
  END $$;
  CREATE TRIGGER journal_lines_balanced AFTER INSERT ON journal_lines
    REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION refuse_unbalanced();

  CREATE FUNCTION refuse_empty_entry() RETURNS trigger LANGUAGE plpgsql ${BY_KEY} AS $$
  DECLARE wrong uuid;
  BEGIN
    SELECT i.id INTO wrong FROM inserted i
    WHERE (SELECT l.line FROM journal_lines l WHERE l.entry_id = i.id LIMIT 1) IS NULL LIMIT 1;
    IF FOUND THEN
      RAISE EXCEPTION 'journal entry % has no lines', wrong;
    END IF;
    RETURN NULL;
  END $$;
  CREATE TRIGGER journal_entries_have_lines AFTER INSERT ON journal_entries
    REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION refuse_empty_entry();
`;

/**
 * 3. Rows of money keep their id, account, mode, amount and payment. The service's role may not delete from the tables whose
 * rows `refuse_rewrite()` guards (src/core/database/service-role.ts).
 */
const IDENTITY = `
  CREATE FUNCTION refuse_rewrite() RETURNS trigger LANGUAGE plpgsql ${PATH} AS $$
  BEGIN
    RAISE EXCEPTION '% %: % does not become %', TG_TABLE_NAME, TG_NAME, to_jsonb(OLD), to_jsonb(NEW);
  END $$;
  ${fixed('balances', ['account_id', 'mode', 'currency', 'bucket'])}
  ${fixed('transactions', ['account_id', 'mode', 'amount', 'currency', 'created_at', 'id', 'acquirer'])}
  ${fixed('settlements', [
    ...['account_id', 'mode', 'acquirer', 'namespace', 'end_to_end_id', 'txid', 'amount', 'method'],
    ...['settled_at', 'created_at', 'id', 'provider_fee'],
  ])}
  ${fixed('refunds', [
    ...['account_id', 'mode', 'transaction_id', 'acquirer', 'payment_reference', 'way', 'amount', 'fee', 'currency'],
    ...['created_at', 'id'],
  ])}
  ${fixed('pix_returns', [
    ...['id', 'account_id', 'mode', 'transaction_id', 'acquirer', 'end_to_end_id', 'return_id', 'way', 'amount'],
    ...['currency', 'reason', 'created_at'],
  ])}
  ${fixed('med_cases', ['account_id', 'mode', 'transaction_id', 'acquirer', 'reference', 'type', 'currency', 'id'])}
  ${fixed('releases', ['id', 'account_id', 'mode', 'currency', 'transaction_id', 'amount', 'release_at', 'kind'])}
  ${fixed('corrections', [
    ...['id', 'kind', 'account_id', 'mode', 'currency', 'amount', 'borne_by', 'settlement_id', 'transaction_id'],
    ...['bank_reference', 'reason', 'idempotency_key', 'requested_by', 'created_at', 'acquirer', 'invoice_month'],
  ])}

  CREATE TRIGGER transactions_paid_once
    BEFORE UPDATE OF paid_at, paid_with, end_to_end_id, provider_fee, platform_fee, net_amount ON transactions FOR EACH ROW
    WHEN (OLD.paid_at IS NOT NULL
      AND (OLD.paid_at, OLD.paid_with, OLD.end_to_end_id, OLD.provider_fee, OLD.platform_fee, OLD.net_amount)
        IS DISTINCT FROM (NEW.paid_at, NEW.paid_with, NEW.end_to_end_id, NEW.provider_fee, NEW.platform_fee, NEW.net_amount))
    EXECUTE FUNCTION refuse_rewrite();
  -- Erasing a customer removes the payer lock of a sale that nobody can pay any more.
  CREATE TRIGGER transactions_payer_kept BEFORE UPDATE OF expected_payer_tax_id ON transactions FOR EACH ROW
    WHEN (OLD.expected_payer_tax_id IS DISTINCT FROM NEW.expected_payer_tax_id
      AND (NEW.expected_payer_tax_id IS NOT NULL OR NEW.status IN ('PENDING', 'WAITING_PAYMENT', 'PROCESSING')))
    EXECUTE FUNCTION refuse_rewrite();
  -- An operator may assign a payment that matched no charge, or whose return the bank has refused, to the charge it pays.
  CREATE TRIGGER settlements_assigned BEFORE UPDATE OF transaction_id ON settlements FOR EACH ROW
    WHEN (OLD.transaction_id IS DISTINCT FROM NEW.transaction_id
      AND (OLD.transaction_id IS NOT NULL OR OLD.outcome NOT IN ('unmatched', 'returned') OR NEW.outcome <> 'credited'))
    EXECUTE FUNCTION refuse_rewrite();
  CREATE TRIGGER releases_final BEFORE UPDATE OF released_at ON releases FOR EACH ROW
    WHEN (OLD.released_at IS NOT NULL AND OLD.released_at IS DISTINCT FROM NEW.released_at) EXECUTE FUNCTION refuse_rewrite();
`;

/**
 * 4. Statuses change only as their machines say. test/integration/rules-of-money compares every pair with the machines.
 * `AND NOT (false)` is there because a database of 0.1 has it, and both must have the same schema.
 */
const MOVES = `
  ${moves(
    'transactions',
    'status',
    [
      ...['PENDING>WAITING_PAYMENT', 'PENDING>REFUSED', 'PENDING>CANCELLED'],
      ...['WAITING_PAYMENT>PAID', 'WAITING_PAYMENT>APPROVED', 'WAITING_PAYMENT>PROCESSING', 'WAITING_PAYMENT>REFUNDED'],
      ...['WAITING_PAYMENT>EXPIRED', 'WAITING_PAYMENT>REFUSED', 'WAITING_PAYMENT>CANCELLED'],
      ...['PROCESSING>PAID', 'PROCESSING>APPROVED', 'PROCESSING>REFUNDED'],
      ...['PROCESSING>EXPIRED', 'PROCESSING>REFUSED', 'PROCESSING>CANCELLED'],
      ...['PAID>REFUNDED', 'PAID>DISPUTE', 'APPROVED>REFUNDED', 'APPROVED>DISPUTE', 'APPROVED>CHARGEBACK'],
      ...['DISPUTE>PAID', 'DISPUTE>APPROVED', 'DISPUTE>CHARGEBACK', 'CHARGEBACK>APPROVED'],
    ],
    'AND NOT (false)',
  )}
  ${moves('settlements', 'outcome', [
    ...['review>credited', 'review>returned'],
    ...['unmatched>credited', 'unmatched>returned', 'unmatched>closed', 'returned>closed', 'returned>credited'],
  ])}
  ${moves(
    'refunds',
    'status',
    ['PENDING>IN_PROGRESS', 'PENDING>FAILED', 'IN_PROGRESS>REFUNDED', 'IN_PROGRESS>FAILED'],
    'AND NOT (false)',
  )}
  ${moves('pix_returns', 'status', [
    ...['PENDING>IN_PROGRESS', 'PENDING>RETURNED', 'PENDING>FAILED'],
    ...['IN_PROGRESS>RETURNED', 'IN_PROGRESS>FAILED'],
  ])}
  -- A case that the merchant has not seen yet may still be put right.
  ${moves(
    'med_cases',
    'status',
    [
      ...['open>appealed', 'open>accepted', 'open>closed', 'appealed>closed', 'appealed>rejected'],
      ...['accepted>closed', 'rejected>closed'],
    ],
    'AND NOT (NOT OLD.visible)',
  )}
  ${moves('corrections', 'status', ['waiting>applied', 'waiting>rejected'])}
`;

/**
 * 5. Balances that hold money for somebody are never below zero. No CHECK, which would also look at the row that an upsert
 * tries to insert.
 */
const BALANCES = `
  CREATE TRIGGER balances_held AFTER INSERT OR UPDATE OF amount ON balances FOR EACH ROW
    WHEN (NEW.amount < 0 AND NEW.bucket IN ('pending', 'retained', 'reserved', 'suspense'))
    EXECUTE FUNCTION refuse_rewrite();
`;

/**
 * 6. A sale is paid only by a credited settlement of its amount. Every settlement is credited to the sale that it pays, goes
 * back, waits for an operator or is closed by a correction. Money that is not credited is in the bucket `suspense`.
 */
const PAID = `
  CREATE FUNCTION check_paid() RETURNS trigger LANGUAGE plpgsql ${BY_KEY} AS $$
  BEGIN
    IF NOT EXISTS (
        SELECT 1 FROM settlements s WHERE s.transaction_id = NEW.id AND s.outcome = 'credited' AND s.amount = NEW.amount)
      OR NOT ${hasLine(`'charge.paid:' || NEW.id`, `l.currency = NEW.currency AND l.bucket IN ('clearing', 'suspense') AND l.amount = -NEW.amount`)} THEN
      RAISE EXCEPTION 'transaction % is paid without a credited settlement of its amount and a journal entry', NEW.id;
    END IF;
    RETURN NULL;
  END $$;
  CREATE CONSTRAINT TRIGGER transactions_made_paid AFTER INSERT ON transactions
    ${AT_COMMIT} WHEN (NEW.paid_at IS NOT NULL) EXECUTE FUNCTION check_paid();
  CREATE CONSTRAINT TRIGGER transactions_paid AFTER UPDATE OF paid_at ON transactions
    ${AT_COMMIT} WHEN (OLD.paid_at IS NULL AND NEW.paid_at IS NOT NULL) EXECUTE FUNCTION check_paid();

  -- Two statements: PostgreSQL would plan one condition of three subqueries anew at each settlement.
  CREATE FUNCTION check_settlement_corrected() RETURNS trigger LANGUAGE plpgsql ${BY_KEY} AS $$
  BEGIN
    IF NEW.outcome = 'credited' THEN
      IF NOT EXISTS (
          SELECT 1 FROM (SELECT * FROM transactions WHERE id = NEW.transaction_id OFFSET 0) t WHERE t.paid_at IS NOT NULL
            AND (t.account_id, t.mode, t.acquirer, t.end_to_end_id) = (NEW.account_id, NEW.mode, NEW.acquirer, NEW.end_to_end_id)) THEN
        RAISE EXCEPTION 'settlement % is % and nothing says so', NEW.id, NEW.outcome;
      END IF;
    ELSIF NOT (CASE NEW.outcome
        WHEN 'returned' THEN EXISTS (
          SELECT 1 FROM pix_returns r WHERE (r.account_id, r.acquirer, r.end_to_end_id) = (NEW.account_id, NEW.acquirer, NEW.end_to_end_id)
            AND r.transaction_id IS NOT DISTINCT FROM NEW.transaction_id)
        ELSE EXISTS (
            SELECT 1 FROM corrections c WHERE c.settlement_id = NEW.id AND c.status = 'applied'
              AND c.kind IN ('returned_elsewhere', 'write_off') AND c.amount = NEW.amount)
          AND NOT EXISTS (
            SELECT 1 FROM pix_returns r WHERE (r.account_id, r.acquirer, r.end_to_end_id) = (NEW.account_id, NEW.acquirer, NEW.end_to_end_id)
              AND r.transaction_id IS NOT DISTINCT FROM NEW.transaction_id AND r.status <> 'FAILED')
      END) THEN
      RAISE EXCEPTION 'settlement % is % and nothing says so', NEW.id, NEW.outcome;
    END IF;
    RETURN NULL;
  END $$;
  CREATE CONSTRAINT TRIGGER settlements_made AFTER INSERT ON settlements
    ${AT_COMMIT} WHEN (NEW.outcome IN ('credited', 'returned', 'closed')) EXECUTE FUNCTION check_settlement_corrected();
  CREATE CONSTRAINT TRIGGER settlements_corrected AFTER UPDATE OF outcome ON settlements
    ${AT_COMMIT} WHEN (OLD.outcome IN ('unmatched', 'returned', 'review') AND OLD.outcome <> NEW.outcome)
    EXECUTE FUNCTION check_settlement_corrected();

  -- A payment that is on its way back, or back, is not credited.
  CREATE FUNCTION check_not_back() RETURNS trigger LANGUAGE plpgsql ${PATH} AS $$
  BEGIN
    IF EXISTS (SELECT 1 FROM pix_returns r
        WHERE (r.account_id, r.acquirer, r.end_to_end_id) = (NEW.account_id, NEW.acquirer, NEW.end_to_end_id)
          AND r.status <> 'FAILED') THEN
      RAISE EXCEPTION 'settlement % is credited, and on its way back or back', NEW.id;
    END IF;
    RETURN NULL;
  END $$;
  CREATE CONSTRAINT TRIGGER settlements_assignable AFTER UPDATE OF outcome ON settlements
    ${AT_COMMIT} WHEN (OLD.outcome = 'returned' AND NEW.outcome = 'credited') EXECUTE FUNCTION check_not_back();

  CREATE FUNCTION check_suspended() RETURNS trigger LANGUAGE plpgsql ${BY_KEY} AS $$
  DECLARE
    comes boolean := TG_TABLE_NAME = 'settlements';
    wanted text := CASE WHEN comes THEN 'suspense.received:' ELSE 'suspense.returned:' END || NEW.id;
  BEGIN
    IF NOT ${hasLine('wanted', `l.bucket = 'suspense' AND l.amount = CASE WHEN comes THEN NEW.amount ELSE -NEW.amount END`)} THEN
      RAISE EXCEPTION '% %: its money is not in the journal as %', TG_TABLE_NAME, NEW.id, wanted;
    END IF;
    RETURN NULL;
  END $$;
  CREATE CONSTRAINT TRIGGER settlements_suspended AFTER INSERT ON settlements
    ${AT_COMMIT} WHEN (NEW.outcome <> 'credited' AND NEW.account_id IS NOT NULL) EXECUTE FUNCTION check_suspended();
  CREATE CONSTRAINT TRIGGER pix_returns_posted AFTER INSERT OR UPDATE OF status ON pix_returns
    ${AT_COMMIT} WHEN (NEW.status = 'RETURNED') EXECUTE FUNCTION check_suspended();

  CREATE FUNCTION check_return() RETURNS trigger LANGUAGE plpgsql ${PATH} AS $$
  BEGIN
    IF NOT EXISTS (
        SELECT 1 FROM settlements s WHERE s.transaction_id IS NOT DISTINCT FROM NEW.transaction_id AND s.outcome = 'returned'
          AND (s.account_id, s.acquirer, s.end_to_end_id, s.amount) = (NEW.account_id, NEW.acquirer, NEW.end_to_end_id, NEW.amount))
      OR EXISTS (
        SELECT 1 FROM pix_returns r WHERE r.transaction_id IS NOT DISTINCT FROM NEW.transaction_id AND r.id <> NEW.id AND r.status <> 'FAILED'
          AND (r.account_id, r.acquirer, r.end_to_end_id) = (NEW.account_id, NEW.acquirer, NEW.end_to_end_id)) THEN
      RAISE EXCEPTION 'return % is not the one of a payment that goes back', NEW.id;
    END IF;
    RETURN NULL;
  END $$;
  CREATE CONSTRAINT TRIGGER pix_returns_made AFTER INSERT ON pix_returns
    ${AT_COMMIT} EXECUTE FUNCTION check_return();
`;

/**
 * 7. Refunds, disputes and losses of a sale never take more than its amount, and the sale counts exactly what they take. A
 * sale that exceeded its amount before this rule existed can only come nearer to it.
 */
const AMOUNTS = 'refunds_amount, cashouts_amount, disputed_amount, losses_amount';
const taken = (row: string): string =>
  `${row}.losses_amount + greatest(${row}.refunds_amount, ${row}.refunds_amount - ${row}.cashouts_amount + ${row}.disputed_amount)`;
const IS_LOSS = `NEW.kind = 'loss' AND NEW.status = 'applied' AND NEW.transaction_id IS NOT NULL`;
const TAKEN = `
  CREATE TRIGGER transactions_left BEFORE UPDATE OF ${AMOUNTS} ON transactions FOR EACH ROW
    WHEN (NEW.losses_amount < 0 OR (NEW.losses_amount > 0 AND ${taken('NEW')} > NEW.amount AND ${taken('NEW')} > ${taken('OLD')}))
    EXECUTE FUNCTION refuse_rewrite();

  CREATE FUNCTION check_taken() RETURNS trigger LANGUAGE plpgsql ${PATH} AS $$
  DECLARE sale uuid;
  BEGIN
    IF TG_TABLE_NAME = 'transactions' THEN sale := NEW.id; ELSE sale := NEW.transaction_id; END IF;
    PERFORM 1 FROM transactions t, LATERAL (
        SELECT coalesce(sum(amount), 0) AS refunded, coalesce(sum(amount) FILTER (WHERE way = 'cashout'), 0) AS cashed_out
        FROM refunds r WHERE r.transaction_id = t.id AND r.status <> 'FAILED') r, LATERAL (
        SELECT coalesce(sum(held_amount + lost_amount), 0) AS disputed FROM med_cases c WHERE c.transaction_id = t.id) c, LATERAL (
        SELECT coalesce(sum(amount), 0) AS lost FROM corrections l
        WHERE l.transaction_id = t.id AND l.kind = 'loss' AND l.status = 'applied') l
      WHERE t.id = sale
        AND (t.refunds_amount, t.cashouts_amount, t.disputed_amount, t.losses_amount) <> (r.refunded, r.cashed_out, c.disputed, l.lost);
    IF FOUND THEN
      RAISE EXCEPTION 'transaction %: its refunds and cases are not what it says that they have taken', sale;
    END IF;
    RETURN NULL;
  END $$;
  CREATE CONSTRAINT TRIGGER transactions_taken AFTER UPDATE OF ${AMOUNTS} ON transactions
    ${AT_COMMIT} EXECUTE FUNCTION check_taken();
  CREATE CONSTRAINT TRIGGER refunds_taken AFTER INSERT OR UPDATE OF status ON refunds
    ${AT_COMMIT} EXECUTE FUNCTION check_taken();
  CREATE CONSTRAINT TRIGGER med_cases_made_taking AFTER INSERT ON med_cases
    ${AT_COMMIT} WHEN (NEW.held_amount + NEW.lost_amount <> 0) EXECUTE FUNCTION check_taken();
  CREATE CONSTRAINT TRIGGER med_cases_taken AFTER UPDATE OF held_amount, lost_amount ON med_cases
    ${AT_COMMIT} EXECUTE FUNCTION check_taken();
  CREATE CONSTRAINT TRIGGER corrections_made_taking AFTER INSERT ON corrections
    ${AT_COMMIT} WHEN (${IS_LOSS}) EXECUTE FUNCTION check_taken();
  CREATE CONSTRAINT TRIGGER corrections_taking AFTER UPDATE OF status ON corrections
    ${AT_COMMIT} WHEN (${IS_LOSS}) EXECUTE FUNCTION check_taken();
`;

/** 8. Refunds, releases, corrections and fees of PSPs are in the journal with their exact amounts from the same commit on. */
const BOOKED = `
  CREATE FUNCTION check_refund_posted() RETURNS trigger LANGUAGE plpgsql ${BY_KEY} AS $$
  DECLARE wanted text := CASE NEW.status WHEN 'REFUNDED' THEN 'refund.paid:' WHEN 'FAILED' THEN 'refund.released:'
    ELSE 'refund.reserved:' END || NEW.id;
  BEGIN
    IF NOT ${hasLine(
      'wanted',
      `l.currency = NEW.currency AND (l.bucket, l.amount) = (
        CASE NEW.status WHEN 'REFUNDED' THEN 'clearing' ELSE 'available' END,
        CASE NEW.status WHEN 'REFUNDED' THEN NEW.amount WHEN 'FAILED' THEN NEW.amount + NEW.fee ELSE -(NEW.amount + NEW.fee) END)`,
    )} THEN
      RAISE EXCEPTION 'refund % is % without the journal entry %', NEW.id, NEW.status, wanted;
    END IF;
    RETURN NULL;
  END $$;
  CREATE CONSTRAINT TRIGGER refunds_posted AFTER INSERT OR UPDATE OF status ON refunds
    ${AT_COMMIT} EXECUTE FUNCTION check_refund_posted();

  -- All releases of a sale together are what the sale put into pending; each takes its own amount out.
  CREATE FUNCTION check_release() RETURNS trigger LANGUAGE plpgsql ${BY_KEY} AS $$
  DECLARE
    waits boolean := NEW.released_at IS NULL;
    wanted text := CASE WHEN waits THEN 'charge.paid:' WHEN NEW.kind = 'reserve' THEN 'release.reserve:' ELSE 'release:' END || NEW.transaction_id;
  BEGIN
    IF NOT ${hasLine('wanted', `l.currency = NEW.currency AND l.bucket = 'pending' AND l.amount = CASE WHEN waits THEN (SELECT sum(r.amount) FROM releases r WHERE r.transaction_id = NEW.transaction_id) ELSE -NEW.amount END`)} THEN
      RAISE EXCEPTION 'release %: its money is not in the journal as %', NEW.id, wanted;
    END IF;
    RETURN NULL;
  END $$;
  CREATE CONSTRAINT TRIGGER releases_made AFTER INSERT ON releases
    ${AT_COMMIT} EXECUTE FUNCTION check_release();
  CREATE CONSTRAINT TRIGGER releases_posted AFTER UPDATE OF released_at ON releases
    ${AT_COMMIT} EXECUTE FUNCTION check_release();

  CREATE FUNCTION check_correction() RETURNS trigger LANGUAGE plpgsql ${PATH} AS $$
  DECLARE settled settlements;
  BEGIN
    SELECT * INTO settled FROM settlements s WHERE s.id = NEW.settlement_id;
    IF settled.id IS NOT NULL AND (settled.account_id, settled.mode) <> (NEW.account_id, NEW.mode) THEN
      RAISE EXCEPTION 'correction %: its Pix is of another account', NEW.id;
    END IF;
    IF NEW.kind NOT IN ('bank_fee', 'loss') AND (settled.amount <> NEW.amount
      OR settled.outcome <> CASE NEW.kind WHEN 'return' THEN 'returned' WHEN 'assign' THEN 'credited' ELSE 'closed' END
      OR (NEW.kind = 'assign' AND settled.transaction_id <> NEW.transaction_id)) THEN
      RAISE EXCEPTION 'correction %: its Pix is not what the correction says', NEW.id;
    END IF;
    IF NEW.kind NOT IN ('return', 'assign') AND (
        SELECT array_agg(l.bucket || ' ' || l.amount ORDER BY l.bucket) FROM journal_entries e JOIN journal_lines l ON l.entry_id = e.id
        WHERE e.cause = 'correction:' || NEW.id
          AND (e.account_id, e.mode, e.currency) = (NEW.account_id, NEW.mode, NEW.currency))
      IS DISTINCT FROM (
        SELECT array_agg(bucket || ' ' || amount ORDER BY bucket) FROM (VALUES
          (CASE WHEN NEW.borne_by IS NULL THEN 'suspense' WHEN NEW.borne_by = 'merchant' THEN 'available' ELSE 'platform_fees' END, -NEW.amount),
          (CASE NEW.kind WHEN 'write_off' THEN 'platform_fees' WHEN 'bank_fee' THEN 'provider_fees' ELSE 'clearing' END, NEW.amount)) l (bucket, amount)) THEN
      RAISE EXCEPTION 'correction %: its money is not in the journal', NEW.id;
    END IF;
    RETURN NULL;
  END $$;
  CREATE CONSTRAINT TRIGGER corrections_made AFTER INSERT ON corrections
    ${AT_COMMIT} WHEN (NEW.status = 'applied') EXECUTE FUNCTION check_correction();
  CREATE CONSTRAINT TRIGGER corrections_applied AFTER UPDATE OF status ON corrections
    ${AT_COMMIT} WHEN (NEW.status = 'applied') EXECUTE FUNCTION check_correction();

  CREATE FUNCTION check_provider_fee() RETURNS trigger LANGUAGE plpgsql ${BY_KEY} AS $$
  DECLARE causes text[] := ARRAY['provider_fee:' || NEW.id]; posted bigint; others bigint;
  BEGIN
    IF TG_TABLE_NAME = 'settlements' THEN
      IF NEW.outcome = 'credited' THEN
        causes := causes || ARRAY['charge.paid:' || NEW.transaction_id, 'provider_fee.passed:' || NEW.transaction_id];
      END IF;
    END IF;
    SELECT coalesce(sum(l.amount) FILTER (WHERE l.bucket = 'provider_fees'), 0),
      count(*) FILTER (WHERE e.type = 'provider_fee' AND l.bucket NOT IN ('provider_fees', 'platform_fees'))
    INTO posted, others FROM journal_entries e JOIN journal_lines l ON l.entry_id = e.id
    WHERE e.cause = ANY (causes) AND (l.account_id, l.mode) = (NEW.account_id, NEW.mode);
    IF posted <> NEW.provider_fee OR others > 0 THEN
      RAISE EXCEPTION '% %: its fee of % is not in the journal, which has %', TG_TABLE_NAME, NEW.id, NEW.provider_fee, posted;
    END IF;
    RETURN NULL;
  END $$;
  CREATE CONSTRAINT TRIGGER settlements_charged AFTER INSERT ON settlements
    ${AT_COMMIT} WHEN (NEW.provider_fee > 0 AND NEW.account_id IS NOT NULL) EXECUTE FUNCTION check_provider_fee();
  CREATE CONSTRAINT TRIGGER settlements_still_charged AFTER UPDATE OF outcome ON settlements
    ${AT_COMMIT} WHEN (NEW.provider_fee > 0 AND NEW.account_id IS NOT NULL AND OLD.outcome <> NEW.outcome)
    EXECUTE FUNCTION check_provider_fee();
  -- A fee of money that goes back is recorded with its end, and never changes afterwards.
  ${['refunds', 'pix_returns']
    .map(
      (table) => `
  CREATE TRIGGER ${table}_charged_once BEFORE UPDATE OF provider_fee ON ${table} FOR EACH ROW
    WHEN (OLD.provider_fee <> NEW.provider_fee AND OLD.status = NEW.status) EXECUTE FUNCTION refuse_rewrite();
  CREATE CONSTRAINT TRIGGER ${table}_charged AFTER INSERT OR UPDATE OF status, provider_fee ON ${table}
    ${AT_COMMIT} WHEN (NEW.provider_fee > 0) EXECUTE FUNCTION check_provider_fee();`,
    )
    .join('')}
`;

/**
 * The rules that PostgreSQL keeps for everybody, the tables' owner included, grouped by the promise that they keep. Rules
 * that hold at the end of a database transaction are deferred constraint triggers.
 */
export const PROMISES = [APPEND_ONLY, DOUBLE_ENTRY, IDENTITY, MOVES, BALANCES, PAID, TAKEN, BOOKED].join('\n');
