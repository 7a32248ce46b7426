import { type Command, InvalidArgumentError } from 'commander';
import { isDay, saoPauloDay } from '../brazil/index.js';
import { CoherenceService, FeeComparisons, ReconciliationService } from '../reconciliation/index.js';
import { type FigureDifference, StatisticsService } from '../transactions/index.js';
import { type BrokenLink, LedgerChainService } from '../wallets/index.js';
import { accountId, cents, connectionId, required, UsageError } from './command.js';
import { exitCodeOf, failuresOf, feeSummaryOf, reconciliationBody, summaryOf } from './reconciliation.js';
import { run } from './run.js';
import type { Shell } from './shell.js';

/** @throws InvalidArgumentError for an invalid day, and for a future one, on which everything would agree */
function day(text: string): string {
  if (!isDay(text)) throw new InvalidArgumentError('It must be a day: YYYY-MM-DD.');
  const today = saoPauloDay(new Date());
  if (text > today) throw new InvalidArgumentError(`It is in the future: in São Paulo it is ${today}.`);
  return text;
}

/** @throws InvalidArgumentError */
function month(text: string): string {
  if (!isDay(`${text}-01`)) throw new InvalidArgumentError('It must be a month: YYYY-MM.');
  day(`${text}-01`);
  return text;
}

function differenceLine(difference: FigureDifference): Record<string, unknown> {
  const { accountId, mode, kind, bucket, currency, key, count, amount, actualCount, actualAmount } = difference;
  return {
    account_id: accountId,
    mode,
    kind,
    from: bucket.toISOString(),
    currency,
    key,
    kept: { count, amount },
    actual: { count: actualCount, amount: actualAmount },
  };
}

export function statisticsCommands(program: Command, shell: Shell): void {
  const group = program.command('statistics').description('statistics against the transactions they are made of');
  group
    .command('check')
    .description('compare them; exit code 1 when they differ')
    .option('--account <account_id>', 'of one account only', accountId)
    .action(async ({ account }: { account?: string }) => {
      await run(shell, async ({ app }) => {
        const differences = await app.get(StatisticsService).check(account ?? null);
        if (differences.length > 0) shell.exitCode = 1;
        return { differences: differences.map(differenceLine) };
      });
    });
  group
    .command('rebuild')
    .description('make them anew; prints what was wrong')
    .option('--account <account_id>', 'of one account only', accountId)
    .action(async ({ account }: { account?: string }) => {
      await run(shell, async ({ app }) => {
        const differences = await app.get(StatisticsService).rebuild(account ?? null);
        return { rebuilt: true, differences: differences.map(differenceLine) };
      });
    });
}

function brokenLine({ accountId, mode, currency, number, entryId, cause, what }: BrokenLink): Record<string, unknown> {
  return { account_id: accountId, mode, currency, number, entry_id: entryId, cause, what };
}

export function ledgerCommands(program: Command, shell: Shell): void {
  const group = program
    .command('ledger')
    .description('the journal, the chain of its hashes, and all that the books promise');
  group
    .command('check')
    .description(
      'look for what the books promise and do not keep, as of one instant; exit code 1 when something is found',
    )
    .option('--events', 'also what all events together tell, while none of them were removed by retention')
    .action(async ({ events = false }: { events?: boolean }) => {
      await run(shell, async ({ app }) => {
        const { promises, broken } = await app.get(CoherenceService).check(events);
        if (broken.length > 0) shell.exitCode = 1;
        return { coherent: broken.length === 0, promises, broken };
      });
    });
  group
    .command('verify')
    .description('name the first entry of each wallet that was changed, added or removed; exit code 1 when one was')
    .option('--account <account_id>', 'of one account only; prints the heads of its chains too', accountId)
    .action(async ({ account }: { account?: string }) => {
      await run(shell, async ({ app }) => {
        const { wallets, entries, notYetLinked, isStalled, broken, heads } = await app
          .get(LedgerChainService)
          .verify(account ?? null);
        if (broken.length > 0 || isStalled) shell.exitCode = 1;
        if (isStalled) shell.stderr.write('Entries have waited for ten minutes to be linked: is a worker running?\n');
        return {
          intact: broken.length === 0,
          stalled: isStalled,
          wallets,
          entries,
          not_yet_linked: notYetLinked,
          broken: broken.map(brokenLine),
          ...(account === undefined
            ? {}
            : { heads: heads.map(({ mode, currency, number, hash }) => ({ mode, currency, number, hash })) }),
        };
      });
    });
}

interface ReconcileOptions {
  readonly account: string;
  readonly day?: string;
  readonly fees?: true;
  readonly month?: string;
  readonly invoice?: number;
  readonly connection?: string;
  readonly feesDebited?: true;
}

export function reconcileCommand(program: Command, shell: Shell): void {
  program
    .command('reconcile')
    .description(
      "compare the acquirer's lists of a day in São Paulo, with its balance, or its invoice of a month, with our books; " +
        'exit code 1 when they differ, 3 when they do not but a list could not be read',
    )
    .addOption(required('--account <account_id>', 'whose').argParser(accountId))
    .option('--day <day>', 'YYYY-MM-DD, whose list is compared', day)
    .option('--fees-debited', 'the PSP takes its fees out of the balance, and sends no invoice')
    .option('--fees', 'the invoice of a month instead')
    .option('--month <month>', 'YYYY-MM, with --fees', month)
    .option('--invoice <cents>', 'what the acquirer asks for that month, with --fees', cents)
    .option('--connection <id>', 'whose invoice it is, with --fees where the account has several', connectionId)
    .action(async (options: ReconcileOptions, command: Command) => {
      const { account, day, fees, month, invoice, connection, feesDebited } = options;
      const given = Object.entries({ day, month, invoice, connection, 'fees-debited': feesDebited }).filter(
        ([, value]) => value !== undefined,
      );
      const [wanted, possible] = fees
        ? [
            ['month', 'invoice'],
            ['month', 'invoice', 'connection'],
          ]
        : [['day'], ['day', 'fees-debited']];
      const missing = wanted.filter((name) => !given.some(([one]) => one === name));
      if (missing.length > 0) command.error(`error: missing ${missing.map((name) => `--${name}`).join(', ')}`);
      const other = given.find(([name]) => !possible.includes(name));
      if (other) throw new UsageError(`--${other[0]} is ${fees ? 'not for' : 'for'} --fees.`);
      await run(shell, async ({ app }) => {
        if (month !== undefined && invoice !== undefined) {
          const result = await app.get(FeeComparisons).compare(account, connection ?? null, month, invoice);
          const lines = feeSummaryOf(account, month, result);
          if (lines.length > 0) shell.stderr.write(`${lines.join('\n')}\n`);
          shell.exitCode = result.difference === 0 ? 0 : 1;
          return { account_id: account, month, ...result };
        }
        if (day === undefined) throw new Error('nothing says what to compare');
        const result = await app.get(ReconciliationService).compare(account, day, feesDebited ?? false);
        const lines = [...summaryOf(day, result), ...failuresOf(day, result)];
        // Prints the problems for people, beside the JSON; nothing when there are none.
        if (lines.length > 0) shell.stderr.write(`${lines.join('\n')}\n`);
        shell.exitCode = exitCodeOf(result);
        return { account_id: account, day, ...reconciliationBody(result) };
      });
    });
}
