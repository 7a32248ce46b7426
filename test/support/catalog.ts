import type { DataSource } from 'typeorm';

/** Objects of an extension belong to it and not to our schema. */
const isOurs = (classId: string, oid: string): string =>
  `NOT EXISTS (SELECT 1 FROM pg_depend x WHERE x.classid = '${classId}'::regclass AND x.objid = ${oid} AND x.deptype = 'e')`;

const TABLE = `c.relnamespace = 'public'::regnamespace AND c.relname <> 'migrations'`;

/** White space and comments of a function say nothing to PostgreSQL. */
const normalised = (text: string): string =>
  `regexp_replace(regexp_replace(${text}, '--[^\\n]*', '', 'g'), '\\s+', ' ', 'g')`;

/** Privileges are compared without the names of roles, which are settings: owner, service or PUBLIC. */
const privileges = (acl: string, owner: string): string => `
  (SELECT string_agg(p, ' ' ORDER BY p COLLATE "C") FROM (
    SELECT format('%s:%s%s', CASE a.grantee WHEN 0 THEN 'public' WHEN ${owner} THEN 'owner' ELSE 'other' END,
      a.privilege_type, CASE WHEN a.is_grantable THEN '*' END) AS p
    FROM aclexplode(${acl}) a) s)`;

/** Queries by kind of object: the name of each object, then everything that PostgreSQL keeps about it. */
const KINDS: Readonly<Record<string, string>> = {
  table: `
    SELECT c.relname, concat_ws(' | ', c.relkind, c.relpersistence, 'replica identity ' || c.relreplident::text,
      'row security ' || c.relrowsecurity::text || ' ' || c.relforcerowsecurity::text, (SELECT amname FROM pg_am WHERE oid = c.relam),
      'options ' || c.reloptions::text, 'toast ' || t.reloptions::text, pg_get_partkeydef(c.oid),
      'partition ' || pg_get_expr(c.relpartbound, c.oid), 'privileges ' || ${privileges('c.relacl', 'c.relowner')})
    FROM pg_class c LEFT JOIN pg_class t ON t.oid = c.reltoastrelid
    WHERE ${TABLE} AND c.relkind IN ('r', 'p', 'f')`,
  column: `
    SELECT c.relname || '.' || a.attname, concat_ws(' | ', format_type(a.atttypid, a.atttypmod),
      CASE WHEN a.attnotnull THEN 'not null' END, 'default ' || pg_get_expr(d.adbin, d.adrelid),
      'identity ' || nullif(a.attidentity::text, ''), 'generated ' || nullif(a.attgenerated::text, ''),
      'collation ' || nullif(a.attcollation, 0)::regcollation::text, 'storage ' || a.attstorage::text,
      'compression ' || nullif(a.attcompression::text, ''), 'statistics ' || a.attstattarget, 'options ' || a.attoptions::text,
      'privileges ' || a.attacl::text)
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
    WHERE ${TABLE} AND c.relkind IN ('r', 'p', 'f')`,
  constraint: `
    SELECT c.relname || '.' || k.conname, concat_ws(' | ', pg_get_constraintdef(k.oid), 'deferrable ' || k.condeferrable,
      'deferred ' || k.condeferred, 'validated ' || k.convalidated, 'no inherit ' || k.connoinherit)
    FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid WHERE ${TABLE}`,
  index: `
    SELECT i.relname, concat_ws(' | ', pg_get_indexdef(i.oid), 'valid ' || x.indisvalid, 'ready ' || x.indisready,
      'clustered ' || x.indisclustered, 'replica identity ' || x.indisreplident, 'options ' || i.reloptions::text,
      (SELECT string_agg(format('statistics %s=%s', a.attnum, a.attstattarget), ' ' ORDER BY a.attnum)
       FROM pg_attribute a WHERE a.attrelid = i.oid AND a.attstattarget IS NOT NULL))
    FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_class c ON c.oid = x.indrelid WHERE ${TABLE}`,
  trigger: `
    SELECT c.relname || '.' || t.tgname, concat_ws(' | ', pg_get_triggerdef(t.oid), 'enabled ' || t.tgenabled::text)
    FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid WHERE ${TABLE} AND NOT t.tgisinternal`,
  function: `
    SELECT p.oid::regprocedure::text, concat_ws(' | ', ${normalised('pg_get_functiondef(p.oid)')},
      'privileges ' || ${privileges('p.proacl', 'p.proowner')})
    FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace AND p.prokind <> 'a' AND ${isOurs('pg_proc', 'p.oid')}`,
  aggregate: `
    SELECT p.oid::regprocedure::text, 'aggregate' FROM pg_proc p
    WHERE p.pronamespace = 'public'::regnamespace AND p.prokind = 'a' AND ${isOurs('pg_proc', 'p.oid')}`,
  sequence: `
    SELECT c.relname, concat_ws(' | ', format_type(s.seqtypid, NULL), s.seqstart, s.seqincrement, s.seqmin, s.seqmax,
      s.seqcache, s.seqcycle, d.deptype::text || ' ' || d.refobjid::regclass::text || ' ' || (
        SELECT attname FROM pg_attribute WHERE attrelid = d.refobjid AND attnum = d.refobjsubid))
    FROM pg_sequence s JOIN pg_class c ON c.oid = s.seqrelid
    LEFT JOIN pg_depend d ON d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype IN ('a', 'i')
    WHERE ${TABLE} AND c.relname <> 'migrations_id_seq'`,
  view: `
    SELECT c.relname, pg_get_viewdef(c.oid) FROM pg_class c WHERE ${TABLE} AND c.relkind IN ('v', 'm')`,
  rule: `
    SELECT c.relname || '.' || r.rulename, pg_get_ruledef(r.oid) FROM pg_rewrite r JOIN pg_class c ON c.oid = r.ev_class
    WHERE ${TABLE}`,
  policy: `
    SELECT c.relname || '.' || p.polname, concat_ws(' | ', p.polcmd, pg_get_expr(p.polqual, p.polrelid),
      pg_get_expr(p.polwithcheck, p.polrelid)) FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid WHERE ${TABLE}`,
  type: `
    SELECT t.typname, concat_ws(' | ', t.typtype, format_type(t.typbasetype, t.typtypmod),
      (SELECT string_agg(e.enumlabel, ',' ORDER BY e.enumsortorder) FROM pg_enum e WHERE e.enumtypid = t.oid))
    FROM pg_type t LEFT JOIN pg_class c ON c.oid = t.typrelid
    WHERE t.typnamespace = 'public'::regnamespace AND t.typelem = 0 AND (t.typrelid = 0 OR c.relkind = 'c')
      AND ${isOurs('pg_type', 't.oid')}`,
  statistics: `
    SELECT s.stxname, pg_get_statisticsobjdef(s.oid) FROM pg_statistic_ext s WHERE s.stxnamespace = 'public'::regnamespace`,
  comment: `
    SELECT concat_ws(' ', d.classoid::regclass, coalesce(c.relname, d.objoid::regprocedure::text), d.objsubid), d.description
    FROM pg_description d LEFT JOIN pg_class c ON c.oid = d.objoid AND d.classoid = 'pg_class'::regclass
    WHERE (d.classoid = 'pg_class'::regclass AND ${TABLE})
      OR (d.classoid = 'pg_proc'::regclass AND EXISTS (
        SELECT 1 FROM pg_proc p WHERE p.oid = d.objoid AND p.pronamespace = 'public'::regnamespace))`,
  schema: `
    SELECT n.nspname, ${privileges('n.nspacl', 'n.nspowner')} FROM pg_namespace n
    WHERE n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema'`,
  'default privilege': `SELECT d.defaclnamespace::text, d.defaclacl::text FROM pg_default_acl d`,
  extension: `SELECT extname, extversion FROM pg_extension`,
  'event trigger': `SELECT evtname, evtevent FROM pg_event_trigger`,
  publication: `SELECT pubname, puballtables::text FROM pg_publication`,
  'large object': `SELECT oid::text, 'there' FROM pg_largeobject_metadata`,
};

const TABLES = `
  SELECT c.oid::regclass::text AS name FROM pg_class c WHERE ${TABLE} AND c.relkind = 'r'`;

/**
 * Everything that PostgreSQL knows of the schema and the rows in it, one text for each object. Two databases with equal
 * lists have the same schema, but for the order of columns. Oids, owners' names and white space in functions are left out.
 */
export async function catalogOf(source: Pick<DataSource, 'query'>): Promise<string[]> {
  const lines: string[] = [];
  for (const [kind, sql] of Object.entries(KINDS)) {
    const rows = await source.query<{ name: string; text: string }[]>(
      `SELECT o.name, o.text FROM (${sql}) o (name, text) ORDER BY 1`,
    );
    lines.push(...rows.map(({ name, text }) => `${kind} ${name}: ${text}`));
  }
  for (const { name } of await source.query<{ name: string }[]>(TABLES)) {
    const rows = await source.query<{ text: string }[]>(`SELECT to_jsonb(t)::text AS text FROM ${name} t ORDER BY 1`);
    lines.push(...rows.map(({ text }) => `row ${name}: ${text}`));
  }
  return lines.sort();
}
