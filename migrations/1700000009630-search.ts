import type { MigrationInterface, QueryRunner } from 'typeorm';

const LETTERS = 'áàâãäéèêëíìîïóòôõöúùûüçñÁÀÂÃÄÉÈÊËÍÌÎÏÓÒÔÕÖÚÙÛÜÇÑ';
const PLAIN = 'aaaaaeeeeiiiiooooouuuucn'.repeat(2);
/** Of $1: its words, without accents and in small letters. */
const words = (text: string): string =>
  `regexp_split_to_table(lower(translate(${text}, '${LETTERS}', '${PLAIN}')), '[^[:alnum:]]+')`;
/** An exact value, whatever its length and characters. */
const hash = (text: string): string => `left(md5(${text}), 16)`;

/**
 * Sales are found by terms: each begins with the account and mode, so that the terms of others cost nothing; then
 * `=` and the hash of an exact value, `:` and the hash of a key and value of the metadata, or `~` and a word of the
 * customer's name. An index over them costs some 500 bytes a sale.
 */
export class Search1700000009630 implements MigrationInterface {
  readonly name = 'Search1700000009630';

  async up(queryRunner: QueryRunner): Promise<void> {
    // The cost is so high that the index is preferred even where many sales match.
    await queryRunner.query(`
      CREATE FUNCTION transaction_terms(account_id uuid, mode text, id uuid, txid text, end_to_end_id text, email text,
        document text, name text, metadata jsonb) RETURNS tsvector
      LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 5000 AS $$
      DECLARE
        scope text := left(md5(account_id::text || mode), 8);
        terms text[] := ARRAY[]::text[];
        term text;
        key text;
        value jsonb;
      BEGIN
        FOREACH term IN ARRAY ARRAY[replace(id::text, '-', ''), txid, end_to_end_id, email, document] LOOP
          IF term IS NOT NULL THEN terms := terms || (scope || '=' || ${hash('lower(term)')}); END IF;
        END LOOP;
        FOR key, value IN SELECT * FROM jsonb_each(metadata) LOOP
          CONTINUE WHEN jsonb_typeof(value) IN ('object', 'array', 'null');
          term := value #>> '{}';
          IF jsonb_typeof(value) = 'string' THEN terms := terms || (scope || '=' || ${hash('lower(term)')}); END IF;
          terms := terms || (scope || ':' || ${hash(`key || '=' || term`)});
        END LOOP;
        FOR term IN SELECT ${words('name')} LOOP
          IF term <> '' THEN terms := terms || (scope || '~' || left(term, 40)); END IF;
        END LOOP;
        RETURN array_to_tsvector(terms);
      END $$;

      CREATE FUNCTION transaction_search(account_id uuid, mode text, query text, keys text[], texts text[]) RETURNS tsquery
      LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
      DECLARE
        scope text := left(md5(account_id::text || mode), 8);
        found text := '';
        all_words text := '';
        term text;
      BEGIN
        IF query IS NOT NULL THEN
          -- As it is written; and without what people write ids, documents and their prefixes with.
          found := format('''%s=%s''|''%s=%s''', scope, ${hash('lower(query)')}, scope,
            ${hash(`regexp_replace(regexp_replace(lower(query), '^(ch|tx)_', ''), '[-./ ]', '', 'g')`)});
          FOR term IN SELECT ${words('query')} LOOP
            IF length(term) > 1 THEN all_words := all_words || format('&''%s~%s'':*', scope, left(term, 40)); END IF;
          END LOOP;
          IF all_words <> '' THEN found := found || '|(' || substr(all_words, 2) || ')'; END IF;
          found := '&(' || found || ')';
        END IF;
        FOR number IN 1 .. coalesce(cardinality(keys), 0) LOOP
          found := found || format('&''%s:%s''', scope, ${hash(`keys[number] || '=' || texts[number]`)});
        END LOOP;
        RETURN substr(found, 2)::tsquery;
      END $$;

      CREATE INDEX transactions_search_idx ON transactions USING gin (transaction_terms(
        account_id, mode, id, txid, end_to_end_id, customer_email, customer_document, customer_name, metadata));
      -- Of common terms the planner must know that they are, or it would fetch all that match.
      ALTER INDEX transactions_search_idx ALTER COLUMN 1 SET STATISTICS 400`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP INDEX transactions_search_idx;
      DROP FUNCTION transaction_terms(uuid, text, uuid, text, text, text, text, text, jsonb);
      DROP FUNCTION transaction_search(uuid, text, text, text[], text[])`);
  }
}
