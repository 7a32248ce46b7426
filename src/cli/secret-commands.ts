import type { Command } from 'commander';
import { ResealingService } from '../core/resealing/index.js';
import { run } from './run.js';
import type { Shell } from './shell.js';

export function secretCommands(program: Command, shell: Shell): void {
  program
    .command('secrets')
    .description('what is sealed in the database')
    .command('reseal')
    .description(
      'seal everything under the first key of ENCRYPTION_KEY, so that the others can go; exit code 1: not all of it',
    )
    .action(async () => {
      await run(shell, async ({ app }) => {
        const places = await app.get(ResealingService).resealAll(({ place, resealed, unreadable }) => {
          shell.stderr.write(`${place}: ${resealed} resealed, ${unreadable} unreadable\n`);
        });
        const total = (of: 'resealed' | 'skipped' | 'unreadable'): number =>
          places.reduce((sum, place) => sum + place[of], 0);
        if (total('unreadable') + total('skipped') > 0) shell.exitCode = 1;
        return { resealed: total('resealed'), skipped: total('skipped'), unreadable: total('unreadable'), places };
      });
    });
}
