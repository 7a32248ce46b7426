import type { MigrationInterface, QueryRunner } from 'typeorm';
import { redefine } from './redefine.js';

const LETTERS = 'áàâãäéèêëíìîïóòôõöúùûüçñÁÀÂÃÄÉÈÊËÍÌÎÏÓÒÔÕÖÚÙÛÜÇÑ';
const PLAIN = 'aaaaaeeeeiiiiooooouuuucn'.repeat(2);
const words = (text: string): string =>
  `regexp_split_to_table(lower(translate(${text}, '${LETTERS}', '${PLAIN}')), '[^[:alnum:]]+')`;

const NAMES_ONLY = `FOR term IN SELECT ${words('query')} LOOP
            IF length(term) > 1 THEN all_words := all_words || format('&''%s~%s'':*', scope, left(term, 40)); END IF;
          END LOOP;`;

const DECLARED = 'term text;';
const DECLARED_TOO = `${DECLARED}
        piece text;
        one text;`;

/** What people say before the number of an order, unless it is all that they say. */
const SAID_BEFORE = '{pedido,order,venda,sale,compra,nº,n°,no,number,número}';
const ANY_FIELD = `FOR piece IN SELECT p FROM (
            SELECT btrim(p, '#,.;:()"''') AS p FROM regexp_split_to_table(lower(query), '[[:space:]]+') p) pieces
            WHERE p <> '' AND (lower(btrim(query)) = p OR p <> ALL ('${SAID_BEFORE}')) LOOP
            one := '';
            FOR term IN SELECT ${words('piece')} LOOP
              IF length(term) > 1 THEN one := one || format('&''%s~%s'':*', scope, left(term, 40)); END IF;
            END LOOP;
            IF one <> '' THEN all_words := all_words || format('&(''%s=%s''|(%s))', scope, left(md5(piece), 16), substr(one, 2));
            ELSIF piece ~ '[0-9]' THEN all_words := all_words || format('&''%s=%s''', scope, left(md5(piece), 16)); END IF;
          END LOOP;`;

/**
 * Each word of a search may be the beginning of a word of the customer's name, or a whole value: "Maria, order 1042" is
 * found by both.
 */
export class WordsOfASearch1700000009860 implements MigrationInterface {
  readonly name = 'WordsOfASearch1700000009860';

  async up(queryRunner: QueryRunner): Promise<void> {
    await redefine(queryRunner, 'transaction_search', DECLARED, DECLARED_TOO);
    await redefine(queryRunner, 'transaction_search', NAMES_ONLY, ANY_FIELD);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await redefine(queryRunner, 'transaction_search', ANY_FIELD, NAMES_ONLY);
    await redefine(queryRunner, 'transaction_search', DECLARED_TOO, DECLARED);
  }
}
