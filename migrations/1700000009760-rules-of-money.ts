import type { MigrationInterface, QueryRunner } from 'typeorm';

const BUCKETS = `('available', 'pending', 'retained', 'reserved', 'platform_fees', 'provider_fees', 'clearing')`;

/** The moves of the machines, as `from>to`; a spec compares them with the machines. */
const TRANSACTION_MOVES = [
  ...['PENDING>WAITING_PAYMENT', 'PENDING>REFUSED', 'PENDING>CANCELLED'],
  ...['PAID', 'APPROVED', 'PROCESSING', 'REFUNDED', 'EXPIRED', 'REFUSED', 'CANCELLED'].map(
    (to) => `WAITING_PAYMENT>${to}`,
  ),
  ...['PAID', 'APPROVED', 'REFUNDED', 'EXPIRED', 'REFUSED', 'CANCELLED'].map((to) => `PROCESSING>${to}`),
  ...['PAID>REFUNDED', 'PAID>DISPUTE', 'APPROVED>REFUNDED', 'APPROVED>DISPUTE', 'APPROVED>CHARGEBACK'],
  ...['DISPUTE>PAID', 'DISPUTE>APPROVED', 'DISPUTE>CHARGEBACK', 'CHARGEBACK>APPROVED'],
];
const REFUND_MOVES = ['PENDING>IN_PROGRESS', 'PENDING>FAILED', 'IN_PROGRESS>REFUNDED', 'IN_PROGRESS>FAILED'];
const CASE_MOVES = [
  ...['open>appealed', 'open>accepted', 'open>closed', 'appealed>closed', 'appealed>rejected'],
  ...['accepted>closed', 'rejected>closed'],
];

const fixed = (table: string, columns: readonly string[]): string => {
  const of = (row: string): string => `(${columns.map((column) => `${row}.${column}`).join(', ')})`;
  return `CREATE TRIGGER ${table}_fixed BEFORE UPDATE OF ${columns.join(', ')} ON ${table} FOR EACH ROW
    WHEN (${of('OLD')} IS DISTINCT FROM ${of('NEW')}) EXECUTE FUNCTION refuse_rewrite();`;
};
const moves = (table: string, legal: readonly string[], unless = 'false'): string =>
  `CREATE TRIGGER ${table}_moves BEFORE UPDATE OF status ON ${table} FOR EACH ROW
    WHEN (OLD.status <> NEW.status AND NOT (${unless}) AND OLD.status || '>' || NEW.status NOT IN ('${legal.join(`', '`)}'))
    EXECUTE FUNCTION refuse_rewrite();`;

/**
 * What PostgreSQL accepts from the service's own role is no wrong book: rules of money that so far only code has kept.
 * What must hold at the end of a database transaction is checked there (deferred constraint triggers).
 */
export class RulesOfMoney1700000009760 implements MigrationInterface {
  readonly name = 'RulesOfMoney1700000009760';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE balances ADD CONSTRAINT balances_bucket_check CHECK (bucket IN ${BUCKETS});
      ALTER TABLE journal_lines ADD CONSTRAINT journal_lines_bucket_check CHECK (bucket IN ${BUCKETS});
      ALTER TABLE med_cases
        ADD CONSTRAINT med_cases_held_check CHECK (held_amount = 0
          OR (held_amount BETWEEN 1 AND amount AND visible AND status IN ('open', 'appealed'))),
        ADD CONSTRAINT med_cases_lost_check CHECK (lost_amount = 0
          OR (lost_amount BETWEEN 1 AND amount AND visible AND status NOT IN ('open', 'appealed')));

      -- An entry and its lines are inserted by one statement, so both can be checked at its end.
      CREATE OR REPLACE FUNCTION refuse_unbalanced() RETURNS trigger LANGUAGE plpgsql AS $$
      DECLARE wrong uuid;
      BEGIN
        SELECT entry_id INTO wrong FROM inserted GROUP BY entry_id HAVING sum(amount) <> 0 OR count(*) < 2 LIMIT 1;
        IF FOUND THEN
          RAISE EXCEPTION 'journal entry % does not sum to zero', wrong;
        END IF;
        SELECT i.entry_id INTO wrong FROM inserted i JOIN journal_entries e ON e.id = i.entry_id
        WHERE (i.account_id, i.mode, i.currency, i.number, i.created_at) <> (e.account_id, e.mode, e.currency, e.number, e.created_at)
        LIMIT 1;
        IF FOUND THEN
          RAISE EXCEPTION 'journal entry % has lines of another wallet, number or time', wrong;
        END IF;
        SELECT l.entry_id INTO wrong FROM journal_lines l WHERE l.entry_id IN (SELECT entry_id FROM inserted)
        GROUP BY l.entry_id HAVING count(*) > (SELECT count(*) FROM inserted i WHERE i.entry_id = l.entry_id) LIMIT 1;
        IF FOUND THEN
          RAISE EXCEPTION 'journal entry % has its lines already', wrong;
        END IF;
        RETURN NULL;
      END $$;
      CREATE FUNCTION refuse_empty_entry() RETURNS trigger LANGUAGE plpgsql AS $$
      DECLARE wrong uuid;
      BEGIN
        SELECT i.id INTO wrong FROM inserted i WHERE NOT EXISTS (SELECT 1 FROM journal_lines l WHERE l.entry_id = i.id) LIMIT 1;
        IF FOUND THEN
          RAISE EXCEPTION 'journal entry % has no lines', wrong;
        END IF;
        RETURN NULL;
      END $$;
      CREATE TRIGGER journal_entries_have_lines AFTER INSERT ON journal_entries
        REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION refuse_empty_entry();

      -- Its tables keep their rows: the service's role may not delete from them (src/core/database/service-role.ts).
      CREATE FUNCTION refuse_rewrite() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        RAISE EXCEPTION '% %: % does not become %', TG_TABLE_NAME, TG_NAME, to_jsonb(OLD), to_jsonb(NEW);
      END $$;
      ${fixed('balances', ['account_id', 'mode', 'currency', 'bucket'])}
      -- No CHECK, which also looks at what an upsert would add.
      CREATE TRIGGER balances_held AFTER INSERT OR UPDATE OF amount ON balances FOR EACH ROW
        WHEN (NEW.amount < 0 AND NEW.bucket IN ('pending', 'retained', 'reserved')) EXECUTE FUNCTION refuse_rewrite();
      ${fixed('transactions', ['account_id', 'mode', 'amount', 'currency', 'created_at'])}
      CREATE TRIGGER transactions_paid_once BEFORE UPDATE OF paid_at, paid_with, end_to_end_id, provider_fee, platform_fee, net_amount
        ON transactions FOR EACH ROW
        WHEN (OLD.paid_at IS NOT NULL
          AND (OLD.paid_at, OLD.paid_with, OLD.end_to_end_id, OLD.provider_fee, OLD.platform_fee, OLD.net_amount)
            IS DISTINCT FROM (NEW.paid_at, NEW.paid_with, NEW.end_to_end_id, NEW.provider_fee, NEW.platform_fee, NEW.net_amount))
        EXECUTE FUNCTION refuse_rewrite();
      ${moves('transactions', TRANSACTION_MOVES)}
      ${fixed('settlements', [
        ...[
          'account_id',
          'mode',
          'transaction_id',
          'acquirer',
          'namespace',
          'end_to_end_id',
          'txid',
          'amount',
          'method',
        ],
        ...['settled_at', 'created_at'],
      ])}
      CREATE TRIGGER settlements_moves BEFORE UPDATE OF outcome ON settlements FOR EACH ROW
        WHEN (OLD.outcome <> NEW.outcome AND (OLD.outcome <> 'review' OR NEW.outcome NOT IN ('credited', 'returned')))
        EXECUTE FUNCTION refuse_rewrite();
      ${fixed('refunds', [
        ...[
          'account_id',
          'mode',
          'transaction_id',
          'acquirer',
          'payment_reference',
          'way',
          'amount',
          'fee',
          'currency',
        ],
        'created_at',
      ])}
      ${moves('refunds', REFUND_MOVES)}
      ${fixed('med_cases', ['account_id', 'mode', 'transaction_id', 'acquirer', 'reference', 'type', 'currency'])}
      ${moves('med_cases', CASE_MOVES, 'NOT OLD.visible')}

      CREATE FUNCTION check_paid() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF NOT EXISTS (
            SELECT 1 FROM settlements s WHERE s.transaction_id = NEW.id AND s.outcome = 'credited' AND s.amount = NEW.amount)
          OR NOT EXISTS (SELECT 1 FROM journal_entries e WHERE e.cause = 'charge.paid:' || NEW.id) THEN
          RAISE EXCEPTION 'transaction % is paid without a credited settlement of its amount and a journal entry', NEW.id;
        END IF;
        RETURN NULL;
      END $$;
      CREATE CONSTRAINT TRIGGER transactions_made_paid AFTER INSERT ON transactions
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.paid_at IS NOT NULL) EXECUTE FUNCTION check_paid();
      CREATE CONSTRAINT TRIGGER transactions_paid AFTER UPDATE OF paid_at ON transactions
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (OLD.paid_at IS NULL AND NEW.paid_at IS NOT NULL)
        EXECUTE FUNCTION check_paid();

      CREATE FUNCTION check_taken() RETURNS trigger LANGUAGE plpgsql AS $$
      DECLARE sale uuid;
      BEGIN
        IF TG_TABLE_NAME = 'transactions' THEN sale := NEW.id; ELSE sale := NEW.transaction_id; END IF;
        PERFORM 1 FROM transactions t, LATERAL (
            SELECT coalesce(sum(amount), 0) AS refunded, coalesce(sum(amount) FILTER (WHERE way = 'cashout'), 0) AS cashed_out
            FROM refunds r WHERE r.transaction_id = t.id AND r.status <> 'FAILED') r, LATERAL (
            SELECT coalesce(sum(held_amount + lost_amount), 0) AS disputed FROM med_cases c WHERE c.transaction_id = t.id) c
          WHERE t.id = sale
            AND (t.refunds_amount, t.cashouts_amount, t.disputed_amount) <> (r.refunded, r.cashed_out, c.disputed);
        IF FOUND THEN
          RAISE EXCEPTION 'transaction %: its refunds and cases are not what it says that they have taken', sale;
        END IF;
        RETURN NULL;
      END $$;
      CREATE CONSTRAINT TRIGGER transactions_taken AFTER UPDATE OF refunds_amount, cashouts_amount, disputed_amount ON transactions
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION check_taken();
      CREATE CONSTRAINT TRIGGER refunds_taken AFTER INSERT OR UPDATE OF status ON refunds
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION check_taken();
      CREATE CONSTRAINT TRIGGER med_cases_made_taking AFTER INSERT ON med_cases
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.held_amount + NEW.lost_amount <> 0) EXECUTE FUNCTION check_taken();
      CREATE CONSTRAINT TRIGGER med_cases_taken AFTER UPDATE OF held_amount, lost_amount ON med_cases
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION check_taken();

      CREATE FUNCTION check_refund_posted() RETURNS trigger LANGUAGE plpgsql AS $$
      DECLARE wanted text := CASE NEW.status WHEN 'REFUNDED' THEN 'refund.paid:' WHEN 'FAILED' THEN 'refund.released:'
        ELSE 'refund.reserved:' END || NEW.id;
      BEGIN
        IF NOT EXISTS (SELECT 1 FROM journal_entries e WHERE e.cause = wanted) THEN
          RAISE EXCEPTION 'refund % is % without the journal entry %', NEW.id, NEW.status, wanted;
        END IF;
        RETURN NULL;
      END $$;
      CREATE CONSTRAINT TRIGGER refunds_posted AFTER INSERT OR UPDATE OF status ON refunds
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION check_refund_posted();
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP FUNCTION check_refund_posted() CASCADE;
      DROP FUNCTION check_taken() CASCADE;
      DROP FUNCTION check_paid() CASCADE;
      DROP FUNCTION refuse_rewrite() CASCADE;
      DROP FUNCTION refuse_empty_entry() CASCADE;
      CREATE OR REPLACE FUNCTION refuse_unbalanced() RETURNS trigger LANGUAGE plpgsql AS $$
      DECLARE unbalanced uuid;
      BEGIN
        SELECT entry_id INTO unbalanced FROM inserted GROUP BY entry_id HAVING sum(amount) <> 0 OR count(*) < 2 LIMIT 1;
        IF FOUND THEN
          RAISE EXCEPTION 'journal entry % does not sum to zero', unbalanced;
        END IF;
        RETURN NULL;
      END $$;
      ALTER TABLE med_cases DROP CONSTRAINT med_cases_lost_check, DROP CONSTRAINT med_cases_held_check;
      ALTER TABLE journal_lines DROP CONSTRAINT journal_lines_bucket_check;
      ALTER TABLE balances DROP CONSTRAINT balances_bucket_check;
    `);
  }
}
