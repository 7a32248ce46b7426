import pg from 'pg';
import { DataSource, type DataSourceOptions, getMetadataArgsStorage } from 'typeorm';

const INT8 = 20;

/** bigint → number. Amounts stay below 2^53 by contract; one that does not must never be rounded silently. */
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
 * A connection whose death is heard all its life long. Whoever waits for an answer is told by the answer, and the pool
 * drops what can no longer be used; but a connection may also die while the pool hands it from one to the next, and an
 * `error` that nobody listens to ends the process.
 */
export class WatchedClient extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config);
    this.on('error', () => undefined);
  }
}

/** What an answer may take, in times of what its statement may: others stand before it on the connection. */
const PATIENCE = 1.5;

/**
 * Its entities are the classes with `@Entity` that the program has imported: all of them where it imports AppModule.
 * Times are those of docs/contract.md#idempotency (a twin waits at most 10 s) and of the longest query we accept.
 * @param options.statementTimeoutMs 0 for none
 */
export function createDataSource(options: {
  url: string;
  pool: number;
  migrations?: DataSourceOptions['migrations'];
  statementTimeoutMs?: number;
}): DataSource {
  const statementTimeoutMs = options.statementTimeoutMs ?? 30_000;
  return new DataSource({
    type: 'postgres',
    url: options.url,
    entities: getMetadataArgsStorage().tables.map(({ target }) => target),
    migrations: options.migrations ?? [],
    migrationsTransactionMode: 'each',
    synchronize: false,
    logging: false,
    applicationName: 'recebe',
    extra: {
      Client: WatchedClient,
      max: options.pool,
      types,
      pipeline: true,
      connectionTimeoutMillis: 10_000,
      idleTimeoutMillis: 60_000,
      keepAlive: true,
      lock_timeout: 10_000,
      statement_timeout: statementTimeoutMs,
      // For a server that says nothing any more: its host is frozen, or the way to it is cut without a word.
      query_timeout: statementTimeoutMs * PATIENCE,
      idle_in_transaction_session_timeout: 60_000,
    },
    // The pool repeats what happened to an idle connection, which it replaces: the same goes for this event.
    poolErrorHandler: () => undefined,
  });
}
