/** Each query finds rows that must not exist: a row is a broken promise, and the query's name says which. */
export const CHECKS: readonly {
  readonly name: string;
  readonly sql: string;
  /** Needs all events that there ever were: old ones are removed after their retention. */
  readonly ofEvents?: true;
}[] = [
  {
    name: 'the lines of every entry sum to zero',
    sql: `SELECT e.id FROM journal_entries e LEFT JOIN journal_lines l ON l.entry_id = e.id
          GROUP BY e.id HAVING coalesce(sum(l.amount), 1) <> 0`,
  },
  {
    name: 'all lines sum to zero per account, mode and currency',
    sql: `SELECT account_id, mode, currency, sum(amount) FROM journal_lines GROUP BY 1, 2, 3 HAVING sum(amount) <> 0`,
  },
  {
    name: 'each balance is the sum of its lines',
    sql: `SELECT * FROM balances b FULL JOIN (
            SELECT account_id, mode, currency, bucket, sum(amount) AS lines FROM journal_lines GROUP BY 1, 2, 3, 4) l
          USING (account_id, mode, currency, bucket) WHERE coalesce(b.amount, 0) <> coalesce(l.lines, 0)`,
  },
  {
    name: 'the entries of each wallet are numbered 1, 2, … without a hole, in the order of their times, and counted',
    sql: `SELECT account_id, mode, currency FROM (
            SELECT account_id, mode, currency, number, created_at < lag(created_at) OVER (
              PARTITION BY account_id, mode, currency ORDER BY number) AS is_back FROM journal_entries) e
          FULL JOIN (SELECT account_id, mode, currency, entries FROM balances WHERE bucket = 'available') b
          USING (account_id, mode, currency)
          GROUP BY account_id, mode, currency HAVING bool_or(is_back) OR min(number) <> 1 OR max(number) <> count(number)
            OR coalesce(max(number), 0) <> coalesce(max(entries), 0)`,
  },
  {
    name: 'the balance after each line is the one before it and its amount; a line has the number and time of its entry',
    sql: `SELECT * FROM (
            SELECT l.entry_id, l.line, l.balance_after, l.balance_after - l.amount <> coalesce(lag(l.balance_after) OVER (
                PARTITION BY l.account_id, l.mode, l.currency, l.bucket ORDER BY l.number, l.line), 0) AS jumps,
              (l.account_id, l.mode, l.currency, l.number, l.created_at) <> (e.account_id, e.mode, e.currency, e.number, e.created_at) AS strays
            FROM journal_lines l JOIN journal_entries e ON e.id = l.entry_id) x WHERE jumps OR strays`,
  },
  {
    name: 'each link of the chain is of an entry that is there, and they have no hole',
    sql: `SELECT account_id, mode, currency FROM journal_hashes h LEFT JOIN journal_entries e USING (account_id, mode, currency, number)
          GROUP BY account_id, mode, currency HAVING max(number) <> count(*) OR bool_or(e.id IS DISTINCT FROM h.entry_id)`,
  },
  {
    name: 'each paid transaction has exactly one credited settlement and one credit entry of its amount',
    sql: `SELECT t.id FROM transactions t
          WHERE (t.paid_at IS NOT NULL) <> EXISTS (SELECT 1 FROM settlements s WHERE s.transaction_id = t.id AND s.outcome = 'credited' AND s.amount = t.amount)
             OR (t.paid_at IS NOT NULL) <> EXISTS (
               SELECT 1 FROM journal_entries e JOIN journal_lines l ON l.entry_id = e.id
               WHERE e.cause = 'charge.paid:' || t.id AND l.bucket IN ('clearing', 'suspense') AND l.amount = -t.amount AND l.account_id = t.account_id AND l.mode = t.mode)`,
  },
  {
    name: 'net amount, fees and the credited lines agree',
    sql: `SELECT t.id FROM transactions t WHERE t.paid_at IS NOT NULL AND t.net_amount <> coalesce((
            SELECT sum(l.amount) FROM journal_entries e JOIN journal_lines l ON l.entry_id = e.id
            WHERE e.cause = 'charge.paid:' || t.id AND l.bucket IN ('available', 'pending')), 0)`,
  },
  {
    name: 'each Pix that is returned has a return of its whole amount, and one at most that was not refused',
    sql: `SELECT s.id FROM settlements s, LATERAL (
            SELECT count(*) AS asked, count(*) FILTER (WHERE r.status <> 'FAILED') AS alive FROM pix_returns r
            WHERE r.end_to_end_id = s.end_to_end_id AND r.acquirer = s.acquirer
              AND r.transaction_id IS NOT DISTINCT FROM s.transaction_id
              AND r.amount = s.amount AND r.way = CASE s.method WHEN 'CREDIT_CARD' THEN 'card' ELSE 'devolution' END) r
          WHERE s.outcome = 'returned' AND (r.asked = 0 OR r.alive > 1)`,
  },
  {
    name: 'suspense holds what came, was not credited and is not back, and nothing else',
    sql: `SELECT * FROM (
            SELECT account_id, mode, currency, sum(amount) AS amount FROM journal_lines WHERE bucket = 'suspense' GROUP BY 1, 2, 3) l
          FULL JOIN (
            SELECT s.account_id, s.mode, coalesce(t.currency, 'BRL') AS currency, sum(s.amount) AS amount
            FROM settlements s LEFT JOIN transactions t ON t.id = s.transaction_id
            WHERE s.outcome NOT IN ('credited', 'closed') AND s.account_id IS NOT NULL AND NOT EXISTS (
              SELECT 1 FROM pix_returns r WHERE r.transaction_id IS NOT DISTINCT FROM s.transaction_id AND r.end_to_end_id = s.end_to_end_id
                AND r.acquirer = s.acquirer AND r.status = 'RETURNED')
            GROUP BY 1, 2, 3) s
          USING (account_id, mode, currency) WHERE coalesce(l.amount, 0) <> coalesce(s.amount, 0)`,
  },
  {
    name: 'every status has its event',
    ofEvents: true,
    sql: `SELECT t.id, t.status FROM transactions t WHERE t.status <> 'PENDING' AND NOT EXISTS (
            SELECT 1 FROM events v WHERE v.subject_id = t.id AND v.data -> 'transaction' ->> 'status' = t.status)`,
  },
  {
    name: 'no event was written twice for one status of one transaction',
    ofEvents: true,
    sql: `SELECT subject_id, type, count(*) FROM events WHERE type LIKE 'transaction.%' AND type NOT LIKE '%dispute%'
            AND type <> 'transaction.charged_back' GROUP BY 1, 2 HAVING count(*) > 1`,
  },
  {
    name: 'a transaction is disputed and revived at most once for each of its cases, and for each correction of them',
    ofEvents: true,
    sql: `SELECT v.subject_id, v.type, count(*) FROM events v WHERE v.type LIKE 'transaction.%dispute%' OR v.type = 'transaction.charged_back'
          GROUP BY 1, 2 HAVING count(*) > (
            SELECT count(DISTINCT c.id) + count(x.id) FROM med_cases c LEFT JOIN events x ON x.subject_id = c.id AND x.type = 'med_case.corrected'
            WHERE c.transaction_id = v.subject_id AND c.visible)`,
  },
  {
    name: 'the events of each subject are numbered 1, 2, … without a hole',
    ofEvents: true,
    sql: `SELECT subject_id FROM events GROUP BY subject_id HAVING min(sequence) <> 1 OR max(sequence) <> count(*)`,
  },
  {
    name: 'each event of a transaction goes on from the status that the one before it tells of',
    ofEvents: true,
    sql: `SELECT * FROM (
            SELECT subject_id, sequence, data ->> 'previousStatus' AS previous,
              lag(data -> 'transaction' ->> 'status') OVER (PARTITION BY subject_id ORDER BY sequence) AS before
            FROM events WHERE type LIKE 'transaction.%') e WHERE sequence > 1 AND previous IS DISTINCT FROM before`,
  },
  {
    name: 'each idempotency key with an answer names a transaction, a refund, a payout or a payment link',
    sql: `SELECT k.key FROM idempotency_keys k WHERE NOT EXISTS (SELECT 1 FROM transactions t WHERE t.id = k.resource_id)
            AND NOT EXISTS (SELECT 1 FROM refunds r WHERE r.id = k.resource_id)
            AND NOT EXISTS (SELECT 1 FROM payouts p WHERE p.id = k.resource_id)
            AND NOT EXISTS (SELECT 1 FROM payment_links l WHERE l.id = k.resource_id)`,
  },
  {
    name: 'each payment link counts its charges that were paid',
    sql: `SELECT l.id FROM payment_links l LEFT JOIN LATERAL (
            SELECT count(*) AS number, coalesce(sum(t.amount), 0) AS amount
            FROM payment_link_charges c JOIN transactions t ON t.id = c.transaction_id
            WHERE c.link_id = l.id AND t.paid_at IS NOT NULL) paid ON true
          WHERE (l.paid_count, l.paid_amount) <> (paid.number, paid.amount)`,
  },
  {
    name: 'what is counted by day and hour, folded or not, is what the transactions and refunds say',
    sql: `WITH facts AS (
            SELECT account_id, mode, created_at, currency, amount, payment_methods AS methods, NULL AS old, status AS new, paid_with, paid_at,
              NULL::uuid AS refund_id, 'actual' AS side FROM transactions
            UNION ALL SELECT t.account_id, t.mode, t.created_at, t.currency, r.amount, NULL, NULL, NULL, NULL, NULL, r.id, 'actual'
            FROM refunds r JOIN transactions t ON t.id = r.transaction_id WHERE r.status = 'REFUNDED'
            UNION ALL SELECT account_id, mode, created_at, currency, amount, payment_methods, from_status, to_status, paid_with, paid_at,
              refund_id, 'kept' FROM transaction_changes
          ), counted AS (
            SELECT side, account_id, mode, 'day' AS kind, created_at, currency, new AS key, 1 AS count, amount FROM facts WHERE new IS NOT NULL
            UNION ALL SELECT side, account_id, mode, 'day', created_at, currency, old, -1, -amount FROM facts WHERE old IS NOT NULL
            UNION ALL SELECT side, account_id, mode, 'hour', created_at, currency, new, 1, 0 FROM facts WHERE new IS NOT NULL
            UNION ALL SELECT side, account_id, mode, 'hour', created_at, currency, old, -1, 0 FROM facts WHERE old IS NOT NULL
            UNION ALL SELECT side, account_id, mode, 'month', created_at, currency, new, 1, 0 FROM facts WHERE new IS NOT NULL
            UNION ALL SELECT side, account_id, mode, 'month', created_at, currency, old, -1, 0 FROM facts WHERE old IS NOT NULL
            UNION ALL SELECT side, account_id, mode, 'offered', created_at, currency, unnest(methods), 1, 0 FROM facts
            UNION ALL SELECT side, account_id, mode, 'paid', created_at, currency, paid_with, 1, amount FROM facts WHERE paid_at IS NOT NULL
            UNION ALL SELECT side, account_id, mode, 'settled', paid_at, currency, paid_with, 1, amount FROM facts WHERE paid_at IS NOT NULL
            UNION ALL SELECT side, account_id, mode, 'wait', created_at, currency, NULL, 1,
              floor(greatest(0, extract(epoch FROM paid_at) - extract(epoch FROM created_at))) FROM facts WHERE paid_at IS NOT NULL
            UNION ALL SELECT side, account_id, mode, 'wait_month', created_at, currency, NULL, 1,
              floor(greatest(0, extract(epoch FROM paid_at) - extract(epoch FROM created_at))) FROM facts WHERE paid_at IS NOT NULL
            UNION ALL SELECT side, account_id, mode, 'refunded', created_at, currency, 'all', 1, amount FROM facts WHERE refund_id IS NOT NULL
          ), placed AS (
            SELECT side, account_id, mode, kind, CASE kind WHEN 'hour' THEN date_trunc('hour', created_at, 'UTC')
              WHEN 'month' THEN date_trunc('month', created_at, 'America/Sao_Paulo')
              WHEN 'wait_month' THEN date_trunc('month', created_at, 'America/Sao_Paulo')
              ELSE date_trunc('day', created_at, 'America/Sao_Paulo') END AS bucket, currency, key, count, amount FROM counted
            UNION ALL SELECT 'kept', account_id, mode, kind, bucket, currency, CASE WHEN kind NOT LIKE 'wait%' THEN key END, count, amount
            FROM transaction_figures
          )
          SELECT account_id, mode, kind, bucket, currency, key FROM placed GROUP BY 1, 2, 3, 4, 5, 6
          HAVING sum(count * CASE side WHEN 'kept' THEN 1 ELSE -1 END) <> 0 OR sum(amount * CASE side WHEN 'kept' THEN 1 ELSE -1 END) <> 0`,
  },
  {
    name: 'pending is what waits for its releases, which are what each sale has put there',
    sql: `SELECT account_id, mode, currency FROM (
            SELECT account_id, mode, currency, amount FROM balances WHERE bucket = 'pending') b
          FULL JOIN (
            SELECT account_id, mode, currency, sum(amount) AS waits FROM releases WHERE released_at IS NULL GROUP BY 1, 2, 3) r
          USING (account_id, mode, currency) WHERE coalesce(b.amount, 0) <> coalesce(r.waits, 0)
          UNION ALL
          SELECT r.account_id, r.mode, r.currency FROM releases r LEFT JOIN transactions t ON t.id = r.transaction_id
          WHERE (r.account_id, r.mode, r.currency) IS DISTINCT FROM (t.account_id, t.mode, t.currency) OR r.release_at < t.paid_at
          UNION ALL
          SELECT j.account_id, j.mode, j.currency FROM (
            SELECT transaction_id, sum(amount) AS waits FROM releases GROUP BY 1) r
          FULL JOIN (
            SELECT e.transaction_id, l.account_id, l.mode, l.currency, l.amount FROM journal_entries e JOIN journal_lines l ON l.entry_id = e.id
            WHERE e.type = 'sale' AND l.bucket = 'pending') j
          USING (transaction_id) WHERE r.waits IS DISTINCT FROM j.amount`,
  },
  {
    name: 'each return is of a payment that goes back, or was refused and an operator has assigned or closed the payment',
    sql: `SELECT r.id FROM pix_returns r WHERE NOT EXISTS (
            SELECT 1 FROM settlements s
            WHERE (s.account_id, s.acquirer, s.end_to_end_id, s.amount) = (r.account_id, r.acquirer, r.end_to_end_id, r.amount)
              AND CASE s.outcome
                WHEN 'returned' THEN s.transaction_id IS NOT DISTINCT FROM r.transaction_id
                WHEN 'closed' THEN s.transaction_id IS NOT DISTINCT FROM r.transaction_id AND r.status = 'FAILED'
                WHEN 'credited' THEN r.transaction_id IS NULL AND r.status = 'FAILED' END)`,
  },
  {
    name: 'each entry follows from something that is there',
    sql: `SELECT e.id, e.cause FROM journal_entries e LEFT JOIN transactions t ON t.id = e.transaction_id AND t.paid_at IS NOT NULL
          WHERE (e.type = 'sale' AND e.cause IS DISTINCT FROM 'charge.paid:' || t.id)
            OR (e.type = 'release' AND (e.cause IN ('release:' || t.id, 'release.reserve:' || t.id)) IS NOT TRUE)
          UNION ALL
          SELECT e.id, e.cause FROM (
            SELECT id, cause, split_part(cause, ':', 1) AS kind, split_part(cause, ':', 2) AS subject
            FROM journal_entries WHERE type NOT IN ('sale', 'release')) e
          LEFT JOIN (
            SELECT 'refund' AS of, id::text AS subject FROM refunds UNION ALL SELECT 'med', id::text FROM med_cases
            UNION ALL SELECT 'suspense', id::text FROM settlements UNION ALL SELECT 'suspense', id::text FROM pix_returns
            UNION ALL SELECT 'correction', id::text FROM corrections WHERE status = 'applied'
            UNION ALL SELECT 'payout', id::text FROM payouts
            UNION ALL SELECT 'provider_fee', id::text FROM payouts WHERE provider_fee > 0
            UNION ALL SELECT 'provider_fee', id::text FROM settlements WHERE provider_fee > 0
            UNION ALL SELECT 'provider_fee', id::text FROM refunds WHERE provider_fee > 0
            UNION ALL SELECT 'provider_fee', id::text FROM pix_returns WHERE provider_fee > 0
            UNION ALL SELECT 'provider_fee', id::text FROM transactions WHERE provider_fee > 0) s
            ON s.subject = e.subject AND s.of = split_part(e.kind, '.', 1)
          WHERE s.subject IS NULL`,
  },
  {
    name: 'what acquirers have charged is the fees of what came and went back, and what operators have entered',
    sql: `SELECT * FROM (
            SELECT account_id, mode, currency, sum(amount) AS amount FROM journal_lines WHERE bucket = 'provider_fees' GROUP BY 1, 2, 3) l
          FULL JOIN (
            SELECT account_id, mode, currency, sum(fee) AS fee FROM (
              SELECT s.account_id, s.mode, coalesce(t.currency, 'BRL') AS currency, s.provider_fee AS fee
              FROM settlements s LEFT JOIN transactions t ON t.id = s.transaction_id WHERE s.account_id IS NOT NULL
              UNION ALL SELECT account_id, mode, currency, provider_fee FROM refunds
              UNION ALL SELECT account_id, mode, currency, provider_fee FROM pix_returns
              UNION ALL SELECT account_id, mode, currency, provider_fee FROM payouts
              UNION ALL SELECT account_id, mode, currency, amount FROM corrections WHERE kind = 'bank_fee' AND status = 'applied') c
            GROUP BY 1, 2, 3) c
          USING (account_id, mode, currency) WHERE coalesce(l.amount, 0) <> coalesce(c.fee, 0)`,
  },
  {
    name: 'the acquirer’s fee of a sale is that of its Pix, and never more than the sale',
    sql: `SELECT t.id FROM transactions t JOIN settlements s ON s.transaction_id = t.id AND s.outcome = 'credited'
          WHERE t.provider_fee <> least(s.provider_fee, t.amount)`,
  },
  {
    name: 'released money was scheduled, and scheduled money that was released is in the journal',
    sql: `SELECT r.id FROM releases r WHERE (r.released_at IS NOT NULL) <> EXISTS (
            SELECT 1 FROM journal_entries e WHERE e.cause = CASE r.kind WHEN 'reserve' THEN 'release.reserve:' ELSE 'release:' END || r.transaction_id)`,
  },
  {
    name: 'the refunds of a payment that have not failed never exceed it, and are what the payment counts, cashouts apart',
    sql: `SELECT t.id FROM transactions t LEFT JOIN (
            SELECT transaction_id, sum(amount) AS amount, sum(amount) FILTER (WHERE way = 'cashout') AS cashouts
            FROM refunds WHERE status <> 'FAILED' GROUP BY 1) r
            ON r.transaction_id = t.id
          WHERE coalesce(r.amount, 0) <> t.refunds_amount OR coalesce(r.cashouts, 0) <> t.cashouts_amount
            OR coalesce(r.amount, 0) > t.amount`,
  },
  {
    name: 'what cases hold and have lost of a payment is what the payment counts, and with its devolutions never exceeds it',
    sql: `SELECT t.id FROM transactions t LEFT JOIN (
            SELECT transaction_id, sum(held_amount + lost_amount) AS amount FROM med_cases GROUP BY 1) c ON c.transaction_id = t.id
          WHERE coalesce(c.amount, 0) <> t.disputed_amount OR t.refunds_amount - t.cashouts_amount + t.disputed_amount > t.amount`,
  },
  {
    name: 'what operators have entered as lost of a payment is what the payment counts, and with its refunds never exceeds it, nor with its devolutions and disputes',
    sql: `SELECT t.id FROM transactions t LEFT JOIN (
            SELECT transaction_id, sum(amount) AS amount FROM corrections
            WHERE kind = 'loss' AND status = 'applied' AND transaction_id IS NOT NULL GROUP BY 1) l ON l.transaction_id = t.id
          WHERE coalesce(l.amount, 0) <> t.losses_amount OR (t.losses_amount > 0
            AND t.losses_amount + greatest(t.refunds_amount, t.refunds_amount - t.cashouts_amount + t.disputed_amount) > t.amount)`,
  },
  {
    name: 'each case holds and has lost what its journal entries say, in the account and mode of its charge',
    sql: `SELECT c.id, c.status, c.held_amount, c.lost_amount FROM med_cases c JOIN transactions t ON t.id = c.transaction_id LEFT JOIN (
            SELECT split_part(e.cause, ':', 2)::uuid AS id, sum(l.amount) FILTER (WHERE l.bucket = 'retained') AS held,
              sum(l.amount) FILTER (WHERE l.bucket = 'clearing') AS lost, bool_and((e.account_id, e.mode) = (x.account_id, x.mode)) AS own
            FROM journal_entries e JOIN journal_lines l ON l.entry_id = e.id JOIN transactions x ON x.id = e.transaction_id
            WHERE e.cause LIKE 'med.%' GROUP BY 1) j ON j.id = c.id
          WHERE coalesce(j.held, 0) <> c.held_amount OR coalesce(j.lost, 0) <> c.lost_amount OR NOT coalesce(j.own, true)
            OR (c.account_id, c.mode, c.currency, c.acquirer) IS DISTINCT FROM (t.account_id, t.mode, t.currency, t.acquirer)`,
  },
  {
    name: 'what disputes retain is what the cases that are not over hold',
    sql: `SELECT * FROM (
            SELECT l.account_id, l.mode, l.currency, sum(l.amount) AS retained FROM journal_lines l JOIN journal_entries e ON e.id = l.entry_id
            WHERE l.bucket = 'retained' AND e.cause LIKE 'med.%' GROUP BY 1, 2, 3) j
          FULL JOIN (
            SELECT account_id, mode, currency, sum(held_amount) AS held FROM med_cases WHERE visible AND status IN ('open', 'appealed')
            GROUP BY 1, 2, 3) c
          USING (account_id, mode, currency) WHERE coalesce(j.retained, 0) <> coalesce(c.held, 0)`,
  },
  {
    name: 'a case has an outcome when it is over, and its money is where the outcome says',
    sql: `SELECT c.id, c.status, c.money_outcome FROM med_cases c WHERE c.visible AND (
            (c.status IN ('open', 'appealed')) <> (c.money_outcome IS NULL) OR (c.money_outcome IS NULL) <> (c.closed_at IS NULL)
            OR (c.lost_amount > 0 AND coalesce(c.money_outcome, '') NOT IN ('lost', 'closed_without_refund')))
          UNION ALL SELECT c.id, c.status, c.money_outcome FROM med_cases c WHERE NOT c.visible AND (c.held_amount > 0 OR c.lost_amount > 0)`,
  },
  {
    name: 'each case that the merchant sees was told of when it opened and when it ended, once, and no other was',
    ofEvents: true,
    sql: `SELECT * FROM (
            SELECT id, 'med_case.opened' AS type FROM med_cases WHERE visible
            UNION ALL SELECT id, 'med_case.resolved' FROM med_cases WHERE visible AND money_outcome IS NOT NULL) c
          FULL JOIN (
            SELECT subject_id AS id, type, count(*) AS count FROM events
            WHERE type IN ('med_case.opened', 'med_case.resolved') GROUP BY 1, 2) v
          USING (id, type) WHERE v.count IS DISTINCT FROM 1 OR c.id IS NULL`,
  },
  {
    name: 'each correction of a case has its event, which tells what was moved',
    ofEvents: true,
    sql: `SELECT * FROM (
            SELECT split_part(e.cause, ':', 2) AS id, l.amount FROM journal_entries e JOIN journal_lines l ON l.entry_id = e.id
            WHERE e.cause LIKE 'med.corrected:%' AND l.bucket = 'clearing') j
          FULL JOIN (
            SELECT subject_id::text AS id, (data ->> 'taken')::bigint AS amount FROM events
            WHERE type = 'med_case.corrected' AND data ->> 'taken' <> '0') v
          USING (id, amount) WHERE j.id IS NULL OR v.id IS NULL`,
  },
  {
    name: 'a payment is disputed while a case holds something of it, and without an open one only when cases have taken all that devolutions and losses left',
    sql: `SELECT * FROM (
            SELECT t.id, t.status, t.status IN ('DISPUTE', 'CHARGEBACK') AS disputed, t.status = 'REFUNDED' AND t.cashouts_amount > 0 AS given_back,
              EXISTS (SELECT 1 FROM med_cases c WHERE c.transaction_id = t.id AND c.held_amount > 0) AS held,
              EXISTS (
                SELECT 1 FROM med_cases c WHERE c.transaction_id = t.id AND c.payment_reference = t.end_to_end_id
                  AND c.visible AND c.status IN ('open', 'appealed')) AS open,
              t.refunds_amount - t.cashouts_amount + t.disputed_amount + t.losses_amount = t.amount AND EXISTS (
                SELECT 1 FROM med_cases c WHERE c.transaction_id = t.id AND c.lost_amount > 0) AS lost
            FROM transactions t WHERE t.paid_at IS NOT NULL) t
          WHERE (held AND NOT disputed AND NOT given_back) OR (disputed AND NOT open AND NOT lost)`,
  },
  {
    name: 'only paid money is refunded, in its own currency, account and mode, and to where it came from',
    sql: `SELECT r.id FROM refunds r JOIN transactions t ON t.id = r.transaction_id
          WHERE t.paid_at IS NULL OR (r.account_id, r.mode, r.currency, r.acquirer, r.payment_reference)
            IS DISTINCT FROM (t.account_id, t.mode, t.currency, t.acquirer, t.end_to_end_id)`,
  },
  {
    name: 'a payment is REFUNDED when its refunds have brought all of it back, and only then',
    sql: `SELECT t.id, t.status FROM transactions t LEFT JOIN (
            SELECT transaction_id, sum(amount) AS amount FROM refunds WHERE status = 'REFUNDED' GROUP BY 1) r
            ON r.transaction_id = t.id
          WHERE t.paid_at IS NOT NULL AND t.status NOT IN ('DISPUTE', 'CHARGEBACK')
            AND (t.status = 'REFUNDED') <> (coalesce(r.amount, 0) = t.amount)`,
  },
  {
    name: 'the reserved balance is what the open refunds and payouts have set aside',
    sql: `SELECT * FROM (
            SELECT account_id, mode, currency, amount FROM balances WHERE bucket = 'reserved') b
          FULL JOIN (
            SELECT account_id, mode, currency, sum(amount + fee) AS open FROM (
              SELECT account_id, mode, currency, amount, fee FROM refunds WHERE status IN ('PENDING', 'IN_PROGRESS')
              UNION ALL SELECT account_id, mode, currency, amount, fee FROM payouts
              WHERE status IN ('AWAITING', 'QUEUED', 'SENDING')) o GROUP BY 1, 2, 3) r
          USING (account_id, mode, currency) WHERE coalesce(b.amount, 0) <> coalesce(r.open, 0)`,
  },
  {
    name: 'each refund is in the journal as its status says: reserved, then released if it failed, paid if it did not',
    sql: `SELECT r.id, r.status FROM refunds r
          LEFT JOIN journal_lines reserved ON reserved.bucket = 'available' AND reserved.entry_id =
            (SELECT e.id FROM journal_entries e WHERE e.cause = 'refund.reserved:' || r.id)
          LEFT JOIN journal_lines released ON released.bucket = 'available' AND released.entry_id =
            (SELECT e.id FROM journal_entries e WHERE e.cause = 'refund.released:' || r.id)
          LEFT JOIN journal_lines paid ON paid.bucket = 'clearing' AND paid.entry_id =
            (SELECT e.id FROM journal_entries e WHERE e.cause = 'refund.paid:' || r.id)
          WHERE reserved.amount IS DISTINCT FROM -(r.amount + r.fee)
            OR released.amount IS DISTINCT FROM (CASE r.status WHEN 'FAILED' THEN r.amount + r.fee END)
            OR paid.amount IS DISTINCT FROM (CASE r.status WHEN 'REFUNDED' THEN r.amount END)`,
  },
  {
    name: 'each change of a refund has its event, once, and no other has one',
    ofEvents: true,
    sql: `SELECT * FROM (
            SELECT id, 'refund.returned' AS type FROM refunds WHERE status = 'REFUNDED'
            UNION ALL SELECT id, 'refund.failed' FROM refunds WHERE status = 'FAILED'
            UNION ALL SELECT id, 'refund.sent' FROM refunds WHERE status IN ('IN_PROGRESS', 'REFUNDED')
              OR (status = 'FAILED' AND failure_reason <> 'charge_disputed')) r
          FULL JOIN (
            SELECT (data -> 'refund' ->> 'id')::uuid AS id, type, count(*) AS count FROM events
            WHERE type LIKE 'refund.%' GROUP BY 1, 2) v
          USING (id, type) WHERE v.count IS DISTINCT FROM 1 OR r.id IS NULL`,
  },
  {
    name: 'each payout is in the journal as its status says: reserved, then released, or paid and its returns given back, with the fee once all is back',
    sql: `SELECT p.id, p.status FROM payouts p, LATERAL (
            SELECT sum(l.amount) FILTER (WHERE l.bucket = 'available') AS available,
              sum(l.amount) FILTER (WHERE l.bucket = 'reserved') AS reserved,
              sum(l.amount) FILTER (WHERE l.bucket = 'clearing') AS clearing
            FROM journal_entries e JOIN journal_lines l ON l.entry_id = e.id
            WHERE e.type <> 'sale' AND e.type <> 'release' AND split_part(e.cause, ':', 2) = p.id::text AND e.cause LIKE 'payout.%') j
          WHERE (coalesce(j.available, 0), coalesce(j.reserved, 0), coalesce(j.clearing, 0)) IS DISTINCT FROM (
            CASE WHEN p.status IN ('FAILED', 'CANCELLED') THEN 0
              WHEN p.status = 'REFUNDED' THEN 0
              WHEN p.status = 'PAID' THEN p.amount_returned - p.amount - p.fee ELSE -(p.amount + p.fee) END,
            CASE WHEN p.status IN ('AWAITING', 'QUEUED', 'SENDING') THEN p.amount + p.fee ELSE 0 END,
            CASE WHEN p.status IN ('PAID', 'REFUNDED') THEN p.amount - p.amount_returned ELSE 0 END)`,
  },
  {
    name: 'each payout has the event of its request, and of its end once it has one',
    ofEvents: true,
    sql: `SELECT p.id, p.status FROM payouts p LEFT JOIN LATERAL (
            SELECT count(*) FILTER (WHERE e.type = 'payout.requested') AS requested,
              count(*) FILTER (WHERE e.type = 'payout.paid') AS paid,
              count(*) FILTER (WHERE e.type = 'payout.ended') AS ended,
              count(*) FILTER (WHERE e.type = 'payout.returned') AS returned
            FROM events e WHERE e.subject_id = p.id) v ON true
          WHERE v.requested <> 1 OR v.paid <> CASE WHEN p.paid_at IS NULL THEN 0 ELSE 1 END
            OR v.ended <> CASE WHEN p.status IN ('FAILED', 'CANCELLED') THEN 1 ELSE 0 END
            OR v.returned <> (SELECT count(*) FROM payout_returns r WHERE r.payout_id = p.id)`,
  },
  {
    name: 'the sandbox bank has paid what is PAID or REFUNDED, and nothing of what never reached it',
    sql: `SELECT p.id, p.status FROM payouts p LEFT JOIN sandbox_payouts b
            ON b.holder_id = p.account_id AND b.send_id = replace(p.id::text, '-', '') AND b.requested_at IS NOT NULL
          WHERE p.acquirer = 'sandbox' AND (
            (p.status IN ('PAID', 'REFUNDED') AND b.amount IS DISTINCT FROM p.amount)
            OR (p.status = 'REFUNDED' AND b.state = 'failed')
            OR (p.status IN ('AWAITING', 'CANCELLED') AND b.send_id IS NOT NULL))`,
  },
  {
    name: 'the sandbox bank has sent back what is REFUNDED, nothing of what FAILED, and nothing twice',
    sql: `SELECT r.id, r.status FROM refunds r LEFT JOIN sandbox_returns b
            ON b.holder_id = r.account_id AND b.end_to_end_id = r.payment_reference AND b.return_id = replace(r.id::text, '-', '')
              AND NOT b.fails AND b.amount = r.amount AND b.way = r.way
          WHERE r.acquirer = 'sandbox' AND (
            (r.status = 'REFUNDED' AND b.return_id IS NULL) OR (r.status IN ('PENDING', 'FAILED') AND b.return_id IS NOT NULL))
          UNION ALL
          SELECT NULL, b.return_id FROM sandbox_returns b
          WHERE NOT EXISTS (SELECT 1 FROM refunds r WHERE replace(r.id::text, '-', '') = b.return_id)
            AND NOT EXISTS (SELECT 1 FROM pix_returns p WHERE p.return_id = b.return_id)`,
  },
];

type Row = Record<string, unknown>;

/**
 * The broken promises by their names, each with its first rows; empty when everything is right.
 * @param ask queries the database for the rows of a statement; the statement's own name lets its plan be kept
 */
export async function brokenPromises(
  ask: (sql: string, statement: string) => Promise<Row[]>,
): Promise<Record<string, Row[]>> {
  const broken: Record<string, Row[]> = {};
  for (const [index, { name, sql }] of CHECKS.entries()) {
    const rows = await ask(sql, `coherence_${index}`);
    if (rows.length > 0) broken[name] = rows.slice(0, 5);
  }
  return broken;
}
