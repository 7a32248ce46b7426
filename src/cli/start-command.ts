import { type Command, InvalidArgumentError } from 'commander';
import { startService } from '../app/index.js';
import type { Shell } from './shell.js';

export function startCommand(program: Command, { env }: Shell): void {
  program
    .command('start')
    .description('run the service on its embedded PostgreSQL, until Ctrl-C')
    .option('--data <directory>', 'for its data; default: DATA_DIR, else ./.data')
    .option('--port <number>', 'default: PORT, else 3000; 0 for a free one', port)
    .addHelpText(
      'after',
      `
All settings of docs/configuration.md may be given as variables. The first start makes an account to try things with.

Examples:
  recebe start
  recebe start --data /var/lib/recebe --port 8080`,
    )
    .action(async ({ data, port: chosen }: { data?: string; port?: string }) => {
      if (data !== undefined) env['DATA_DIR'] = data;
      if (chosen !== undefined) env['PORT'] = chosen;
      await startService();
    });
}

function port(text: string): string {
  if (/^\d{1,5}$/.test(text) && Number(text) < 65_536) return text;
  throw new InvalidArgumentError('It must be a number from 0 to 65535.');
}
