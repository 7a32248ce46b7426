import type { MigrationInterface, QueryRunner } from 'typeorm';

export class MedEvidence1700000005500 implements MigrationInterface {
  readonly name = 'MedEvidence1700000005500';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      -- Files that belong to cases; the files themselves are in the object storage, under the id as their key.
      CREATE TABLE med_evidence (
        id uuid PRIMARY KEY,
        account_id uuid NOT NULL,
        mode text NOT NULL CONSTRAINT med_evidence_mode_check CHECK (mode IN ('test', 'live')),
        case_id uuid NOT NULL CONSTRAINT med_evidence_case_id_fkey REFERENCES med_cases (id),
        file_name text NOT NULL,
        -- Bytes.
        file_size integer NOT NULL CONSTRAINT med_evidence_file_size_check CHECK (file_size > 0),
        mime_type text NOT NULL,
        uploaded_by text NOT NULL
          CONSTRAINT med_evidence_uploaded_by_check CHECK (uploaded_by IN ('merchant', 'partner', 'platform')),
        -- waiting for its upload to be confirmed; abandoned: it was not in time, and its files are being removed.
        status text NOT NULL CONSTRAINT med_evidence_status_check CHECK (status IN ('waiting', 'confirmed', 'abandoned')),
        -- The file that was checked, by its name in the storage.
        object_name text,
        created_at timestamptz NOT NULL,
        -- When the URL for the upload ends.
        expires_at timestamptz NOT NULL,
        uploaded_at timestamptz,
        -- When everything else of the upload is removed from the storage; null when it was.
        cleanup_at timestamptz,
        CONSTRAINT med_evidence_confirmed_check
          CHECK ((status = 'confirmed') = (object_name IS NOT NULL AND uploaded_at IS NOT NULL))
      );
      CREATE INDEX med_evidence_case_id_idx ON med_evidence (case_id, id);
      CREATE INDEX med_evidence_cleanup_idx ON med_evidence (cleanup_at) WHERE cleanup_at IS NOT NULL;
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP TABLE med_evidence`);
  }
}
