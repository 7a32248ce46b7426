import type { Command } from 'commander';
import { ConfigError, readConfig } from '../core/config/index.js';
import { migrateAs } from '../app/index.js';
import type { Shell } from './shell.js';

export function migrateCommand(program: Command, { env, stdout }: Shell): void {
  program
    .command('migrate')
    .description('apply the missing migrations as the role of DATABASE_MIGRATION_URL, so that no process needs it')
    .action(async () => {
      const config = readConfig(env);
      if (config.databaseUrl === undefined) {
        throw new ConfigError('DATABASE_URL is not set. The start of the service migrates its embedded database.');
      }
      const applied = await migrateAs(config.databaseMigrationUrl ?? config.databaseUrl, config.databaseUrl, config);
      stdout.write(`${JSON.stringify({ applied }, null, 2)}\n`);
    });
}
