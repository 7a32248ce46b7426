import type { ParseArgsConfig } from 'node:util';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';

/** The command line itself is wrong: exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

export type Values = Record<string, unknown>;

export interface Command {
  readonly usage: string;
  readonly options: NonNullable<ParseArgsConfig['options']>;
  run(app: NestFastifyApplication, values: Values, positionals: string[]): Promise<unknown>;
}

export const TEXT = { type: 'string' } as const;

export function need(values: Values, ...names: string[]): string[] {
  const missing = names.filter((name) => typeof values[name] !== 'string');
  if (missing.length > 0) throw new UsageError(`Missing ${missing.map((name) => `--${name}`).join(', ')}.`);
  return names.map((name) => values[name] as string);
}

export function accountIdOf([id = '']: readonly string[]): string {
  if (!/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id)) {
    throw new UsageError('Name the account by its id, as `account create` printed it.');
  }
  return id;
}

/** The account of `--account`, or null for all. */
export function accountOption({ account }: Values): string | null {
  return typeof account === 'string' ? accountIdOf([account]) : null;
}
