import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Work1700000008000 implements MigrationInterface {
  readonly name = 'Work1700000008000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      -- First of all, and in the order in which requests take them: what another process commits after its table was
      -- read would be nobody's work.
      LOCK TABLE transactions, refunds, pix_returns, med_evidence, acquirer_callbacks, emails IN ACCESS EXCLUSIVE MODE;

      -- What is to be done later, about which subject. Done, it is deleted.
      CREATE TABLE work (
        kind text NOT NULL,
        subject_id uuid NOT NULL,
        due_at timestamptz NOT NULL,
        attempts integer NOT NULL DEFAULT 0,
        lease_id uuid,
        leased_until timestamptz,
        last_error text,
        CONSTRAINT work_pkey PRIMARY KEY (kind, subject_id)
      );
      -- The two lines of a kind: what is new, and what is tried again.
      CREATE INDEX work_fresh_idx ON work (kind, due_at) WHERE attempts = 0;
      CREATE INDEX work_again_idx ON work (kind, due_at) WHERE attempts > 0;

      INSERT INTO work (kind, subject_id, due_at, attempts)
      SELECT 'refund', id, coalesce(next_attempt_at, now()), attempts FROM refunds WHERE status IN ('PENDING', 'IN_PROGRESS');
      ALTER TABLE refunds DROP COLUMN next_attempt_at, DROP COLUMN attempts;

      INSERT INTO work (kind, subject_id, due_at, attempts)
      SELECT 'return', id, coalesce(next_attempt_at, now()), attempts FROM pix_returns
      WHERE status IN ('PENDING', 'IN_PROGRESS');
      ALTER TABLE pix_returns DROP COLUMN next_attempt_at, DROP COLUMN attempts;

      INSERT INTO work (kind, subject_id, due_at)
      SELECT 'acquirer', id, acquirer_due_at FROM transactions WHERE acquirer_due_at IS NOT NULL;
      ALTER TABLE transactions DROP COLUMN acquirer_due_at;

      INSERT INTO work (kind, subject_id, due_at, attempts)
      SELECT 'callback', id, next_attempt_at, attempts FROM acquirer_callbacks WHERE status = 'pending';
      ALTER TABLE acquirer_callbacks DROP COLUMN next_attempt_at, DROP COLUMN attempts;

      INSERT INTO work (kind, subject_id, due_at)
      SELECT 'evidence_cleanup', id, cleanup_at FROM med_evidence WHERE cleanup_at IS NOT NULL;
      ALTER TABLE med_evidence DROP COLUMN cleanup_at;

      INSERT INTO work (kind, subject_id, due_at, attempts)
      SELECT 'mail', id, next_attempt_at, attempts FROM emails WHERE status = 'pending';
      DROP INDEX emails_due_idx;
      ALTER TABLE emails ALTER COLUMN next_attempt_at DROP NOT NULL, DROP COLUMN attempts, DROP COLUMN sent_at;
      ALTER TABLE emails RENAME COLUMN next_attempt_at TO ended_at;
      UPDATE emails SET ended_at = NULL WHERE status = 'pending';
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      LOCK TABLE transactions, refunds, pix_returns, med_evidence, acquirer_callbacks, emails, work
        IN ACCESS EXCLUSIVE MODE;

      ALTER TABLE emails RENAME COLUMN ended_at TO next_attempt_at;
      ALTER TABLE emails ADD COLUMN attempts integer NOT NULL DEFAULT 0, ADD COLUMN sent_at timestamptz;
      UPDATE emails e SET attempts = w.attempts, next_attempt_at = w.due_at
      FROM work w WHERE w.kind = 'mail' AND w.subject_id = e.id;
      UPDATE emails SET sent_at = next_attempt_at WHERE status = 'sent';
      ALTER TABLE emails ALTER COLUMN next_attempt_at SET NOT NULL;
      CREATE INDEX emails_due_idx ON emails (next_attempt_at) WHERE status = 'pending';

      ALTER TABLE med_evidence ADD COLUMN cleanup_at timestamptz;
      UPDATE med_evidence e SET cleanup_at = w.due_at FROM work w WHERE w.kind = 'evidence_cleanup' AND w.subject_id = e.id;
      CREATE INDEX med_evidence_cleanup_idx ON med_evidence (cleanup_at) WHERE cleanup_at IS NOT NULL;

      ALTER TABLE acquirer_callbacks ADD COLUMN attempts integer NOT NULL DEFAULT 0,
        ADD COLUMN next_attempt_at timestamptz NOT NULL DEFAULT now();
      ALTER TABLE acquirer_callbacks ALTER COLUMN next_attempt_at DROP DEFAULT;
      UPDATE acquirer_callbacks c SET attempts = w.attempts, next_attempt_at = w.due_at
      FROM work w WHERE w.kind = 'callback' AND w.subject_id = c.id;
      CREATE INDEX acquirer_callbacks_due_idx ON acquirer_callbacks (next_attempt_at) WHERE status = 'pending';

      ALTER TABLE transactions ADD COLUMN acquirer_due_at timestamptz;
      UPDATE transactions t SET acquirer_due_at = w.due_at FROM work w WHERE w.kind = 'acquirer' AND w.subject_id = t.id;
      CREATE INDEX transactions_acquirer_due_idx ON transactions (acquirer_due_at) WHERE acquirer_due_at IS NOT NULL;

      ALTER TABLE pix_returns ADD COLUMN attempts integer NOT NULL DEFAULT 0, ADD COLUMN next_attempt_at timestamptz;
      UPDATE pix_returns r SET attempts = w.attempts, next_attempt_at = w.due_at
      FROM work w WHERE w.kind = 'return' AND w.subject_id = r.id;
      CREATE INDEX pix_returns_due_idx ON pix_returns (next_attempt_at) WHERE status IN ('PENDING', 'IN_PROGRESS');

      ALTER TABLE refunds ADD COLUMN attempts integer NOT NULL DEFAULT 0, ADD COLUMN next_attempt_at timestamptz;
      UPDATE refunds r SET attempts = w.attempts, next_attempt_at = w.due_at
      FROM work w WHERE w.kind = 'refund' AND w.subject_id = r.id;
      CREATE INDEX refunds_due_idx ON refunds (next_attempt_at) WHERE status IN ('PENDING', 'IN_PROGRESS');

      DROP TABLE work;
    `);
  }
}
