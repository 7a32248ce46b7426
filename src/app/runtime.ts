import type { Provider } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { MIGRATIONS } from '../../migrations/index.js';
import { Clock } from '../core/clock.js';
import type { Config } from '../core/config/index.js';
import type { CoreResources } from '../core/core.module.js';
import {
  createDataSource,
  excessivePowers,
  migrate,
  poolOf,
  requireLimits,
  tellOfPooler,
} from '../core/database/index.js';
import { Drain } from '../core/drain.js';
import { HttpAdapter } from '../core/http/index.js';
import { createLogger, type Logger } from '../core/log/index.js';
import { Metrics } from '../core/metrics/index.js';
import { Poller, QueueRedis, type Timer } from '../core/queue/index.js';
import { createRateLimiter } from '../core/rate-limit/index.js';
import { openSecrets } from '../core/resealing/index.js';
import { type LocalServers, type LocalServersOptions, openLocalServers } from '../local-servers/index.js';
import { AppModule } from './app.module.js';

/** A running service without its HTTP port: databases, queue and application, opened in order and closed in reverse. */
export interface Runtime {
  readonly app: NestExpressApplication;
  readonly resources: CoreResources;
  /** `redis`, or the reason why it is not used. */
  readonly queueDescription: string;
  close(): Promise<void>;
}

export interface RuntimeOptions extends Partial<Pick<LocalServersOptions, 'joins' | 'shares'>> {
  readonly redis: boolean;
  /** Receives the error when a local server has failed too often; without it local servers are not restarted. */
  readonly onServerFailure?: (error: Error) => void;
}

/** Replacements for tests. */
export interface RuntimeOverrides {
  readonly clock?: Clock;
  readonly logger?: Logger;
  /** The poller's timer; default setTimeout. */
  readonly timer?: Timer;
  readonly providers?: readonly Provider[];
}

/** Applies the missing migrations as `ownerUrl`, for the service's role of `databaseUrl`. @returns their names */
export async function migrateAs(
  ownerUrl: string,
  databaseUrl: string,
  { databasePrepare }: Pick<Config, 'databasePrepare'>,
): Promise<string[]> {
  return migrate(ownerUrl, MIGRATIONS, databaseUrl, databasePrepare).catch(tellOfPooler);
}

/** Opens local servers for those that `config` does not name; null if it names all. */
export async function openServersOf(
  { dataDir, databaseUrl, redisUrl }: Config,
  { redis, joins = true, shares = false, onServerFailure: onFailure }: RuntimeOptions,
  log: Logger,
): Promise<LocalServers | null> {
  const needs = { postgres: databaseUrl === undefined, redis: redis && redisUrl === undefined };
  if (!needs.postgres && !needs.redis) return null;
  return openLocalServers({ dataDir, needs, joins, shares, restarts: onFailure && { log, onFailure } });
}

/** Opens everything that `config` requires; on a failure closes again what was opened. */
export async function openRuntime(
  config: Config,
  options: RuntimeOptions = { redis: true },
  overrides: RuntimeOverrides = {},
): Promise<Runtime> {
  const closers: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    for (const closer of closers.splice(0).reverse()) await closer();
  };
  try {
    const logger = overrides.logger ?? createLogger(config.logLevel);
    if (config.allowedProblems.length > 0) {
      logger.warn({ problems: config.allowedProblems }, 'ALLOW_INSECURE lets the service run against its own rules');
    }
    const servers = await openServersOf(config, options, logger);
    if (servers) closers.push(() => servers.stop());
    const databaseUrl = config.databaseUrl ?? servers?.postgres?.serviceUrl ?? '';
    const ownerUrl = config.databaseMigrationUrl ?? servers?.postgres?.url ?? databaseUrl;
    const redisUrl = options.redis ? (config.redisUrl ?? servers?.redis?.url) : undefined;

    const prepare = config.databasePrepare;
    await migrateAs(ownerUrl, databaseUrl, config);
    const dataSource = createDataSource({ url: databaseUrl, pool: config.databasePool, prepare });
    await dataSource.initialize().catch(tellOfPooler);
    closers.push(() => dataSource.destroy());
    await requireLimits(poolOf(dataSource));
    const powers = await excessivePowers(poolOf(dataSource), null);
    if (powers.length > 0) {
      logger.warn(
        { powers },
        'the role of DATABASE_URL could change the ledger and the audit trail: give its owner in DATABASE_MIGRATION_URL',
      );
    }

    const metrics = new Metrics();
    const drain = new Drain();
    const queueRedis = redisUrl === undefined ? null : new QueueRedis({ redisUrl, logger });
    closers.push(async () => queueRedis?.close());
    const limiter = createRateLimiter({ redisUrl, logger });
    closers.push(() => limiter.close());
    const poller = new Poller({
      logger,
      runsWorkers: config.runsWorkers,
      ...(overrides.timer && { timer: overrides.timer }),
    });
    const resources: CoreResources = {
      config,
      logger,
      metrics,
      drain,
      dataSource,
      secrets: await openSecrets(config, dataSource),
      queueRedis,
      limiter,
      poller,
      clock: overrides.clock ?? new Clock(),
      providers: overrides.providers ?? [],
    };
    const http = new HttpAdapter(config, logger, metrics, drain);
    const app = await NestFactory.create<NestExpressApplication>(
      AppModule.with(resources),
      http,
      // A route of fixed words wins over one with parameters, in any order of declaration.
      { bodyParser: false, logger: false, abortOnError: false, routeResolutionStrategy: 'specificity' },
    );
    // Closed in reverse: requests stop first, then the tasks, then the resources they used.
    closers.push(() => poller.stop());
    closers.push(() => app.close());
    // Modules close only when no request uses them any more.
    closers.push(() => http.stop(config.drainMs));
    // Runs first: servers that a shutdown ends would otherwise be restarted.
    closers.push(async () => servers?.release());
    return {
      app,
      resources,
      queueDescription:
        redisUrl !== undefined
          ? 'redis'
          : 'in-process (no redis-server or valkey-server on PATH; set REDIS_URL to use one)',
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
