const LETTERS = 'áàâãäéèêëíìîïóòôõöúùûüçñÁÀÂÃÄÉÈÊËÍÌÎÏÓÒÔÕÖÚÙÛÜÇÑ';
const PLAIN = 'aaaaaeeeeiiiiooooouuuucn'.repeat(2);

/** The words of a text, without accents and in small letters. */
const words = (text: string): string =>
  `regexp_split_to_table(lower(translate(${text}, '${LETTERS}', '${PLAIN}')), '[^[:alnum:]]+')`;

/** An exact value, whatever its length and characters. */
const hash = (text: string): string => `left(md5(${text}), 16)`;

/**
 * Keys of metadata that a sale is found by, those of the shortest names first. A hundred keys cost other merchants ten
 * times their own time if one account makes as many sales as it may.
 */
const MAX_KEYS = 20;

/** Words that people write before the number of an order: ignored unless they are the whole search. */
const PREFIX_WORDS = '{pedido,order,venda,sale,compra,nº,n°,no,number,número}';

/**
 * Sales are found by terms. Each term begins with a hash of account and mode, so that the terms of other accounts cost
 * nothing. The rest is `=` and the hash of an exact value, `:` and the hash of a key and value of the metadata, or `~` and a
 * word of the customer's name. The index takes some 500 bytes a sale.
 */
export const SEARCH = `
  -- The cost is so high that the planner prefers the index even if many sales match.
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
    -- jsonb has the keys of the shortest names first.
    FOR key, value IN SELECT * FROM jsonb_each(metadata) LIMIT ${MAX_KEYS} LOOP
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

  -- Each word of a search may be a whole value or the beginning of a word of the customer's name: "Maria, order 1042" is
  -- found by both. A word of one letter is a whole word of a name; as a beginning it would read a tenth of the index.
  CREATE FUNCTION transaction_search(account_id uuid, mode text, query text, keys text[], texts text[]) RETURNS tsquery
  LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
  DECLARE
    scope text := left(md5(account_id::text || mode), 8);
    found text := '';
    all_words text := '';
    term text;
    piece text;
    one text;
  BEGIN
    IF query IS NOT NULL THEN
      -- The query as it is written, and without the prefixes and signs that people write ids and documents with.
      found := format('''%s=%s''|''%s=%s''', scope, ${hash('lower(query)')}, scope,
        ${hash(`regexp_replace(regexp_replace(lower(query), '^(ch|tx)_', ''), '[-./ ]', '', 'g')`)});
      FOR piece IN SELECT p FROM (
        SELECT btrim(p, '#,.;:()"''') AS p FROM regexp_split_to_table(lower(query), '[[:space:]]+') p) pieces
        WHERE p <> '' AND (lower(btrim(query)) = p OR p <> ALL ('${PREFIX_WORDS}')) LOOP
        one := '';
        FOR term IN SELECT ${words('piece')} LOOP
          IF length(term) > 1 THEN one := one || format('&''%s~%s'':*', scope, left(term, 40));
          ELSIF term <> '' THEN one := one || format('&''%s~%s''', scope, term); END IF;
        END LOOP;
        IF one <> '' THEN all_words := all_words || format('&(''%s=%s''|(%s))', scope, ${hash('piece')}, substr(one, 2));
        ELSIF piece ~ '[0-9]' THEN all_words := all_words || format('&''%s=%s''', scope, ${hash('piece')}); END IF;
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
    account_id, mode, id, txid, end_to_end_id, customer_email, customer_document, customer_name, (metadata::jsonb)));
  -- The planner must know which terms are common, or it would fetch every sale that has one.
  ALTER INDEX transactions_search_idx ALTER COLUMN 1 SET STATISTICS 400;
`;
