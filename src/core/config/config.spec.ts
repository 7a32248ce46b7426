import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Config, ConfigError, readConfig } from './config.js';
import { localSecret } from './local-secrets.js';

const HEX = '0123456789abcdefABCDEF0123456789abcdef0123456789abcdef0123456789';
const KEY = '9f1c7e3a5b0d8264e7a91c3f5d2b8064a3c9e17f4b6d025893fc7ae1d4b60528';
const OTHER_KEY = '4be07d92a8f3156c0d7e94b1c58a2f637d19e0b64c8f3a52e6107bd94ca85f23';

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
  it('is the embedded default for an empty environment', () => {
    expect(readConfig({})).toStrictEqual({
      production: false,
      allowedProblems: [],
      role: 'all',
      runsApi: true,
      runsWorkers: true,
      drainMs: 0,
      port: 3000,
      host: '127.0.0.1',
      maxConnections: 2_000,
      publicBaseUrl: 'http://localhost:3000',
      dataDir: './.data',
      databaseUrl: undefined,
      databaseMigrationUrl: undefined,
      databasePool: 16,
      cluster: 1,
      databaseGroup: 64,
      databasePrepare: true,
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
        testModePerDay: 268_435_456,
      },
      dashboardOrigins: [],
      retentionMs: {
        events: 90 * 86_400_000,
        mails: 30 * 86_400_000,
        callbacks: 30 * 86_400_000,
        fraudHits: 30 * 86_400_000,
        requestLogs: 7 * 86_400_000,
      },
      demoFill: true,
      chargeListEnabled: false,
      medAutoRulings: true,
      correctionLimit: 100_000,
      operatorAlertMs: 4 * 3_600_000,
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

  it('treats an empty variable as unset, as compose files write them', () => {
    const names = ['NODE_ENV', 'ROLE', 'PORT', 'HOST', 'PUBLIC_BASE_URL', 'DATABASE_URL', 'REDIS_URL', 'JWT_SECRET'];
    expect(readConfig(Object.fromEntries(names.map((name) => [name, ''])))).toEqual(readConfig({}));
  });

  it.each([
    [{ ROLE: 'api' }, { role: 'api', runsApi: true, runsWorkers: false }],
    [{ ROLE: 'worker' }, { role: 'worker', runsApi: false, runsWorkers: true }],
    [{ PORT: '0' }, { port: 0 }],
    [{ PORT: '8080' }, { port: 8080, publicBaseUrl: 'http://localhost:8080' }],
    [
      { ALLOW_INSECURE: 'true', DATABASE_URL: 'postgres://db/x' },
      { host: '0.0.0.0', databaseUrl: 'postgres://db/x', webhooks: { allowPrivate: false } },
    ],
    [{ ALLOW_INSECURE: 'true', DATABASE_URL: 'postgresql://u:p@db:5432/x', HOST: '::1' }, { host: '::1' }],
    [{ PUBLIC_BASE_URL: 'https://pay.example.com///' }, { publicBaseUrl: 'https://pay.example.com' }],
    [{ PUBLIC_BASE_URL: 'HTTPS://pay.example.com' }, { publicBaseUrl: 'https://pay.example.com' }],
    [{ DATA_DIR: '/srv/data' }, { dataDir: '/srv/data' }],
    [
      { DASHBOARD_ORIGIN: 'https://dash.example.com, http://localhost:5173,' },
      { dashboardOrigins: ['https://dash.example.com', 'http://localhost:5173'] },
    ],
    [{ DATABASE_POOL: '200' }, { databasePool: 200 }],
    [{ CLUSTER: '4' }, { cluster: 4 }],
    [{ DRAIN_SECONDS: '0' }, { drainMs: 0 }],
    [{ DRAIN_SECONDS: '30' }, { drainMs: 30_000 }],
    [{ DATABASE_GROUP: '1' }, { databaseGroup: 1 }],
    [{ DATABASE_PREPARE: 'false' }, { databasePrepare: false }],
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
    [
      { RETENTION_DAYS_MAILS: '1', RETENTION_DAYS_REQUEST_LOGS: '30' },
      { retentionMs: { events: 90 * 86_400_000, mails: 86_400_000, requestLogs: 30 * 86_400_000 } },
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
    [
      { WEBHOOK_ALLOW_PRIVATE: 'true', ALLOW_INSECURE: 'true', DATABASE_URL: 'postgres://db/x' },
      { webhooks: { allowPrivate: true } },
    ],
  ] as [Record<string, string>, object][])('reads %j', (env, expected) => {
    expect(readConfig(env)).toMatchObject(expected);
  });

  it.each([
    ...['API', 'both', 'all '].map((value) => ['ROLE', value]),
    ...['-1', '65536', '80.5', 'http', '0x'].map((value) => ['PORT', value]),
    ...[
      'pay.example.com',
      'ftp://x',
      'https://',
      'https://example.com/pay',
      'https://example.com/?x',
      'https://a:b@c.d',
    ].map((value) => ['PUBLIC_BASE_URL', value]),
    ...['mysql://x/y', 'localhost:5432', 'postgres'].map((value) => ['DATABASE_URL', value]),
    ...['http://x', 'localhost:6379'].map((value) => ['REDIS_URL', value]),
    ...['1', '201', 'many'].map((value) => ['DATABASE_POOL', value]),
    ...['0', '65'].map((value) => ['DATABASE_GROUP', value]),
    ...['-1', '0.5', '301'].map((value) => ['DRAIN_SECONDS', value]),
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
      `a:${HEX},a:${KEY}`,
    ].map((value) => ['ENCRYPTION_KEY', value]),
    ['LOG_LEVEL', 'verbose'],
    ['METRICS_TOKEN', 'short'],
    ['METRICS_TOKEN', 'ação-e-reação-longas'],
    ['RATE_LIMIT', 'false'],
    ...['0', '-1', '1.5'].map((value) => ['RATE_LIMIT_RATE', value]),
    ['RATE_LIMIT_BURST', '0'],
    ['RATE_LIMIT_AUTH_FAILURES_PER_MINUTE', '0'],
    ...['MAILS', 'CALLBACKS', 'FRAUD_HITS', 'REQUEST_LOGS'].map((kind) => [`RETENTION_DAYS_${kind}`, '0']),
    ...['yes', 'TRUE', '2'].map((value) => ['CHARGE_LIST_ENABLED', value]),
    ...['10,', '10, 30', '-1', '1.5', 'soon'].map((value) => ['WEBHOOK_RETRY_SCHEDULE', value]),
    ...['0', '1001'].map((value) => ['WEBHOOK_CONCURRENCY', value]),
    ...['99', '30001'].map((value) => ['WEBHOOK_TIMEOUT_MS', value]),
    ...['99', '30001'].map((value) => ['WEBHOOK_CONNECT_TIMEOUT_MS', value]),
    ['WEBHOOK_ALLOW_PRIVATE', 'maybe'],
  ])('refuses %s=%s by its name', (name = '', value = '') => {
    expect(problemsOf({ ALLOW_INSECURE: 'true', [name]: value })).toEqual([
      expect.stringMatching(new RegExp(`^${name}: .+`)),
    ]);
  });

  it('logs no requests on a terminal unless LOG_LEVEL asks for them', () => {
    const levelOf = (env: Record<string, string>, onTerminal: boolean): string =>
      readConfig(env, { onTerminal }).logLevel;
    expect([levelOf({}, true), levelOf({}, false)]).toEqual(['warn', 'info']);
    expect([levelOf({ LOG_LEVEL: 'info' }, true), levelOf({ LOG_LEVEL: '' }, true)]).toEqual(['info', 'warn']);
  });

  it('names every invalid variable at once', () => {
    const problems = problemsOf({ PORT: 'x', ROLE: 'y', REDIS_URL: 'z', NODE_ENV: 'production', JWT_SECRET: 'short' });
    expect(problems.map((problem) => problem.split(':')[0]).sort()).toEqual(
      [
        'DATABASE_URL',
        'ENCRYPTION_KEY',
        'JWT_SECRET',
        'PORT',
        'PUBLIC_BASE_URL',
        'REDIS_URL',
        'ROLE',
        'SMTP_URL',
      ].sort(),
    );
  });

  it('never prints a value, since secrets are among the values', () => {
    const env = {
      ALLOW_INSECURE: 'true',
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
  const complete: Record<string, string> = {
    NODE_ENV: 'production',
    DATABASE_URL: 'postgres://svc:kLw9-7vQ2_xTz4Rm@db.internal/x?sslmode=verify-full',
    DATABASE_MIGRATION_URL: 'postgres://own:Zp3-8nYc6_hJs1Wd@db.internal/x?sslmode=verify-full',
    REDIS_URL: 'rediss://:Gt5-2bXe9_qMv7Ku@cache.internal',
    JWT_SECRET: 'mR8vLq2ZxT5nKc9WyB4jHs7DfG1pUe6A',
    ENCRYPTION_KEY: KEY,
    PUBLIC_BASE_URL: 'https://pay.example.com',
    SMTP_URL: 'smtps://mail.internal',
  };
  const without = (...names: string[]): Record<string, string> =>
    Object.fromEntries(Object.entries(complete).filter(([name]) => !names.includes(name)));

  it('a complete configuration is accepted', () => {
    expect(readConfig(complete)).toMatchObject({ production: true, allowedProblems: [], drainMs: 5_000 });
    expect(readConfig({ ...complete, DRAIN_SECONDS: '0' }).drainMs).toBe(0);
    expect(readConfig(complete).webhooks.allowPrivate).toBe(false);
  });

  it.each(['REDIS_URL', 'JWT_SECRET', 'ENCRYPTION_KEY', 'PUBLIC_BASE_URL', 'SMTP_URL'])('%s is required', (name) => {
    const expected = [`${name}: is required in production`];
    expect(problemsOf(without(name))).toEqual(expected);
    expect(problemsOf({ ...complete, [name]: '' })).toEqual(expected);
  });

  it('each missing variable is named once', () => {
    expect(problemsOf({ NODE_ENV: 'production' }).sort()).toEqual(
      ['DATABASE_URL', 'ENCRYPTION_KEY', 'JWT_SECRET', 'PUBLIC_BASE_URL', 'REDIS_URL', 'SMTP_URL'].map(
        (name) => `${name}: is required in production`,
      ),
    );
    expect(problemsOf(without('DATABASE_URL', 'DATABASE_MIGRATION_URL'))).toEqual([
      'DATABASE_URL: is required in production',
    ]);
  });

  it.each([undefined, 'production', 'Production', ' PROD ', 'development', 'test', 'staging'])(
    'applies whenever DATABASE_URL is set, even with NODE_ENV=%s',
    (NODE_ENV) => {
      const named = NODE_ENV === undefined ? {} : { NODE_ENV };
      expect(readConfig({ ...without('NODE_ENV'), ...named }).production).toBe(true);
      expect(problemsOf({ ...without('NODE_ENV', 'SMTP_URL'), ...named })).toEqual([
        'SMTP_URL: is required in production',
      ]);
    },
  );

  it.each([
    ...[
      ['JWT_SECRET', 'x'.repeat(32)],
      ['JWT_SECRET', '0123456789abcdef0123456789abcdef'],
      ['JWT_SECRET', 'please-change-me-before-you-start'],
      ['JWT_SECRET', 'kQ7zkQ7zkQ7zkQ7zkQ7zkQ7zkQ7zkQ7z'],
      ['METRICS_TOKEN', 'metrics-password-9'],
      ['ENCRYPTION_KEY', '0'.repeat(64)],
      ['ENCRYPTION_KEY', 'deadbeef'.repeat(8)],
      ['ENCRYPTION_KEY', `2:${KEY},1:${'ab'.repeat(32)}`],
      ['DATABASE_URL', 'postgres://svc:recebe@localhost/x'],
      ['DATABASE_MIGRATION_URL', 'postgres://own:postgres@localhost/x'],
      ['REDIS_URL', 'rediss://:redis@cache.internal'],
    ].map(([name, value]) => [name, value, 'has a secret that can be guessed']),
    ['METRICS_TOKEN', 'mR8vLq2ZxT5nKc9WyB4jHs7DfG1pUe6A', 'has the same secret as JWT_SECRET'],
    ['ENCRYPTION_KEY', `2:${KEY},1:${KEY.toUpperCase()}`, 'repeats a key'],
    ['REDIS_URL', 'rediss://:kLw9-7vQ2_xTz4Rm@cache.internal', 'has the same secret as DATABASE_URL'],
    ['DATABASE_MIGRATION_URL', 'postgres://own:kLw9-7vQ2_xTz4Rm@localhost/x', 'has the same secret as DATABASE_URL'],
    ...[
      'postgres://svc:kLw9-7vQ2_xTz4Rm@db.internal/x',
      'postgres://svc:kLw9-7vQ2_xTz4Rm@postgres:5432/x',
      'postgres://svc:kLw9-7vQ2_xTz4Rm@10.0.0.5/x?sslmode=disable',
      'postgres://svc:kLw9-7vQ2_xTz4Rm@10.0.0.5/x?sslmode=prefer',
      'postgres://svc:kLw9-7vQ2_xTz4Rm@10.0.0.5/x?sslmode=no-verify',
      'postgres://svc:kLw9-7vQ2_xTz4Rm@10.0.0.5/x?sslmode=require&uselibpqcompat=true',
      'postgres://svc:kLw9-7vQ2_xTz4Rm@localhost/x?host=db.internal',
    ].map((value) => ['DATABASE_URL', value, 'is on another host without TLS: add ?sslmode=verify-full']),
    [
      'DATABASE_URL',
      'postgres://svc:kLw9-7vQ2_xTz4Rm@10.0.0.5/x?sslmode=verify-full&sslmode=disable',
      'has the parameter sslmode more than once',
    ],
    ['DATABASE_URL', 'postgres://svc@db.internal/x?sslmode=require', 'is on another host without a password'],
    ['REDIS_URL', 'redis://:Gt5-2bXe9_qMv7Ku@cache.internal', 'is on another host without TLS: use rediss://'],
    ['REDIS_URL', 'rediss://cache.internal', 'is on another host without a password'],
    ['PUBLIC_BASE_URL', 'http://pay.example.com', 'must start with https://'],
    ['PUBLIC_BASE_URL', 'http://localhost:3000', 'must start with https://'],
    ['PUBLIC_BASE_URL', 'HTTP://pay.example.com', 'must start with https://'],
    ['RATE_LIMIT', 'off', 'must not be off'],
    ...[
      '0.0.0.0/1',
      '0.0.0.0/1,128.0.0.0/1',
      '::/1',
      '2000::/3',
      '::ffff:0.0.0.0/97',
      '8.0.0.0/8,9.0.0.0/8,11.0.0.0/8',
    ].map((value) => ['TRUST_PROXY', value, 'believes a large part of the Internet: name your own proxies']),
  ] as [string, string, string][])('%s=%s is refused: %s', (name, value, message) => {
    expect(problemsOf({ ...complete, [name]: value })).toEqual([`${name}: ${message}`]);
    expect(problemsOf({ ...complete, [name]: value, ALLOW_INSECURE: 'RATE_LIMITS' })).toHaveLength(1);
    for (const ALLOW_INSECURE of ['true', ` ${name} `, `LOG_LEVEL,${name}`]) {
      const { allowedProblems } = readConfig({ ...complete, [name]: value, ALLOW_INSECURE });
      expect(allowedProblems).toEqual([`${name}: ${message}`]);
    }
  });

  it.each([
    ['DATABASE_URL', 'postgres:///x?host=/var/run/postgresql'],
    ['DATABASE_URL', 'postgres://svc@127.0.0.1/x'],
    ['DATABASE_URL', 'postgres://svc@db.internal/x?sslmode=verify-full&sslcert=/c&sslkey=/k'],
    ['DATABASE_MIGRATION_URL', 'postgres://svc:kLw9-7vQ2_xTz4Rm@localhost/x'],
    ['REDIS_URL', 'redis://localhost'],
    ['TRUST_PROXY', '10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,fd00::/8,fc00::/7,loopback,198.51.100.7'],
    ['ENCRYPTION_KEY', `2:${KEY},1:${OTHER_KEY}`],
  ])('%s=%s is accepted', (name, value) => {
    expect(problemsOf({ ...complete, [name]: value })).toEqual([]);
  });

  it('allows only the variables listed in ALLOW_INSECURE', () => {
    const broken = { ...complete, RATE_LIMIT: 'off', REDIS_URL: 'redis://cache', PUBLIC_BASE_URL: 'http://x.example' };
    expect(problemsOf({ ...broken, ALLOW_INSECURE: 'REDIS_URL,PUBLIC_BASE_URL' })).toEqual([
      'RATE_LIMIT: must not be off',
    ]);
    expect(readConfig({ ...broken, ALLOW_INSECURE: 'true' }).allowedProblems).toHaveLength(4);
    expect(readConfig({ DATABASE_URL: 'postgres://db/x', ALLOW_INSECURE: 'true' }).production).toBe(false);
    expect(readConfig({ ...broken, ALLOW_INSECURE: 'true' }).production).toBe(true);
  });
});

describe('a secret in a file', () => {
  const dir = mkdtempSync(join(tmpdir(), 'recebe-spec-'));
  afterAll(() => rmSync(dir, { recursive: true, force: true }));
  const file = (content: string): string => {
    const path = join(dir, 'secret');
    writeFileSync(path, content);
    return path;
  };

  it.each([
    ['DATABASE_URL', 'postgres://localhost/x', 'databaseUrl'],
    ['REDIS_URL', 'redis://localhost', 'redisUrl'],
    ['JWT_SECRET', 'mR8vLq2ZxT5nKc9WyB4jHs7DfG1pUe6A', 'jwtSecret'],
    ['ENCRYPTION_KEY', KEY, 'encryptionKey'],
    ['METRICS_TOKEN', 'Ws4-7nQk2_zVb9Lx', 'metricsToken'],
  ] as const)('is read for %s, without the line end', (name, value, field) => {
    expect(readConfig({ ALLOW_INSECURE: 'true', [`${name}_FILE`]: file(`${value}\n`) })[field]).toBe(value);
  });

  it.each([
    [
      () => ({ SMTP_URL_FILE: file('smtp://m'), SMTP_URL: 'smtp://n' }),
      'SMTP_URL_FILE: is set beside SMTP_URL: choose one',
    ],
    [() => ({ STORAGE_URL_FILE: join(dir, 'nowhere') }), 'STORAGE_URL_FILE: cannot be read (ENOENT)'],
    [() => ({ JWT_SECRET_FILE: file(' \n') }), 'JWT_SECRET_FILE: names an empty file'],
  ])('is refused when it is also set directly, or its file is unreadable or empty', (env, message) => {
    expect(problemsOf(env())).toEqual([message]);
  });
});

describe('a local secret', () => {
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'recebe-spec-'));
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  it('is created once, readable by its owner only, and stays the same', () => {
    const made = localSecret(join(dir, 'deep', 'er'), 'encryption-key');
    expect(made).toMatch(/^[0-9a-f]{64}$/);
    expect(localSecret(join(dir, 'deep', 'er'), 'encryption-key')).toBe(made);
    const path = join(dir, 'deep', 'er', 'encryption-key');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readFileSync(path, 'utf8')).toBe(`${made}\n`);
    expect(localSecret(dir, 'jwt-secret')).not.toBe(made);
  });

  it('is read without the line end of a file written by hand', () => {
    writeFileSync(join(dir, 'encryption-key'), `${HEX}\n`);
    expect(localSecret(dir, 'encryption-key')).toBe(HEX);
  });

  it('is refused when its file is empty', () => {
    writeFileSync(join(dir, 'encryption-key'), '\n');
    expect(() => localSecret(dir, 'encryption-key')).toThrow(/is empty.*ENCRYPTION_KEY/);
  });

  it('is an error when it cannot be written', () => {
    writeFileSync(join(dir, 'file'), '');
    expect(() => localSecret(join(dir, 'file'), 'encryption-key')).toThrow();
  });
});
