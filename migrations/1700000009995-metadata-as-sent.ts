import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Keeps the keys of metadata in their order: `json` stores the text, while `jsonb` sorts keys by length. */
export class MetadataAsSent1700000009995 implements MigrationInterface {
  readonly name = 'MetadataAsSent1700000009995';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(retyped('json', 'metadata::jsonb'));
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(retyped('jsonb', 'metadata'));
  }
}

/** @param searched what the index of searches reads */
function retyped(type: string, searched: string): string {
  return `
    DROP INDEX transactions_search_idx;
    ALTER TABLE transactions ALTER COLUMN metadata TYPE ${type};
    CREATE INDEX transactions_search_idx ON transactions USING gin (transaction_terms(
      account_id, mode, id, txid, end_to_end_id, customer_email, customer_document, customer_name, (${searched})));
    ALTER INDEX transactions_search_idx ALTER COLUMN 1 SET STATISTICS 400`;
}
