import cluster from 'node:cluster';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { basename } from 'node:path';
import { type Config, ConfigError, readConfig } from '../core/config/index.js';
import { MigrationError, ServiceRoleError } from '../core/database/index.js';
import type { Logger } from '../core/log/index.js';
import { type DemoFile, ensureDemo, sampleCheckoutUrl } from '../demo/index.js';
import { LocalServerError, refuseSecondService } from '../local-servers/index.js';
import { FAILURE_LIMIT_MS, runCluster, speaks, tellReady } from './cluster.js';
import { serveDashboard } from './dashboard.js';
import { setupOpenApi } from './openapi/setup.js';
import { openRuntime, type Runtime } from './runtime.js';
import { announceService, withdrawService } from '../core/service-address.js';

const started = performance.now();
const onTerminal = process.stdout.isTTY;
/** Installed as a package it was started by its name, and there is no `npm run`. */
const isPackage = basename(process.argv[1] ?? '') === 'recebe';

/** The tasks of a worker process. */
const WORK = 'events and webhooks, mail, acquirers’ news, expiry, refunds and returns, releases, figures, clean-up';

/** The text for a person at the terminal; everything logged after it is JSON lines. */
function banner(
  config: Config,
  runtime: Runtime,
  address: string,
  demo: DemoFile | null,
  checkout: string | null,
): string {
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  const rows: (readonly [string, string])[] = [
    ...(config.runsApi
      ? ([
          ['Dashboard', `${config.publicBaseUrl}/dashboard`],
          ['API', config.publicBaseUrl],
          ['Docs', `${config.publicBaseUrl}/docs`],
        ] as const)
      : ([
          ['Works on', WORK],
          ['Health', `${address}/health/ready`],
        ] as const)),
    ...(checkout === null ? [] : ([['Checkout', `${checkout}  (a sample charge)`]] as const)),
    ...(demo === null
      ? []
      : ([
          // A log has more readers than a terminal, so the password is not printed there.
          ['Login', `${demo.email}  password ${onTerminal ? demo.password : `in ${config.dataDir}/demo.json`}`],
          ['Test key', onTerminal ? demo.test_api_key : `in ${config.dataDir}/demo.json`],
        ] as const)),
    ['Database', config.databaseUrl === undefined ? `embedded PostgreSQL in ${config.dataDir}` : 'DATABASE_URL'],
    ['Queue', runtime.queueDescription],
    ...(config.cluster > 1 ? [['Processes', String(config.cluster)] as [string, string]] : []),
    ['Files', config.storage.kind === 'disk' ? config.storage.directory : `bucket ${config.storage.bucket}`],
    ['Mail', config.mail.smtpUrl === undefined ? `files in ${config.dataDir}/mail` : 'SMTP_URL'],
    ...(config.logLevel === 'warn' && onTerminal
      ? [['Log', 'warnings and errors only; LOG_LEVEL=info shows every request'] as [string, string]]
      : []),
  ];
  const lines = rows.map(([name, value]) => `  ${name.padEnd(9)} ${value}`);
  const hint = isPackage
    ? 'recebe listen --forward-to http://localhost:8080/webhooks, and recebe trigger charge.paid'
    : 'npm run demo, or the first charge in the README';
  const next = demo === null ? '' : `\n  Next: ${hint}.\n`;
  return `\nRecebe is ready (role ${config.role}, ${seconds} s)\n\n${lines.join('\n')}\n${next}\n`;
}

/** Checks the port before starting the databases in vain. @throws the error of listen, for example EADDRINUSE */
async function assertPortFree(config: Config): Promise<void> {
  const probe = createServer();
  probe.listen(config.port, config.host);
  await once(probe, 'listening');
  probe.close();
  await once(probe, 'close');
}

async function start(): Promise<void> {
  const config = readConfig(process.env, { onTerminal });
  if (config.databaseUrl === undefined && cluster.isPrimary) refuseSecondService(config.dataDir);
  await assertPortFree(config);
  if (config.cluster > 1 && cluster.isPrimary) return runCluster(config);
  if (config.databaseUrl === undefined && speaks())
    process.stdout.write('Starting; the first time takes a few seconds longer…\n');
  let opened: Runtime | null = null;
  let closing: Promise<void> | null = null;
  const shutDown = (signal: string, exitCode = 0): void => {
    // If nothing is open yet, or a second signal comes, a person does not want to wait: exits at once.
    if (!opened || closing) process.exit(130);
    const { resources } = opened;
    resources.logger.info({ signal }, 'shutting down');
    withdrawService(config.dataDir);
    closing = opened.close().then(
      () => process.exit(exitCode),
      (error: unknown) => {
        resources.logger.error({ error }, 'shutting down failed');
        process.exit(1);
      },
    );
  };
  // A process of a cluster may get SIGTERM from a supervisor and from the first process: the second one is ignored.
  process.on('SIGTERM', (signal) => {
    if (!(cluster.isWorker && closing)) shutDown(signal);
  });
  // A terminal interrupts all processes of a cluster; the first process ends the others in order.
  process.on('SIGINT', (signal) => {
    if (!cluster.isWorker) shutDown(signal);
  });
  const { worker } = cluster;
  if (worker) {
    // Without this, Node.js would end the process at once, in the middle of its work.
    worker.once('disconnect', () => (worker.exitedAfterDisconnect = true));
    process.on('disconnect', () => shutDown('the first process of the cluster is gone'));
  }
  const onServerFailure = (error: Error): void => {
    // Last, after what the shutdown logs.
    process.once('exit', () => process.stderr.write(`\nRecebe has ended.\n${error.message}\n`));
    setTimeout(() => process.exit(1), FAILURE_LIMIT_MS).unref();
    if (opened) shutDown('a local server has failed', 1);
    else process.exit(1);
  };
  const runtime = await openRuntime(config, {
    redis: true,
    // A second service on the same data would lose its database when the first one ends.
    joins: cluster.isWorker || config.databaseUrl !== undefined,
    shares: cluster.isPrimary,
    onServerFailure,
  });
  opened = runtime;
  const { app, resources } = runtime;

  try {
    if (config.runsApi) {
      setupOpenApi(app, config.publicBaseUrl);
      serveDashboard(app);
    }
    await app.init();
    // Runs before /health/ready answers 200, because scripts read the file at that moment.
    let demo = config.runsApi ? await ensureDemo(app, config) : null;
    await app.listen(config.port, config.host);
    const address = `http://localhost:${new URL(await app.getUrl()).port}`;
    if (config.port === 0 && !process.env['PUBLIC_BASE_URL']) {
      config.publicBaseUrl = address;
      if (demo !== null) demo = await ensureDemo(app, config);
    }
    if (config.runsApi) announce(config, resources.logger);
    if (speaks()) {
      const checkout = demo === null ? null : await sampleCheckoutUrl(app, demo);
      process.stdout.write(banner(config, runtime, address, demo, checkout));
    }
    tellReady();
  } catch (error) {
    await runtime.close();
    throw error;
  }
}

/** Writes the address of the service for the command line. If the directory is not writable, the service still runs. */
function announce(config: Config, logger: Logger): void {
  try {
    announceService(config.dataDir, config.publicBaseUrl);
  } catch (error) {
    logger.warn({ error }, 'the command line cannot find this service: give it PUBLIC_BASE_URL');
  }
}

function startOn(port: number): string {
  return isPackage ? `recebe start --port ${port}` : `PORT=${port} npm start`;
}

function explain(error: unknown): string {
  if ([ConfigError, LocalServerError, MigrationError, ServiceRoleError].some((known) => error instanceof known)) {
    return (error as Error).message;
  }
  const { code, syscall, port } = (error ?? {}) as NodeJS.ErrnoException & { port?: number };
  if (code === 'EADDRINUSE') {
    return `Port ${port ?? ''} is taken by another program, or by Recebe itself. Choose another one: ${startOn((port ?? 3000) + 1)}`;
  }
  // A cluster reports `bind` instead of `listen`.
  if (code === 'EACCES' && (syscall === 'listen' || syscall === 'bind')) {
    return 'The port may not be opened by this user. Choose one above 1023: ' + startOn(3000);
  }
  if (code === '42501') {
    return `The database refuses it: ${String(error)}\nGive the role that owns its tables in DATABASE_MIGRATION_URL.`;
  }
  if (code === '28P01') {
    return `The database refuses a password: ${String(error)}\nCheck DATABASE_URL and DATABASE_MIGRATION_URL.`;
  }
  if (code === 'ECONNREFUSED' || code === 'ENOTFOUND') {
    return `The database or Redis does not answer: ${String(error)}\nCheck DATABASE_URL and REDIS_URL.`;
  }
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

start().catch((error: unknown) => {
  process.stderr.write(`\nRecebe could not start.\n${explain(error)}\n`);
  process.exit(1);
});
