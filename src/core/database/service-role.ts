import pg from 'pg';

/** Thrown when the role of DATABASE_URL has too few or too many rights, with words for an operator. */
export class ServiceRoleError extends Error {
  override readonly name = 'ServiceRoleError';
}

/** Condition for tables `c` that only grow: the trigger function refuse_change() protects them. */
const IS_APPEND_ONLY = `EXISTS (
  SELECT 1 FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid WHERE t.tgrelid = c.oid AND p.proname = 'refuse_change')`;

/** Condition for tables `c` whose rows are never deleted: money is corrected by later rows. */
const IS_KEPT = `EXISTS (
  SELECT 1 FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid WHERE t.tgrelid = c.oid AND p.proname = 'refuse_rewrite')`;

/** Lists the statements that give a role ($1) exactly the service's rights; empty when none is missing. */
const MISSING = `
  WITH role AS (SELECT oid, quote_ident(rolname) AS name FROM pg_roles WHERE rolname = $1),
  wanted AS (
    SELECT c.oid, c.relacl, CASE
        WHEN ${IS_APPEND_ONLY} THEN '{INSERT,SELECT}'
        WHEN ${IS_KEPT} THEN '{INSERT,SELECT,UPDATE}'
        WHEN c.relname = 'migrations' THEN '{SELECT}'
        ELSE '{DELETE,INSERT,SELECT,UPDATE}'
      END::text[] AS privileges
    FROM pg_class c
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
  )
  SELECT format('REVOKE ALL ON %1$s FROM %2$s; GRANT %3$s ON %1$s TO %2$s',
    w.oid::regclass, role.name, array_to_string(w.privileges, ', ')) AS statement
  FROM wanted w, role WHERE w.privileges IS DISTINCT FROM (
    SELECT array_agg(a.privilege_type::text ORDER BY a.privilege_type COLLATE "C") FROM aclexplode(w.relacl) a
    WHERE a.grantee = role.oid)
  UNION ALL SELECT format('GRANT EXECUTE ON FUNCTION %s TO %s', f.oid::regprocedure, role.name)
    FROM pg_proc f, role
    WHERE f.pronamespace = 'public'::regnamespace AND NOT has_function_privilege(role.oid, f.oid, 'EXECUTE')
  UNION ALL SELECT format('GRANT USAGE ON SCHEMA public TO %s', role.name)
    FROM role WHERE NOT has_schema_privilege(role.oid, 'public', 'USAGE')
  UNION ALL SELECT format('REVOKE CREATE ON SCHEMA public FROM PUBLIC, %s', role.name)
    FROM role WHERE has_schema_privilege(role.oid, 'public', 'CREATE')`;

const POWERS = `
  SELECT array_remove(ARRAY[
    CASE WHEN r.rolsuper THEN 'is a superuser' END,
    CASE WHEN r.rolcreaterole THEN 'may give itself other roles (CREATEROLE)' END,
    (SELECT 'may change ' || string_agg(c.relname, ', ' ORDER BY c.relname) FROM pg_class c
     WHERE c.relnamespace = 'public'::regnamespace AND ${IS_APPEND_ONLY}
       AND (pg_has_role(r.oid, c.relowner, 'MEMBER') OR has_any_column_privilege(r.oid, c.oid, 'UPDATE')
         OR has_table_privilege(r.oid, c.oid, 'DELETE, TRUNCATE, TRIGGER'))),
    CASE WHEN EXISTS (SELECT 1 FROM pg_namespace n WHERE n.oid = 'public'::regnamespace
        AND (pg_has_role(r.oid, n.nspowner, 'MEMBER') OR has_schema_privilege(r.oid, n.oid, 'CREATE')))
      THEN 'may make and drop tables in the schema public (as the owner of the database may)' END,
    CASE WHEN r.rolreplication THEN 'may replicate (REPLICATION)' END,
    CASE WHEN has_parameter_privilege(r.oid, 'session_replication_role', 'SET')
      THEN 'may set session_replication_role' END,
    CASE WHEN pg_has_role(r.oid, 'pg_execute_server_program', 'MEMBER') THEN 'may run programs on the server' END,
    CASE WHEN pg_has_role(r.oid, 'pg_write_server_files', 'MEMBER') THEN 'may write files on the server' END
  ], NULL) AS powers
  FROM pg_roles r WHERE r.rolname = coalesce($1, current_user)`;

interface Asked {
  query<R extends pg.QueryResultRow>(text: string, values: unknown[]): Promise<{ rows: R[] }>;
}

/**
 * Lists the rights of a role that the service must not have: changing the ledger and the audit trail, or reaching such
 * a right.
 * @param role null for the connected one
 * @returns one phrase for each, as `is a superuser`; empty when everything is right
 */
export async function excessivePowers(client: Asked, role: string | null): Promise<string[]> {
  const { rows } = await client.query<{ powers: string[] }>(POWERS, [role]);
  return rows[0]?.powers ?? [];
}

/**
 * Makes the role of `serviceUrl` if it is missing, with the URL's password, and gives it the rights that the service
 * needs.
 * @param owner connected as the role that owns the tables; nobody else may do this at the same time
 * @throws ServiceRoleError when that role cannot be made or may do too much
 */
export async function prepareServiceRole(owner: pg.Client, serviceUrl: string): Promise<void> {
  const { user = '', password } = new pg.Client({ connectionString: serviceUrl });
  if (user === owner.user) return;
  const name = pg.escapeIdentifier(user);
  const { rows: known } = await owner.query('SELECT FROM pg_roles WHERE rolname = $1', [user]);
  if (known.length === 0) {
    const secret = password ? ` PASSWORD ${pg.escapeLiteral(password)}` : '';
    await owner.query(`CREATE ROLE ${name} LOGIN${secret}`).catch((error: unknown) => {
      throw new ServiceRoleError(
        `The role ${user} of DATABASE_URL is not there, and the role of DATABASE_MIGRATION_URL cannot make it ` +
          `(${String(error)}). Make it yourself: CREATE ROLE ${name} LOGIN PASSWORD '…'`,
      );
    });
  }
  const { rows: missing } = await owner.query<{ statement: string }>(MISSING, [user]);
  for (const { statement } of missing) await owner.query(statement);
  const powers = await excessivePowers(owner, user);
  if (powers.length > 0) {
    throw new ServiceRoleError(
      `The role ${user} of DATABASE_URL ${powers.join(', ')}. Name a role of its own there, without such rights: it ` +
        'is made at the start when it is missing.',
    );
  }
}
