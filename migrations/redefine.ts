import type { QueryRunner } from 'typeorm';

/** Changes a piece of the text of `transaction_terms`. @throws Error when it is not as the migration before has made it */
export async function redefineTerms(queryRunner: QueryRunner, from: string, to: string): Promise<void> {
  const [row] = (await queryRunner.query(
    `SELECT pg_get_functiondef(oid) AS definition FROM pg_proc
     WHERE proname = 'transaction_terms' AND pronamespace = current_schema()::regnamespace`,
  )) as { definition: string }[];
  if (!row?.definition.includes(from))
    throw new Error('The function transaction_terms is not as the migration before has made it');
  await queryRunner.query(row.definition.replace(from, to));
}
