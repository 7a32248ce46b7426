import { isNativeError } from 'node:util/types';

interface PgError extends Error {
  code: string;
  constraint?: string;
  /** What the server was at, as "while inserting index tuple (0,1) in relation …". */
  where?: string;
}

function isPgError(error: unknown): error is PgError {
  // Not instanceof: errors of Node's own are of another realm where code runs in a vm context, as in the tests.
  return isNativeError(error) && typeof (error as Partial<PgError>).code === 'string';
}

/** The name of the unique constraint that was violated, or null for any other error. */
export function uniqueViolation(error: unknown): string | null {
  return isPgError(error) && error.code === '23505' ? (error.constraint ?? '') : null;
}

/** A sum would pass 2^53 - 1, beyond which no number of JavaScript or JSON is exact: the constraints of that name. */
export function isBeyondExact(error: unknown): boolean {
  return isPgError(error) && error.code === '23514' && error.constraint?.endsWith('_exact_check') === true;
}

/** Serialization failure or deadlock: the whole transaction may be run again from the top. */
export function isRetryable(error: unknown): boolean {
  return isPgError(error) && (error.code === '40001' || error.code === '40P01');
}

/** @param relation whose rows or index entries were waited for; left out: any */
export function isLockTimeout(error: unknown, relation = ''): boolean {
  if (!isPgError(error) || error.code !== '55P03') return false;
  return relation === '' || (error.where ?? '').includes(`relation "${relation}`);
}

/** A row of a partitioned table whose partition does not exist. A check that failed has the same code and a name. */
export function isPartitionMissing(error: unknown): boolean {
  return isPgError(error) && error.code === '23514' && error.constraint === undefined;
}

/** An earlier statement of the transaction failed; this error only echoes it. */
export function isAborted(error: unknown): boolean {
  return isPgError(error) && error.code === '25P02';
}

/** A single statement took too long: the database is there, and a smaller request may pass. */
export function isStatementTimeout(error: unknown): boolean {
  return isPgError(error) && error.code === '57014';
}

/** The database cannot be reached, as opposed to a statement of ours that it does not get done in time. */
export function isAway(error: unknown): boolean {
  return isUnavailable(error) && !isStatementTimeout(error);
}

const UNAVAILABLE = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETIMEDOUT',
  '57P01', // admin_shutdown
  '57P02', // crash_shutdown
  '57P03', // cannot_connect_now
  '57014', // query_canceled by statement_timeout
  '25006', // read_only_sql_transaction: the address leads to what is a replica after a fail-over
  '25P03', // idle_in_transaction_session_timeout
  '53100', // disk_full
  '53200', // out_of_memory
  '53300', // too_many_connections
  '08000',
  '08001',
  '08003',
  '08006',
]);

/** The database cannot be reached or is overloaded: the caller may repeat the request later. */
export function isUnavailable(error: unknown): boolean {
  if (!isNativeError(error)) return false;
  if (isPgError(error) && UNAVAILABLE.has(error.code)) return true;
  return /^(Connection terminated|timeout exceeded when trying to connect|timeout expired|Query read timeout|Client (has encountered a connection error|was closed))/.test(
    error.message,
  );
}
