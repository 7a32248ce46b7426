import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Config, ConfigError, readConfig } from './config.js';
import { localSecret } from './local-secrets.js';

const HEX = '0123456789abcdefABCDEF0123456789abcdef0123456789abcdef0123456789';

function problemsOf(env: Record<string, string>): string[] {
  try {
    readConfig(env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.message
      .split('\n')
      .slice(1)
      .map((line) => line.replace(/^ {2}- /, ''));
  }
  return [];
}

describe('the configuration', () => {
  it('of an empty environment is the embedded default', () => {
    expect(readConfig({})).toStrictEqual({
      production: false,
      role: 'all',
      runsApi: true,
      runsWorkers: true,
      port: 3000,
      host: '127.0.0.1',
      maxConnections: 2_000,
      publicBaseUrl: 'http://localhost:3000',
      dataDir: './.data',
      databaseUrl: undefined,
      databaseMigrationUrl: undefined,
      databasePool: 16,
      redisUrl: undefined,
      mail: { smtpUrl: undefined, from: { name: 'Recebe', address: 'no-reply@localhost' } },
      storage: { kind: 'disk', directory: '.data/evidence' },
      storageMinFree: 512 * 1024 * 1024,
      evidenceQuota: 2_048 * 1024 * 1024,
      jwtSecret: undefined,
      encryptionKey: undefined,
      logLevel: 'info',
      metricsToken: undefined,
      trustProxies: [],
      certificateHeader: null,
      rateLimit: {
        enabled: true,
        rate: 200,
        burst: 400,
        authFailuresPerMinute: 60,
        publicPerMinute: 60,
        loginPer15Minutes: 10,
      },
      dashboardOrigins: [],
      retentionMs: 90 * 86_400_000,
      chargeListEnabled: false,
      medAutoRulings: true,
      webhooks: {
        // docs/contract.md#attempts: 10 s to 22 h, 15 attempts with the first one.
        retryScheduleSeconds: [10, 30, 120, 300, 900, 1800, 3600, 7200, 14400, 21600, 28800, 43200, 57600, 79200],
        concurrency: 256,
        // docs/contract.md#attempts: 15 s, 5 s for connecting.
        timeoutMs: 15_000,
        connectTimeoutMs: 5_000,
        allowPrivate: true,
      },
    } satisfies Config);
  });

  it('takes an empty value for an unset one, as compose files write them', () => {
    const names = ['NODE_ENV', 'ROLE', 'PORT', 'HOST', 'PUBLIC_BASE_URL', 'DATABASE_URL', 'REDIS_URL', 'JWT_SECRET'];
    expect(readConfig(Object.fromEntries(names.map((name) => [name, ''])))).toEqual(readConfig({}));
  });

  it.each([
    [{ ROLE: 'api' }, { role: 'api', runsApi: true, runsWorkers: false }],
    [{ ROLE: 'worker' }, { role: 'worker', runsApi: false, runsWorkers: true }],
    [{ PORT: '0' }, { port: 0 }],
    [{ PORT: '8080' }, { port: 8080, publicBaseUrl: 'http://localhost:8080' }],
    [
      { DATABASE_URL: 'postgres://db/x' },
      { host: '0.0.0.0', databaseUrl: 'postgres://db/x', webhooks: { allowPrivate: false } },
    ],
    [{ DATABASE_URL: 'postgresql://u:p@db:5432/x', HOST: '::1' }, { host: '::1' }],
    [{ PUBLIC_BASE_URL: 'https://pay.example.com///' }, { publicBaseUrl: 'https://pay.example.com' }],
    [{ PUBLIC_BASE_URL: 'https://example.com/pay/' }, { publicBaseUrl: 'https://example.com/pay' }],
    [{ DATA_DIR: '/srv/data' }, { dataDir: '/srv/data' }],
    [
      { DASHBOARD_ORIGIN: 'https://dash.example.com, http://localhost:5173,' },
      { dashboardOrigins: ['https://dash.example.com', 'http://localhost:5173'] },
    ],
    [{ DATABASE_POOL: '200' }, { databasePool: 200 }],
    [{ REDIS_URL: 'rediss://cache:6380/1' }, { redisUrl: 'rediss://cache:6380/1' }],
    [{ SMTP_URL: 'smtp://u:p@mail:1025' }, { mail: { smtpUrl: 'smtp://u:p@mail:1025' } }],
    [{ SMTP_URL: 'smtps://mail?tls.minVersion=TLSv1.3' }, { mail: { smtpUrl: 'smtps://mail?tls.minVersion=TLSv1.3' } }],
    [{ MAIL_FROM: 'pix@loja.example' }, { mail: { from: { name: '', address: 'pix@loja.example' } } }],
    [
      { MAIL_FROM: '"Padaria, São João" <pix@loja.example>' },
      { mail: { from: { name: 'Padaria, São João', address: 'pix@loja.example' } } },
    ],
    [{ PUBLIC_BASE_URL: 'https://pay.example.com' }, { mail: { from: { address: 'no-reply@pay.example.com' } } }],
    ...['http://203.0.113.9:80', 'http://[2001:db8::1]'].map((base) => [
      { PUBLIC_BASE_URL: base },
      { mail: { from: { name: 'Recebe', address: 'no-reply@localhost' } } },
    ]),
    [{ JWT_SECRET: 'x'.repeat(32) }, { jwtSecret: 'x'.repeat(32) }],
    [{ ENCRYPTION_KEY: HEX }, { encryptionKey: HEX }],
    [{ ENCRYPTION_KEY: `2026:${HEX},2025-b_1:${HEX}` }, { encryptionKey: `2026:${HEX},2025-b_1:${HEX}` }],
    [{ LOG_LEVEL: 'silent' }, { logLevel: 'silent' }],
    [{ METRICS_TOKEN: 'x'.repeat(16) }, { metricsToken: 'x'.repeat(16) }],
    [{ TRUST_PROXY: '10.0.0.0/8' }, { trustProxies: ['10.0.0.0/8'] }],
    ...['192.0.2.1', '2001:db8::1', '::ffff:192.0.2.1', '2001:db8::/32', '192.0.2.1/32', '::1/128', '::/1'].map(
      (value) => [{ TRUST_PROXY: value }, { trustProxies: [value] }],
    ),
    [{ TRUST_PROXY: ' loopback, linklocal ,uniquelocal' }, { trustProxies: ['loopback', 'linklocal', 'uniquelocal'] }],
    [{ RATE_LIMIT: 'off' }, { rateLimit: { enabled: false } }],
    [
      { RATE_LIMIT_RATE: '5', RATE_LIMIT_BURST: '6', RATE_LIMIT_AUTH_FAILURES_PER_MINUTE: '7' },
      { rateLimit: { enabled: true, rate: 5, burst: 6, authFailuresPerMinute: 7, publicPerMinute: 60 } },
    ],
    ...['true', '1', 'on'].map((text) => [{ CHARGE_LIST_ENABLED: text }, { chargeListEnabled: true }]),
    ...['false', '0', 'off'].map((text) => [{ CHARGE_LIST_ENABLED: text }, { chargeListEnabled: false }]),
    [{ WEBHOOK_RETRY_SCHEDULE: '0' }, { webhooks: { retryScheduleSeconds: [0] } }],
    [{ WEBHOOK_RETRY_SCHEDULE: '1,2,3' }, { webhooks: { retryScheduleSeconds: [1, 2, 3] } }],
    [{ WEBHOOK_CONCURRENCY: '1000' }, { webhooks: { concurrency: 1000 } }],
    [
      { WEBHOOK_TIMEOUT_MS: '30000', WEBHOOK_CONNECT_TIMEOUT_MS: '100' },
      { webhooks: { timeoutMs: 30_000, connectTimeoutMs: 100 } },
    ],
    [{ WEBHOOK_ALLOW_PRIVATE: 'false' }, { webhooks: { allowPrivate: false } }],
    [{ WEBHOOK_ALLOW_PRIVATE: 'true', DATABASE_URL: 'postgres://db/x' }, { webhooks: { allowPrivate: true } }],
  ] as [Record<string, string>, object][])('reads %j', (env, expected) => {
    expect(readConfig(env)).toMatchObject(expected);
  });

  it.each([
    ...['API', 'both', 'all '].map((value) => ['ROLE', value]),
    ...['-1', '65536', '80.5', 'http', '0x'].map((value) => ['PORT', value]),
    ...['pay.example.com', 'ftp://x', 'https://'].map((value) => ['PUBLIC_BASE_URL', value]),
    ...['mysql://x/y', 'localhost:5432', 'postgres'].map((value) => ['DATABASE_URL', value]),
    ...['http://x', 'localhost:6379'].map((value) => ['REDIS_URL', value]),
    ...['1', '201', 'many'].map((value) => ['DATABASE_POOL', value]),
    ...['mail.example', 'http://mail.example', 'smtp:'].map((value) => ['SMTP_URL', value]),
    ...[
      'nobody',
      'a@x.example, b@x.example',
      'A <a@x.example>, B <b@x.example>',
      'A\r\nBcc: b@x.example <a@x.example>',
    ].map((value) => ['MAIL_FROM', value]),
    ...[
      '*',
      'null',
      'dash.example.com',
      'https://dash.example.com/',
      'https://dash.example.com/app',
      'https://dash.example.com:443',
      'https://*.example.com',
      'https://DASH.example.com',
      'file:///srv',
      'https://dash.example.com,*',
      'https://dash.example.com http://x',
    ].map((value) => ['DASHBOARD_ORIGIN', value]),
    ...[
      ...['true', '1', '*', 'all', 'proxy.example.com', 'Loopback', 'constructor', '10.0.0', '10.0.0.256', '010.0.0.1'],
      ...['0.0.0.0/0', '::/0', '10.0.0.0/33', '::1/129', '10.0.0.0/08', '10.0.0.0/255.0.0.0', '10.0.0.0/', '/8'],
      ...['fe80::1%eth0', '10.0.0.1:80', '10.0.0.1 10.0.0.2', '10.0.0.0/8,x'],
    ].map((value) => ['TRUST_PROXY', value]),
    ['JWT_SECRET', 'x'.repeat(31)],
    ...[
      'x',
      HEX.slice(1),
      `${HEX}0`,
      `:${HEX}`,
      `a:${HEX},`,
      `a b:${HEX}`,
      `${'i'.repeat(17)}:${HEX}`,
      `${HEX},${HEX}`,
    ].map((value) => ['ENCRYPTION_KEY', value]),
    ['LOG_LEVEL', 'verbose'],
    ['METRICS_TOKEN', 'short'],
    ['RATE_LIMIT', 'false'],
    ...['0', '-1', '1.5'].map((value) => ['RATE_LIMIT_RATE', value]),
    ['RATE_LIMIT_BURST', '0'],
    ['RATE_LIMIT_AUTH_FAILURES_PER_MINUTE', '0'],
    ...['yes', 'TRUE', '2'].map((value) => ['CHARGE_LIST_ENABLED', value]),
    ...['10,', '10, 30', '-1', '1.5', 'soon'].map((value) => ['WEBHOOK_RETRY_SCHEDULE', value]),
    ...['0', '1001'].map((value) => ['WEBHOOK_CONCURRENCY', value]),
    ...['99', '30001'].map((value) => ['WEBHOOK_TIMEOUT_MS', value]),
    ...['99', '30001'].map((value) => ['WEBHOOK_CONNECT_TIMEOUT_MS', value]),
    ['WEBHOOK_ALLOW_PRIVATE', 'maybe'],
  ])('refuses %s=%s by its name', (name = '', value = '') => {
    expect(problemsOf({ [name]: value })).toEqual([expect.stringMatching(new RegExp(`^${name}: .+`))]);
  });

  it('logs no requests on a terminal, unless they are asked for', () => {
    const levelOf = (env: Record<string, string>, onTerminal: boolean): string =>
      readConfig(env, { onTerminal }).logLevel;
    expect([levelOf({}, true), levelOf({}, false)]).toEqual(['warn', 'info']);
    expect([levelOf({ LOG_LEVEL: 'info' }, true), levelOf({ LOG_LEVEL: '' }, true)]).toEqual(['info', 'warn']);
  });

  it('names everything that is wrong at once', () => {
    const problems = problemsOf({ PORT: 'x', ROLE: 'y', REDIS_URL: 'z', NODE_ENV: 'production', JWT_SECRET: 'short' });
    expect(problems.map((problem) => problem.split(':')[0]).sort()).toEqual([
      'DATABASE_URL',
      'ENCRYPTION_KEY',
      'JWT_SECRET',
      'PORT',
      'REDIS_URL',
      'ROLE',
    ]);
  });

  it('never prints a value: secrets are among them', () => {
    const env = {
      JWT_SECRET: 'hunter2-hunter2',
      ENCRYPTION_KEY: 'hunter2',
      DATABASE_URL: 'mysql://u:hunter2@x/y',
      METRICS_TOKEN: 'hunter2',
      SMTP_URL: 'http://u:hunter2@mail.example',
    };
    expect(problemsOf(env)).toHaveLength(5);
    expect(problemsOf(env).join('\n')).not.toContain('hunter2');
  });
});

describe('in production', () => {
  const complete = {
    NODE_ENV: 'production',
    DATABASE_URL: 'postgres://db/x',
    REDIS_URL: 'redis://cache',
    JWT_SECRET: 'x'.repeat(32),
    ENCRYPTION_KEY: HEX,
  };

  it('a complete configuration is taken', () => {
    expect(readConfig(complete)).toMatchObject({ production: true, webhooks: { allowPrivate: false } });
  });

  it.each(['DATABASE_URL', 'REDIS_URL', 'JWT_SECRET', 'ENCRYPTION_KEY'])('%s must be there', (name) => {
    const expected = [`${name}: is required when NODE_ENV=production`];
    const without = Object.fromEntries(Object.entries(complete).filter(([key]) => key !== name));
    expect(problemsOf(without)).toEqual(expected);
    expect(problemsOf({ ...complete, [name]: '' })).toEqual(expected);
  });

  it('each missing variable is named', () => {
    expect(problemsOf({ NODE_ENV: 'production' })).toHaveLength(4);
  });
});

describe('a local secret', () => {
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'recebe-spec-'));
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  it('is made once, for its owner only, and is the same ever after', () => {
    const made = localSecret(join(dir, 'deep', 'er'), 'encryption-key');
    expect(made).toMatch(/^[0-9a-f]{64}$/);
    expect(localSecret(join(dir, 'deep', 'er'), 'encryption-key')).toBe(made);
    const path = join(dir, 'deep', 'er', 'encryption-key');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readFileSync(path, 'utf8')).toBe(made);
    expect(localSecret(dir, 'other')).not.toBe(made);
  });

  it('that somebody wrote by hand, with a line end, is taken', () => {
    writeFileSync(join(dir, 'encryption-key'), `${HEX}\n`);
    expect(localSecret(dir, 'encryption-key')).toBe(HEX);
  });

  it('that cannot be kept is an error, not one that is forgotten', () => {
    writeFileSync(join(dir, 'file'), '');
    expect(() => localSecret(join(dir, 'file'), 'encryption-key')).toThrow();
  });
});
