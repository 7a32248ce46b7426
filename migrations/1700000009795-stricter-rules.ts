import type { MigrationInterface, QueryRunner } from 'typeorm';

const RETURN_MOVES = [
  'PENDING>IN_PROGRESS',
  'PENDING>RETURNED',
  'PENDING>FAILED',
  'IN_PROGRESS>RETURNED',
  'IN_PROGRESS>FAILED',
];

const IDENTITIES: Readonly<Record<string, { readonly before: readonly string[]; readonly more: readonly string[] }>> = {
  transactions: { before: ['account_id', 'mode', 'amount', 'currency', 'created_at'], more: ['id', 'acquirer'] },
  settlements: {
    before: [
      ...['account_id', 'mode', 'transaction_id', 'acquirer', 'namespace', 'end_to_end_id', 'txid', 'amount', 'method'],
      ...['settled_at', 'created_at'],
    ],
    more: ['id', 'provider_fee'],
  },
  refunds: {
    before: [
      ...['account_id', 'mode', 'transaction_id', 'acquirer', 'payment_reference', 'way', 'amount', 'fee', 'currency'],
      'created_at',
    ],
    more: ['id'],
  },
  med_cases: {
    before: ['account_id', 'mode', 'transaction_id', 'acquirer', 'reference', 'type', 'currency'],
    more: ['id'],
  },
  pix_returns: {
    before: [],
    more: [
      ...['id', 'account_id', 'mode', 'transaction_id', 'acquirer', 'end_to_end_id', 'return_id', 'way', 'amount'],
      ...['currency', 'reason', 'created_at'],
    ],
  },
  releases: {
    before: [],
    more: ['id', 'account_id', 'mode', 'currency', 'transaction_id', 'amount', 'release_at'],
  },
};

const fixed = (table: string, columns: readonly string[]): string => {
  const of = (row: string): string => `(${columns.map((column) => `${row}.${column}`).join(', ')})`;
  return `CREATE TRIGGER ${table}_fixed BEFORE UPDATE OF ${columns.join(', ')} ON ${table} FOR EACH ROW
    WHEN (${of('OLD')} IS DISTINCT FROM ${of('NEW')}) EXECUTE FUNCTION refuse_rewrite();`;
};

/** @param line of the journal: what it must be, in terms of NEW */
const hasLine = (cause: string, line: string): string => `EXISTS (
  SELECT 1 FROM journal_entries e JOIN journal_lines l ON l.entry_id = e.id
  WHERE e.cause = ${cause} AND (l.account_id, l.mode) = (NEW.account_id, NEW.mode) AND ${line})`;

/**
 * What the database still took: a sale that is paid with its status alone, a return of a Pix that was credited, a release
 * of what nobody was credited with or before its day, and entries of another amount or account than what they are for.
 */
export class StricterRules1700000009795 implements MigrationInterface {
  readonly name = 'StricterRules1700000009795';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ${Object.entries(IDENTITIES)
        .map(
          ([table, { before, more }]) => `${before.length > 0 ? `DROP TRIGGER ${table}_fixed ON ${table};` : ''}
      ${fixed(table, [...before, ...more])}`,
        )
        .join('\n')}
      ALTER TABLE transactions ADD CONSTRAINT transactions_paid_check
        CHECK (paid_at IS NOT NULL OR status NOT IN ('PAID', 'APPROVED', 'DISPUTE', 'CHARGEBACK'));
      -- Erasing a customer takes the lock off what nobody can pay any more.
      CREATE TRIGGER transactions_payer_kept BEFORE UPDATE OF expected_payer_tax_id ON transactions FOR EACH ROW
        WHEN (OLD.expected_payer_tax_id IS DISTINCT FROM NEW.expected_payer_tax_id
          AND (NEW.expected_payer_tax_id IS NOT NULL OR NEW.status IN ('PENDING', 'WAITING_PAYMENT', 'PROCESSING')))
        EXECUTE FUNCTION refuse_rewrite();

      CREATE OR REPLACE FUNCTION check_paid() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF NOT EXISTS (
            SELECT 1 FROM settlements s WHERE s.transaction_id = NEW.id AND s.outcome = 'credited' AND s.amount = NEW.amount)
          OR NOT ${hasLine(`'charge.paid:' || NEW.id`, `l.currency = NEW.currency AND l.bucket IN ('clearing', 'suspense') AND l.amount = -NEW.amount`)} THEN
          RAISE EXCEPTION 'transaction % is paid without a credited settlement of its amount and a journal entry', NEW.id;
        END IF;
        RETURN NULL;
      END $$;
      CREATE OR REPLACE FUNCTION check_refund_posted() RETURNS trigger LANGUAGE plpgsql AS $$
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
      CREATE OR REPLACE FUNCTION check_suspended() RETURNS trigger LANGUAGE plpgsql AS $$
      DECLARE
        comes boolean := TG_TABLE_NAME = 'settlements';
        wanted text := CASE WHEN comes THEN 'suspense.received:' ELSE 'suspense.returned:' END || NEW.id;
      BEGIN
        IF NOT ${hasLine('wanted', `l.bucket = 'suspense' AND l.amount = CASE WHEN comes THEN NEW.amount ELSE -NEW.amount END`)} THEN
          RAISE EXCEPTION '% %: its money is not in the journal as %', TG_TABLE_NAME, NEW.id, wanted;
        END IF;
        RETURN NULL;
      END $$;

      CREATE TRIGGER pix_returns_moves BEFORE UPDATE OF status ON pix_returns FOR EACH ROW
        WHEN (OLD.status <> NEW.status AND OLD.status || '>' || NEW.status NOT IN ('${RETURN_MOVES.join(`', '`)}'))
        EXECUTE FUNCTION refuse_rewrite();
      CREATE FUNCTION check_return() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF NOT EXISTS (
            SELECT 1 FROM settlements s WHERE s.transaction_id = NEW.transaction_id AND s.outcome = 'returned'
              AND (s.acquirer, s.end_to_end_id, s.amount) = (NEW.acquirer, NEW.end_to_end_id, NEW.amount))
          OR EXISTS (
            SELECT 1 FROM pix_returns r WHERE r.transaction_id = NEW.transaction_id AND r.id <> NEW.id AND r.status <> 'FAILED'
              AND (r.acquirer, r.end_to_end_id) = (NEW.acquirer, NEW.end_to_end_id)) THEN
          RAISE EXCEPTION 'return % is not the one of a payment that goes back', NEW.id;
        END IF;
        RETURN NULL;
      END $$;
      CREATE CONSTRAINT TRIGGER pix_returns_made AFTER INSERT ON pix_returns
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION check_return();

      CREATE TRIGGER releases_final BEFORE UPDATE OF released_at ON releases FOR EACH ROW
        WHEN (OLD.released_at IS NOT NULL AND OLD.released_at IS DISTINCT FROM NEW.released_at) EXECUTE FUNCTION refuse_rewrite();
      CREATE FUNCTION check_release() RETURNS trigger LANGUAGE plpgsql AS $$
      DECLARE
        waits boolean := NEW.released_at IS NULL;
        wanted text := CASE WHEN waits THEN 'charge.paid:' ELSE 'release:' END || NEW.transaction_id;
      BEGIN
        IF NOT ${hasLine('wanted', `l.currency = NEW.currency AND l.bucket = 'pending' AND l.amount = CASE WHEN waits THEN NEW.amount ELSE -NEW.amount END`)} THEN
          RAISE EXCEPTION 'release %: its money is not in the journal as %', NEW.id, wanted;
        END IF;
        RETURN NULL;
      END $$;
      CREATE CONSTRAINT TRIGGER releases_made AFTER INSERT ON releases
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION check_release();
      CREATE CONSTRAINT TRIGGER releases_posted AFTER UPDATE OF released_at ON releases
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION check_release();
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP FUNCTION check_release() CASCADE;
      DROP TRIGGER releases_final ON releases;
      DROP FUNCTION check_return() CASCADE;
      DROP TRIGGER pix_returns_moves ON pix_returns;
      CREATE OR REPLACE FUNCTION check_suspended() RETURNS trigger LANGUAGE plpgsql AS $$
      DECLARE wanted text := CASE TG_TABLE_NAME WHEN 'settlements' THEN 'suspense.received:' ELSE 'suspense.returned:' END || NEW.id;
      BEGIN
        IF NOT EXISTS (SELECT 1 FROM journal_entries e WHERE e.cause = wanted) THEN
          RAISE EXCEPTION '% %: its money is not in the journal as %', TG_TABLE_NAME, NEW.id, wanted;
        END IF;
        RETURN NULL;
      END $$;
      CREATE OR REPLACE FUNCTION check_refund_posted() RETURNS trigger LANGUAGE plpgsql AS $$
      DECLARE wanted text := CASE NEW.status WHEN 'REFUNDED' THEN 'refund.paid:' WHEN 'FAILED' THEN 'refund.released:'
        ELSE 'refund.reserved:' END || NEW.id;
      BEGIN
        IF NOT EXISTS (SELECT 1 FROM journal_entries e WHERE e.cause = wanted) THEN
          RAISE EXCEPTION 'refund % is % without the journal entry %', NEW.id, NEW.status, wanted;
        END IF;
        RETURN NULL;
      END $$;
      CREATE OR REPLACE FUNCTION check_paid() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF NOT EXISTS (
            SELECT 1 FROM settlements s WHERE s.transaction_id = NEW.id AND s.outcome = 'credited' AND s.amount = NEW.amount)
          OR NOT EXISTS (SELECT 1 FROM journal_entries e WHERE e.cause = 'charge.paid:' || NEW.id) THEN
          RAISE EXCEPTION 'transaction % is paid without a credited settlement of its amount and a journal entry', NEW.id;
        END IF;
        RETURN NULL;
      END $$;
      DROP TRIGGER transactions_payer_kept ON transactions;
      ALTER TABLE transactions DROP CONSTRAINT transactions_paid_check;
      ${Object.entries(IDENTITIES)
        .map(
          ([table, { before }]) =>
            `DROP TRIGGER ${table}_fixed ON ${table}; ${before.length > 0 ? fixed(table, before) : ''}`,
        )
        .join('\n')}
    `);
  }
}
