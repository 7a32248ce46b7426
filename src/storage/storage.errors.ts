import { ApiError } from '../core/errors/index.js';

/** 503 `service_unavailable`: the store does not answer, or refuses us. */
export class StorageUnavailable extends ApiError {
  constructor(cause: unknown) {
    super(503, 'api_error', 'service_unavailable', 'File storage is not available right now; retry with backoff.', {
      headers: { 'Retry-After': '5' },
    });
    this.cause = cause;
  }
}

/** Runs an operation of the store. @throws StorageUnavailable for whatever fails in it */
export async function withStore<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new StorageUnavailable(error);
  }
}
