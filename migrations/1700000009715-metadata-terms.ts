import type { MigrationInterface, QueryRunner } from 'typeorm';
import { redefine } from './redefine.js';

/** Keys of metadata that a sale is found by; making terms of a thousand keys takes longer than the sale. */
const MOST_KEYS = 100;

/** Sales are found by at most a hundred keys of their metadata. What is in the index of earlier ones stays. */
export class MetadataTerms1700000009715 implements MigrationInterface {
  readonly name = 'MetadataTerms1700000009715';

  async up(queryRunner: QueryRunner): Promise<void> {
    await redefine(
      queryRunner,
      'transaction_terms',
      'FROM jsonb_each(metadata) LOOP',
      `FROM jsonb_each(metadata) LIMIT ${MOST_KEYS} LOOP`,
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await redefine(
      queryRunner,
      'transaction_terms',
      `FROM jsonb_each(metadata) LIMIT ${MOST_KEYS} LOOP`,
      'FROM jsonb_each(metadata) LOOP',
    );
  }
}
