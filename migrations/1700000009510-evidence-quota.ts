import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Bytes of evidence are counted by account and mode; files of test mode end after 30 days. */
export class EvidenceQuota1700000009510 implements MigrationInterface {
  readonly name = 'EvidenceQuota1700000009510';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE INDEX med_evidence_account_idx ON med_evidence (account_id, mode);
      INSERT INTO work (kind, subject_id, due_at)
        SELECT 'evidence_cleanup', id, greatest(uploaded_at + interval '30 days', expires_at + interval '1 hour')
        FROM med_evidence WHERE mode = 'test' AND status = 'confirmed'
        ON CONFLICT (kind, subject_id) DO NOTHING;
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP INDEX med_evidence_account_idx');
  }
}
