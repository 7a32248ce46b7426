/**
 * Why a job was not accepted:
 *
 * - `unreachable`: No connection.
 * - `timeout`: No answer in time; the job may still arrive.
 * - `full`: Too many jobs wait already.
 * - `refused`: Redis answered with an error.
 * - `closed`: The service is shutting down.
 */
export type QueueUnavailableReason = 'unreachable' | 'timeout' | 'full' | 'refused' | 'closed';

/** The only error `add` and `counts` reject with. Losing a job never loses work: sweepers find it again. */
export class QueueUnavailableError extends Error {
  override readonly name = 'QueueUnavailableError';

  constructor(
    readonly reason: QueueUnavailableReason,
    options?: ErrorOptions,
  ) {
    super(`The job queue cannot take jobs: ${reason}`, options);
  }
}
