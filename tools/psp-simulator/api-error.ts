import { type Answer } from './api.js';

/** Refuses a client's request; the answer is sent as it is. */
export abstract class ApiError extends Error {
  constructor(readonly answer: Answer) {
    super(JSON.stringify(answer.body));
  }
}

/** The errors that every operation can have, in the words of one API. */
export interface CommonErrors {
  unauthorized(): ApiError;
  forbidden(): ApiError;
  /** The body is not JSON. */
  unreadable(): ApiError;
  internal(): ApiError;
  unavailable(): ApiError;
  throttled(retryAfterSeconds: number): ApiError;
}
