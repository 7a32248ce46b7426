import { parseArgs } from 'node:util';
import { ConfigError, readConfig } from '../core/config/index.js';
import { EmbeddedServerError } from '../core/embedded/index.js';
import { ApiError } from '../core/errors/index.js';
import { openRuntime } from '../runtime.js';
import { UsageError } from './command.js';
import { COMMANDS } from './commands.js';

const USAGE = `Usage: npm run --silent cli -- <group> <command> …

${Object.values(COMMANDS)
  .map((command) => `  ${command.usage}`)
  .join('\n')}

Prints JSON; problems go to stderr with an exit code other than 0. Works while the service runs.
`;

async function main(argv: string[]): Promise<void> {
  const [group = '', name = ''] = argv;
  // A group of one command has no name for it.
  const [command, rest] = COMMANDS[group]
    ? [COMMANDS[group], argv.slice(1)]
    : [COMMANDS[`${group} ${name}`], argv.slice(2)];
  if (!command) throw new UsageError(group === '' ? USAGE : `There is no command "${group} ${name}".\n\n${USAGE}`);
  let parsed: { values: Record<string, unknown>; positionals: string[] };
  try {
    parsed = parseArgs({ args: rest, options: command.options, allowPositionals: true, strict: true });
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : String(error)}\nUsage: ${command.usage}`);
  }
  // No workers and no Redis: a command does one thing and leaves the rest to the service.
  const config = { ...readConfig(process.env), runsWorkers: false, logLevel: 'error' };
  const runtime = await openRuntime(config, { redis: false });
  try {
    await runtime.app.init();
    const result = await command.run(runtime.app, parsed.values, parsed.positionals);
    process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
  } finally {
    await runtime.close();
  }
}

function explain(error: unknown): string {
  if (error instanceof ApiError) {
    const details = (error.details ?? []).map((detail) => `  - ${detail.param}: ${detail.message}`);
    return [error.message, ...(details.length > 1 ? details : [])].join('\n');
  }
  if (error instanceof UsageError || error instanceof ConfigError || error instanceof EmbeddedServerError) {
    return error.message;
  }
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

main(process.argv.slice(2)).then(
  // With the exit code that a command has set.
  () => process.exit(),
  (error: unknown) => {
    process.stderr.write(`${explain(error)}\n`);
    process.exit(error instanceof UsageError ? 2 : 1);
  },
);
