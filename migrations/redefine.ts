import type { QueryRunner } from 'typeorm';

/** Changes a piece of the text of a function. @throws Error when it is not as the migration before has made it */
export async function redefine(queryRunner: QueryRunner, name: string, from: string, to: string): Promise<void> {
  const [row] = (await queryRunner.query(
    `SELECT pg_get_functiondef(oid) AS definition FROM pg_proc
     WHERE proname = $1 AND pronamespace = current_schema()::regnamespace`,
    [name],
  )) as { definition: string }[];
  if (!row?.definition.includes(from))
    throw new Error(`The function ${name} is not as the migration before has made it`);
  await queryRunner.query(row.definition.replace(from, to));
}
