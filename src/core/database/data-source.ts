import pg from 'pg';
import { ServiceRoleError } from './service-role.js';
import { DataSource, type DataSourceOptions, getMetadataArgsStorage } from 'typeorm';

const INT8 = 20;

/** Converts bigint to number. Amounts stay below 2^53 by contract; a larger one must never be rounded silently. */
export function parseInt8(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`int8 ${text} is beyond 2^53 - 1`);
  return value;
}

const types = {
  getTypeParser: (oid: number, format?: 'text' | 'binary'): unknown =>
    oid === INT8 && format !== 'binary' ? parseInt8 : pg.types.getTypeParser(oid, format),
};

/**
 * A connection that always has a listener for `error`. A query under way reports the failure itself, and the pool drops
 * broken connections. If a connection dies while the pool hands it over, an `error` without a listener would end the
 * process.
 */
export class WatchedClient extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config);
    this.on('error', () => undefined);
  }
}

const isNamed = (question: unknown): question is object =>
  typeof question === 'object' && question !== null && 'name' in question && !('submit' in question);

/**
 * Works without prepared statements: a pooler gives the next transaction another connection, which does not have them.
 */
class UnpreparedClient extends WatchedClient {
  constructor(config?: string | pg.ClientConfig) {
    super(config);
    const query = this.query.bind(this) as (question: unknown, ...rest: unknown[]) => unknown;
    this.query = ((question: unknown, ...rest: unknown[]) =>
      query(isNamed(question) ? { ...question, name: undefined } : question, ...rest)) as typeof this.query;
  }
}

/** Time limit of an answer, as a multiple of the statement's limit: other statements precede it on the connection. */
const PATIENCE = 1.5;

/** Limits of every connection in milliseconds: waiting for a lock, a statement, an idle transaction. */
export const LIMITS = { lock_timeout: 10_000, statement_timeout: 30_000, idle_in_transaction_session_timeout: 60_000 };

/** @throws ServiceRoleError where a pooler refuses a connection for its settings, else the error itself */
export function tellOfPooler(error: unknown): never {
  if (!(error instanceof Error) || !error.message.includes('unsupported startup parameter')) throw error;
  throw new ServiceRoleError(
    `A pooler stands before the database and says: ${error.message}. For PgBouncer before 1.21 set DATABASE_PREPARE=false; ` +
      'a newer one needs ignore_startup_parameters (docs/operations.md, Behind PgBouncer).',
  );
}

/**
 * Checks the limits of a connection. A pooler may drop them; then the limits of the role count.
 * @throws ServiceRoleError where a limit is missing: a query that waits for a row would wait without end
 */
export async function requireLimits(pool: pg.Pool): Promise<void> {
  const { rows } = await pool.query<{ name: keyof typeof LIMITS; role: string }>(
    `SELECT name, quote_ident(current_user) AS role FROM pg_settings WHERE name = ANY ($1) AND setting = '0'`,
    [Object.keys(LIMITS)],
  );
  if (rows.length < Object.keys(LIMITS).length) return;
  const commands = rows.map(({ name, role }) => `ALTER ROLE ${role} SET ${name} = '${LIMITS[name] / 1_000}s';`);
  throw new ServiceRoleError(
    `The connections of DATABASE_URL have no ${rows.map(({ name }) => name).join(', ')}: a pooler keeps them to itself. ` +
      `Give them to the role, and begin its connections anew: ${commands.join(' ')}`,
  );
}

const pools = new WeakMap<DataSource, pg.Pool>();

/**
 * Returns the pool that a data source has opened. A QueryRunner would not do: it can neither drop a connection that
 * was left in the middle of a transaction, nor count connections.
 */
export function poolOf(dataSource: DataSource): pg.Pool {
  const pool = pools.get(dataSource);
  if (!pool) throw new Error('The data source was not made by createDataSource, or is not initialized');
  return pool;
}

/**
 * Makes the data source. Entities are the imported classes with `@Entity`: all of them where the program imports
 * AppModule. Times follow docs/contract.md#idempotency (a twin waits at most 10 s) and the longest query we accept.
 * @param options.statementTimeoutMs 0 for none
 * @param options.prepare false: behind a pooler, which takes no settings from a connection either; default true
 */
export function createDataSource(options: {
  url: string;
  pool: number;
  migrations?: DataSourceOptions['migrations'];
  statementTimeoutMs?: number;
  prepare?: boolean;
}): DataSource {
  const statementTimeoutMs = options.statementTimeoutMs ?? LIMITS.statement_timeout;
  const prepare = options.prepare ?? true;
  /** Says which pool TypeORM opens; TypeORM itself shows it to nobody. */
  class Pool extends pg.Pool {
    constructor(config?: pg.PoolConfig) {
      super(config);
      pools.set(dataSource, this);
    }
  }
  const dataSource = new DataSource({
    type: 'postgres',
    driver: { ...pg, Pool }, // TypeORM would load a second copy, beside the bundle
    url: options.url,
    entities: getMetadataArgsStorage().tables.map(({ target }) => target),
    migrations: options.migrations ?? [],
    migrationsTransactionMode: 'each',
    synchronize: false,
    logging: false,
    applicationName: 'recebe',
    extra: {
      Client: prepare ? WatchedClient : UnpreparedClient,
      max: options.pool,
      types,
      pipeline: true,
      connectionTimeoutMillis: 10_000,
      idleTimeoutMillis: 60_000,
      keepAlive: true,
      // A text, since pg does not send a zero, and the role's own limit would hold.
      ...(prepare && { ...LIMITS, statement_timeout: String(statementTimeoutMs) }),
      // Limit for a silent server: its host is frozen, or the network is cut without a word.
      query_timeout: statementTimeoutMs * PATIENCE,
    },
    // The pool repeats the error of an idle connection, which it replaces: ignore it as above.
    poolErrorHandler: () => undefined,
  });
  return dataSource;
}
