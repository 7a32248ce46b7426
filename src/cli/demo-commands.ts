import type { Command } from 'commander';
import { type Config, CONFIG } from '../core/config/index.js';
import { fillDemo } from '../demo/index.js';
import { run } from './run.js';
import type { Shell } from './shell.js';

export function demoCommands(program: Command, shell: Shell): void {
  program
    .command('demo')
    .description('the account to try things with')
    .command('fill')
    .description('give it a month of sales, if it was made without one (DEMO_FILL=false) and has moved no money yet')
    .action(() => run(shell, ({ app }) => fillDemo(app, app.get<Config>(CONFIG))));
}
