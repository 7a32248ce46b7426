import { pino, type Logger as PinoLogger } from 'pino';

/** The injection token is the class; the implementation is pino: JSON lines on stdout. */
export abstract class Logger {
  abstract debug(fields: object, message: string): void;
  abstract info(fields: object, message: string): void;
  abstract warn(fields: object, message: string): void;
  abstract error(fields: object, message: string): void;
}

/**
 * Paths that must never be printed, as a second line of defence: above all, no caller passes such values
 * (docs/contract.md#logs: never keys, tokens, secrets or documents).
 */
const REDACT = ['apikey', 'apiKey', 'authorization', 'password', 'secret', 'token', 'document', 'customerDocument'];

/**
 * Returns only the parts of an error written for developers. Other properties stay out: PostgreSQL's `detail` quotes
 * the row that failed, with a customer's document in it.
 */
export function describeError(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) };
  const code = (error as { code?: unknown }).code;
  return {
    type: error.name,
    message: error.message,
    ...(typeof code === 'string' ? { code } : {}),
    stack: error.stack,
    ...(error.cause === undefined ? {} : { cause: describeError(error.cause) }),
  };
}

export function createLogger(level: string, destination?: { write(line: string): void }): Logger {
  const options = {
    level,
    base: null,
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: [...REDACT, ...REDACT.map((path) => `*.${path}`)],
    errorKey: 'error',
    serializers: { error: describeError, err: describeError },
  };
  const logger: PinoLogger = destination ? pino(options, destination) : pino(options);
  return logger;
}
