import type { MigrationInterface, QueryRunner } from 'typeorm';

const TERMS_OF = (type: string): string => `transaction_terms(uuid, text, uuid, text, text, text, text, text, ${type})`;

/** Metadata keep the order of their keys: `json` stores the text, while `jsonb` sorts keys by length. */
export class MetadataAsSent1700000009995 implements MigrationInterface {
  readonly name = 'MetadataAsSent1700000009995';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(retyped('jsonb', 'json'));
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(retyped('json', 'jsonb'));
  }
}

/** The terms of a search are made by the function of before, which reads `jsonb`. */
function retyped(before: string, after: string): string {
  return `
    DROP INDEX transactions_search_idx;
    DO $do$ BEGIN
      EXECUTE replace(replace(pg_get_functiondef('${TERMS_OF(before)}'::regprocedure),
        'metadata ${before})', 'metadata ${after})'),
        '${each(before)}', '${each(after)}');
    END $do$;
    DROP FUNCTION ${TERMS_OF(before)};
    ALTER TABLE transactions ALTER COLUMN metadata TYPE ${after};
    CREATE INDEX transactions_search_idx ON transactions USING gin (transaction_terms(
      account_id, mode, id, txid, end_to_end_id, customer_email, customer_document, customer_name, metadata));
    ALTER INDEX transactions_search_idx ALTER COLUMN 1 SET STATISTICS 400`;
}

const each = (type: string): string => (type === 'json' ? 'jsonb_each(metadata::jsonb)' : 'jsonb_each(metadata)');
