import type { MigrationInterface, QueryRunner } from 'typeorm';
import { redefine } from './redefine.js';

const LONGER = `IF length(term) > 1 THEN one := one || format('&''%s~%s'':*', scope, left(term, 40)); END IF;`;
const ANY = `IF length(term) > 1 THEN one := one || format('&''%s~%s'':*', scope, left(term, 40));
              ELSIF term <> '' THEN one := one || format('&''%s~%s''', scope, term); END IF;`;

/**
 * A word of one letter in a search is found as a whole word of a name ("Maria D Souza"); it was left out. As the
 * beginning of words it would read a tenth of an account's index.
 */
export class WordsOfOneLetter1700000009971 implements MigrationInterface {
  readonly name = 'WordsOfOneLetter1700000009971';

  async up(queryRunner: QueryRunner): Promise<void> {
    await redefine(queryRunner, 'transaction_search', LONGER, ANY);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await redefine(queryRunner, 'transaction_search', ANY, LONGER);
  }
}
