import { Command, CommanderError } from 'commander';
import { ConfigError } from '../core/config/index.js';
import { MigrationError, ServiceRoleError } from '../core/database/index.js';
import { ApiError } from '../core/errors/index.js';
import { LocalServerError } from '../local-servers/index.js';
import { accountCommands, keyCommands, memberCommands, operatorCommands, userCommands } from './account-commands.js';
import { acquirerCommands } from './acquirer-commands.js';
import { ledgerCommands, reconcileCommand, statisticsCommands } from './books-commands.js';
import { ClientError } from './client.js';
import { checkRequired, EXIT_USAGE, UsageError } from './command.js';
import { completionCommand } from './completion-command.js';
import { demoCommands } from './demo-commands.js';
import { eventCommands } from './event-commands.js';
import { listenCommand } from './listen-command.js';
import { logCommands } from './log-commands.js';
import { migrateCommand } from './migrate-command.js';
import { reportCommands } from './report-commands.js';
import { secretCommands } from './secret-commands.js';
import type { Shell } from './shell.js';
import { startCommand } from './start-command.js';
import { triggerCommand } from './trigger-command.js';
import { workCommands } from './work-commands.js';

function program(shell: Shell): Command {
  const root = new Command(shell.program)
    .description(
      'Runs the service, and works with one. Commands for developers need only its URL and a key (RECEBE_URL, ' +
        'RECEBE_API_KEY), those for operators its data (DATA_DIR). JSON behind a pipe; problems go to stderr with an ' +
        'exit code other than 0.',
    )
    .version(shell.version, '--version')
    .helpOption('-h, --help', 'what it is and takes')
    .addHelpText('after', `\nOf a group or a command: ${shell.program} account create --help`)
    .showHelpAfterError('(--help says what it takes)')
    .configureHelp({
      // The help shows a group with the names of its commands.
      subcommandDescription: (command) =>
        [command.description(), command.commands.map((inner) => inner.name()).join(', ')].filter(Boolean).join(': '),
    })
    .exitOverride()
    .configureOutput({
      writeOut: (text) => shell.stdout.write(text),
      writeErr: (text) => shell.stderr.write(text),
    })
    .hook('preAction', (_root, command) => checkRequired(command));
  root.commandsGroup('For developers:');
  for (const add of [startCommand, listenCommand, triggerCommand, eventCommands, logCommands]) add(root, shell);
  completionCommand(root, shell);
  root.commandsGroup('For operators, with the files of the service:');
  const groups = [accountCommands, memberCommands, operatorCommands, userCommands, keyCommands, acquirerCommands];
  const books = [statisticsCommands, ledgerCommands, reportCommands, reconcileCommand];
  for (const add of [...groups, ...books, workCommands, secretCommands, migrateCommand, demoCommands]) add(root, shell);
  return root;
}

function explain(error: unknown): string {
  if (error instanceof ApiError) {
    const details = (error.details ?? []).map((detail) => `  - ${detail.param}: ${detail.message}`);
    // The message of several violations refers to the HTTP answer; the command line lists them.
    return details.length > 1 ? ['This is refused:', ...details].join('\n') : error.message;
  }
  const known = [UsageError, ClientError, ConfigError, LocalServerError, MigrationError, ServiceRoleError];
  if (known.some((kind) => error instanceof kind)) {
    return (error as Error).message;
  }
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** @returns the exit code */
function report(error: unknown, shell: Shell): number {
  // Commander has already printed the message, also for help and version.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_USAGE;
  shell.stderr.write(`${explain(error)}\n`);
  return error instanceof UsageError ? EXIT_USAGE : 1;
}

/**
 * Runs one command.
 * @param args without the program's own name
 * @returns the exit code: 0; 1 for a failure or difference; 2 for a wrong command line; or the command's own code
 */
export async function cli(args: readonly string[], shell: Shell): Promise<number> {
  try {
    await program(shell).parseAsync(args, { from: 'user' });
    return shell.exitCode;
  } catch (error) {
    return report(error, shell);
  }
}
