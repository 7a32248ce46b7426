import { isNativeError } from 'node:util/types';

interface PgError extends Error {
  code: string;
  constraint?: string;
  /** Context of the error on the server, as "while inserting index tuple (0,1) in relation …". */
  where?: string;
}

function isPgError(error: unknown): error is PgError {
  // Why not instanceof: Node's own errors come from another realm where code runs in a vm context, as in the tests.
  return isNativeError(error) && typeof (error as Partial<PgError>).code === 'string';
}

/** The name of the unique constraint that was violated, or null for any other error. */
export function uniqueViolation(error: unknown): string | null {
  return isPgError(error) && error.code === '23505' ? (error.constraint ?? '') : null;
}

/**
 * Detects a sum above 2^53 - 1, where numbers of JavaScript and JSON are no longer exact, by the name of its
 * constraint.
 */
export function isBeyondExact(error: unknown): boolean {
  return isPgError(error) && error.code === '23514' && error.constraint?.endsWith('_exact_check') === true;
}

/** Detects a serialization failure or deadlock: the whole transaction may be run again from the top. */
export function isRetryable(error: unknown): boolean {
  return isPgError(error) && (error.code === '40001' || error.code === '40P01');
}

/** @param relation of the rows or index entries waited for; left out: any */
export function isLockTimeout(error: unknown, relation = ''): boolean {
  if (!isPgError(error) || error.code !== '55P03') return false;
  return relation === '' || (error.where ?? '').includes(`relation "${relation}`);
}

/**
 * Detects a row of a partitioned table whose partition does not exist. A failed check has the same code and a name.
 */
export function isPartitionMissing(error: unknown): boolean {
  return isPgError(error) && error.code === '23514' && error.constraint === undefined;
}

/** Detects the echo of an earlier failure: a statement of the transaction failed before. */
export function isAborted(error: unknown): boolean {
  return isPgError(error) && error.code === '25P02';
}

/** Detects a single statement that took too long: the database is there, and a smaller request may pass. */
export function isStatementTimeout(error: unknown): boolean {
  return isPgError(error) && error.code === '57014';
}

/** Detects an unreachable database, as opposed to a statement that did not finish in time. */
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

/** Detects an unreachable or overloaded database: the caller may repeat the request later. */
export function isUnavailable(error: unknown): boolean {
  if (!isNativeError(error)) return false;
  if (isPgError(error) && UNAVAILABLE.has(error.code)) return true;
  return /^(Connection terminated|timeout exceeded when trying to connect|timeout expired|Query read timeout|Client (has encountered a connection error|was closed))/.test(
    error.message,
  );
}
