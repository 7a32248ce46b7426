import { Argument, type Command, InvalidArgumentError, Option } from 'commander';
import { lastInstantOf } from '../core/http/index.js';
import { isUuid, withSmallUuids } from '../core/ids.js';

/** The command line itself is wrong: exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

export const EXIT_USAGE = 2;

const requiredOptions = new WeakSet<Option>();

/** A required option. Commander's own `requiredOption` reports only the first missing one. */
export function required(flags: string, description: string): Option {
  const option = new Option(flags, `${description} (required)`);
  requiredOptions.add(option);
  return option;
}

export function checkRequired(command: Command): void {
  const missing = command.options.filter(
    (option) => requiredOptions.has(option) && command.getOptionValue(option.attributeName()) === undefined,
  );
  if (missing.length > 0) command.error(`error: missing ${missing.map(({ long }) => long).join(', ')}`);
}

/** An `.argParser()` for an amount in cents: a whole number, zero or more. */
export function cents(text: string): number {
  const number = /^[0-9]{1,12}$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isNaN(number)) throw new InvalidArgumentError('It must be a whole number of cents: 1990 is R$ 19,90.');
  return number;
}

/** An `.argParser()` for the id of an account. */
export function accountId(text: string): string {
  return uuid(text, 'Name the account by its id, as `account create` and `account list` print it.');
}

/** An `.argParser()` for the id of a connection. */
export function connectionId(text: string): string {
  return uuid(text, 'Name the connection by its id, as `acquirer list` prints it.');
}

export function uuid(text: string, advice: string): string {
  const id = withSmallUuids(text);
  if (!isUuid(id)) throw new InvalidArgumentError(advice);
  return id;
}

/** Parses `key=value`. */
export function pair(text: string): [key: string, value: string] {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('It must be of the form key=value.');
  return [text.slice(0, at), text.slice(at + 1)];
}

/** An `.argParser()` for repeated pairs. Dashes and underscores in their names are equal. */
export function pairs(text: string, before: Record<string, string> = {}): Record<string, string> {
  const [key, value] = pair(text);
  const spelling = (name: string): string => name.replaceAll('-', '_');
  // If a key is given twice, the intended value is unknown.
  if (Object.keys(before).some((other) => spelling(other) === spelling(key))) {
    throw new InvalidArgumentError(`${key} is given twice.`);
  }
  return { ...before, [key]: value };
}

/** Parses a day in São Paulo, to its end, or an instant with its zone. */
export function instant(text: string): Date {
  try {
    return lastInstantOf(text);
  } catch {
    throw new InvalidArgumentError(
      'It must be a day, as 2027-11-21, or an instant with its zone, as 2027-11-21T12:00:00Z.',
    );
  }
}

/** Validates like `instant` but returns the text unchanged. */
export function date(text: string): string {
  instant(text);
  return text;
}

export function accountArgument(): Argument {
  return new Argument('<account_id>').argParser(accountId);
}
