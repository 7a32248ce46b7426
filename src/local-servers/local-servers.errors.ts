/** A local server cannot run. The message tells the person at the terminal what is wrong and how to mend it. */
export class LocalServerError extends Error {
  override readonly name = 'LocalServerError';
}
