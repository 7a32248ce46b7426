import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Keys of metadata that a sale is found by; making terms of a thousand keys takes longer than the sale. */
const MOST_KEYS = 100;

/** Sales are found by at most a hundred keys of their metadata. What is in the index of earlier ones stays. */
export class MetadataTerms1700000009715 implements MigrationInterface {
  readonly name = 'MetadataTerms1700000009715';

  async up(queryRunner: QueryRunner): Promise<void> {
    await redefine(queryRunner, 'FROM jsonb_each(metadata) LOOP', `FROM jsonb_each(metadata) LIMIT ${MOST_KEYS} LOOP`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await redefine(queryRunner, `FROM jsonb_each(metadata) LIMIT ${MOST_KEYS} LOOP`, 'FROM jsonb_each(metadata) LOOP');
  }
}

async function redefine(queryRunner: QueryRunner, from: string, to: string): Promise<void> {
  const [row] = (await queryRunner.query(
    `SELECT pg_get_functiondef(oid) AS definition FROM pg_proc
     WHERE proname = 'transaction_terms' AND pronamespace = current_schema()::regnamespace`,
  )) as { definition: string }[];
  if (!row?.definition.includes(from))
    throw new Error('The function transaction_terms is not as the migration before has made it');
  await queryRunner.query(row.definition.replace(from, to));
}
