/**
 * An embedded server cannot run here. The message is for the person at the terminal: it names the directory, user or
 * port in question and the command or variable that mends it.
 */
export class EmbeddedServerError extends Error {
  override readonly name = 'EmbeddedServerError';
}

/**
 * The code of a system or PostgreSQL error, such as ENOENT or 57P03; the error as text when it has none. Asked of the
 * property and not by `instanceof`, which is false for errors of another realm, as in a test runner's sandbox.
 */
export function codeOf(error: unknown): string {
  if (typeof error === 'object' && error !== null && 'code' in error) return String(error.code);
  return String(error);
}
