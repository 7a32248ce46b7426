import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import * as z from 'zod';
import { DAY_MS } from '../clock.js';
import { withoutTrailingSlashes } from '../text.js';
import { type Problem, productionProblems } from './production-rules.js';
import { type StorageConfig, storageUrl } from './storage-url.js';

const onOrOff = z
  .enum(['true', 'false', '1', '0', 'on', 'off'])
  .transform((value) => value === 'true' || value === '1' || value === 'on');

const flag = (fallback: boolean) => onOrOff.default(fallback);

const integer = (fallback: number, min: number, max: number) =>
  z.coerce.number().int().min(min).max(max).default(fallback);

const url = (...protocols: string[]) =>
  z
    .string()
    .refine((value) => URL.canParse(value) && protocols.includes(new URL(value).protocol.replace(':', '')), {
      message: `must be a URL starting with ${protocols.map((p) => `${p}://`).join(' or ')}`,
      abort: true,
    })
    // Later checks for TLS compare the scheme in lower case.
    .transform((value) => value.trim().replace(/^\w+:/, (scheme) => scheme.toLowerCase()));

/** Values separated by commas; blanks around them do not count. */
const list = () =>
  z
    .string()
    .default('')
    .transform((value) => value.split(',').flatMap((item) => (item.trim() === '' ? [] : [item.trim()])));

/** An origin as browsers send it: no path, no slash at the end, no default port; never `*`. */
const isOrigin = (value: string): boolean =>
  /^https?:\/\/[^*]+$/.test(value) && URL.canParse(value) && new URL(value).origin === value;

/** An address, a network (`10.0.0.0/8`; not of length 0, which is everybody), or a name that the HTTP server knows. */
const isProxy = (value: string): boolean => {
  if (['loopback', 'linklocal', 'uniquelocal'].includes(value)) return true;
  const [, address = '', length] = /^([\da-f:.]+)(?:\/([1-9]\d{0,2}))?$/i.exec(value) ?? [];
  const family = isIP(address);
  return family !== 0 && (length === undefined || Number(length) <= (family === 4 ? 32 : 128));
};

const MEGABYTE = 1024 * 1024;

/** 15 attempts: at once, then after these many seconds (docs/contract.md#attempts). */
const RETRY_SCHEDULE = '10,30,120,300,900,1800,3600,7200,14400,21600,28800,43200,57600,79200';

/** A bare address, or an address with a name before it. No line breaks, since it becomes a header. */
const MAIL_FROM = /^(?:(?<name>[^<>\p{Cc}]*)<(?<named>[^\s<>@,;]+@[^\s<>@,;]+)>|(?<bare>[^\s<>@,;]+@[^\s<>@,;]+))$/u;

/** Variables that may be given as a file: with `_FILE` behind the name the value is the file's path. */
const SECRETS = [
  ...['DATABASE_URL', 'DATABASE_MIGRATION_URL', 'REDIS_URL', 'SMTP_URL', 'STORAGE_URL'],
  ...['JWT_SECRET', 'ENCRYPTION_KEY', 'METRICS_TOKEN'],
];

const schema = z.object({
  NODE_ENV: z.string().default('development'),
  ALLOW_INSECURE: list(),
  ROLE: z.enum(['all', 'api', 'worker']).default('all'),
  CLUSTER: integer(1, 1, 64),
  // If unset, it follows production.
  DRAIN_SECONDS: z.coerce.number().int().min(0).max(300).optional(),
  PORT: integer(3000, 0, 65535),
  HOST: z.string().optional(),
  MAX_CONNECTIONS: integer(2_000, 10, 100_000),
  PUBLIC_BASE_URL: url('http', 'https')
    .refine(isHostAlone, 'must be a host alone, as https://pay.example.com: the service does not work below a path')
    .optional(),
  DATA_DIR: z.string().default('./.data'),
  DATABASE_URL: url('postgres', 'postgresql').optional(),
  DATABASE_MIGRATION_URL: url('postgres', 'postgresql').optional(),
  DATABASE_POOL: integer(16, 2, 200),
  DATABASE_GROUP: integer(64, 1, 64),
  DATABASE_PREPARE: flag(true),
  REDIS_URL: url('redis', 'rediss').optional(),
  SMTP_URL: url('smtp', 'smtps')
    .refine((value) => new URL(value).hostname !== '', 'must name a host')
    .optional(),
  MAIL_FROM: z
    .string()
    .regex(MAIL_FROM, 'must be an address, or a name and an address: Recebe <no-reply@example.com>')
    .optional(),
  STORAGE_URL: storageUrl.optional(),
  STORAGE_MIN_FREE_MB: integer(512, 0, 1_000_000),
  EVIDENCE_QUOTA_MB: integer(2_048, 1, 1_000_000),
  JWT_SECRET: z.string().min(32, 'must have at least 32 characters').optional(),
  ENCRYPTION_KEY: z
    .string()
    .regex(/^(?:[A-Za-z0-9_-]{1,16}:[0-9a-fA-F]{64})(?:,[A-Za-z0-9_-]{1,16}:[0-9a-fA-F]{64})*$|^[0-9a-fA-F]{64}$/, {
      error:
        'must be 64 hex characters (openssl rand -hex 32), or id:hex pairs separated by commas, the first one in use',
      abort: true,
    })
    .refine((value) => {
      const ids = value.split(',').map((key) => key.replace(/:.*/, ''));
      return new Set(ids).size === ids.length;
    }, 'must not name two keys alike')
    .optional(),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).optional(),
  METRICS_TOKEN: z
    .string()
    .min(16, 'must have at least 16 characters')
    .regex(/^[!-~]+$/, 'must be of visible ASCII characters')
    .optional(),
  TRUST_PROXY: list().refine((proxies) => proxies.every(isProxy), {
    message:
      'must be addresses (192.0.2.1), networks (10.0.0.0/8), loopback, linklocal or uniquelocal, separated by commas',
  }),
  CALLBACK_CERTIFICATE_HEADER: z
    .string()
    .regex(/^[\w-]+: *\S.*$/, 'must be the name and the value of a header: X-Client-Verify: SUCCESS')
    .optional(),
  DEMO_FILL: flag(true),
  RATE_LIMIT: z.enum(['on', 'off']).default('on'),
  RATE_LIMIT_RATE: integer(200, 1, 1_000_000),
  RATE_LIMIT_BURST: integer(400, 1, 1_000_000),
  RATE_LIMIT_AUTH_FAILURES_PER_MINUTE: integer(60, 1, 1_000_000),
  RATE_LIMIT_PUBLIC_PER_MINUTE: integer(60, 1, 1_000_000),
  RATE_LIMIT_LOGIN_PER_15_MINUTES: integer(10, 1, 1_000_000),
  TEST_MODE_MB_PER_DAY: integer(256, 1, 1_000_000),
  DASHBOARD_ORIGIN: list().refine((origins) => origins.every(isOrigin), {
    message: 'must be origins separated by commas, for example https://dashboard.example.com',
  }),
  // A recovery looks 30 days back from the end of a delivery, which comes days after its event.
  RETENTION_DAYS: integer(90, 45, 3_660),
  RETENTION_DAYS_MAILS: integer(30, 1, 3_660),
  RETENTION_DAYS_CALLBACKS: integer(30, 1, 3_660),
  RETENTION_DAYS_FRAUD_HITS: integer(30, 1, 3_660),
  RETENTION_DAYS_REQUEST_LOGS: integer(7, 1, 365),
  CHARGE_LIST_ENABLED: flag(false),
  MED_AUTO_RULINGS: flag(true),
  CORRECTION_LIMIT: integer(100_000, 0, 999_999_999_999),
  OPERATOR_ALERT_HOURS: integer(4, 0, 720),
  WEBHOOK_RETRY_SCHEDULE: z
    .string()
    .regex(/^\d+(,\d+)*$/, 'must be seconds separated by commas, for example 10,30,120')
    .default(RETRY_SCHEDULE)
    .transform((value) => value.split(',').map(Number)),
  WEBHOOK_CONCURRENCY: integer(256, 1, 1000),
  // Time limit of an attempt (docs/contract.md#attempts). At most 30 s: an attempt holds a place in its worker all that
  // time.
  WEBHOOK_TIMEOUT_MS: integer(15_000, 100, 30_000),
  WEBHOOK_CONNECT_TIMEOUT_MS: integer(5_000, 100, 30_000),
  // No default here: if unset it follows the embedded default, and `flag(false).optional()` is never undefined.
  WEBHOOK_ALLOW_PRIVATE: onOrOff.optional(),
});

/** Every setting of the service, validated once at start. Durations say their unit; URLs have no trailing slash. */
export interface Config {
  readonly production: boolean;
  /** Broken rules of production that ALLOW_INSECURE allows, as `VARIABLE: what is wrong`. */
  readonly allowedProblems: readonly string[];
  readonly role: 'all' | 'api' | 'worker';
  readonly runsApi: boolean;
  readonly runsWorkers: boolean;
  /** Time after SIGTERM during which requests are still accepted. */
  readonly drainMs: number;
  readonly port: number;
  readonly host: string;
  /** Number of connections above which new ones are closed at once. */
  readonly maxConnections: number;
  /** Changed once the port is known, when PORT=0 and PUBLIC_BASE_URL is unset. */
  publicBaseUrl: string;
  readonly dataDir: string;
  readonly databaseUrl: string | undefined;
  /** The URL of the role that owns the tables; undefined: `databaseUrl` is of that role. */
  readonly databaseMigrationUrl: string | undefined;
  readonly databasePool: number;
  /** Number of processes of this role that are started here; 1: only this one. */
  readonly cluster: number;
  /** Largest number of charges, payments and the like that are written together. */
  readonly databaseGroup: number;
  /** False for a pooler that changes connections between transactions and knows no prepared statements. */
  readonly databasePrepare: boolean;
  readonly redisUrl: string | undefined;
  readonly mail: {
    /** Possibly with a password. Undefined: mail becomes files in `dataDir`. */
    smtpUrl: string | undefined;
    from: { name: string; address: string };
  };
  readonly storage: StorageConfig;
  /** Bytes that must stay free on our disk: below that, uploads are refused. */
  readonly storageMinFree: number;
  /** Bytes of evidence that an account may have in each mode. */
  readonly evidenceQuota: number;
  readonly jwtSecret: string | undefined;
  readonly encryptionKey: string | undefined;
  readonly logLevel: string;
  readonly metricsToken: string | undefined;
  /** Proxies whose `X-Forwarded-For` is believed: addresses, networks, or names of networks. Empty: none. */
  readonly trustProxies: readonly string[];
  /** The header by which a trusted proxy says that a callback's client certificate is good; null: none checks it. */
  readonly certificateHeader: { readonly name: string; readonly value: string } | null;
  readonly rateLimit: {
    enabled: boolean;
    rate: number;
    burst: number;
    authFailuresPerMinute: number;
    publicPerMinute: number;
    loginPer15Minutes: number;
    /** Bytes that an account may write per day in test mode. */
    testModePerDay: number;
  };
  /** Origins of the dashboard, where it is served from elsewhere: browsers there may call its routes. */
  readonly dashboardOrigins: readonly string[];
  /** How long each kind of row is kept; `events` with the deliveries of webhooks. */
  readonly retentionMs: Readonly<Record<'events' | 'mails' | 'callbacks' | 'fraudHits' | 'requestLogs', number>>;
  /** Whether the demo account gets a month of sales. */
  readonly demoFill: boolean;
  readonly chargeListEnabled: boolean;
  /** False: decisions on MED cases wait for an operator. */
  readonly medAutoRulings: boolean;
  /** Amount, in the smallest unit, above which a correction needs a second operator. */
  readonly correctionLimit: number;
  /** Time that something waits for an operator before all operators get a mail; 0: no mail. */
  readonly operatorAlertMs: number;
  readonly webhooks: {
    retryScheduleSeconds: number[];
    concurrency: number;
    /** The limit of the whole attempt, connecting included. */
    timeoutMs: number;
    connectTimeoutMs: number;
    allowPrivate: boolean;
  };
}

/** The injection token for Config, which is an interface. */
export const CONFIG = Symbol('CONFIG');

export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** Variables without which nothing starts when NODE_ENV says production, whatever ALLOW_INSECURE says. */
const NEEDED = ['DATABASE_URL', 'REDIS_URL', 'JWT_SECRET', 'ENCRYPTION_KEY'];

/**
 * Reads and validates the environment.
 * @param options.onTerminal a person reads along: requests are logged only on demand, or they would bury the start-up
 *   lines
 * @throws ConfigError naming every missing or invalid variable at once, so that an operator corrects them in one go.
 */
export function readConfig(env: NodeJS.ProcessEnv, options: { onTerminal: boolean } = { onTerminal: false }): Config {
  // An empty value in a compose file or a shell means "not set".
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''));
  const files = readFiles(given);
  const present = { ...given, ...files.values };
  const parsed = schema.safeParse(present);
  const { allowed, isProduction, problems: broken } = heldToProduction(present, parsed);
  const isAllowed = ([name]: Problem): boolean => allowed.has('true') || allowed.has(name);
  const problems: Problem[] = [
    ...files.problems,
    ...(parsed.success ? [] : parsed.error.issues.map((issue): Problem => [issue.path.join('.'), issue.message])),
    ...broken.filter((problem) => !isAllowed(problem)),
  ];
  if (present['DATABASE_MIGRATION_URL'] !== undefined && present['DATABASE_URL'] === undefined) {
    problems.push(['DATABASE_MIGRATION_URL', 'needs DATABASE_URL, for the role that the service runs as']);
  }
  if (isProductionName(present['NODE_ENV'])) {
    const told = new Set(problems.map(([name]) => name));
    const missing = NEEDED.filter((name) => present[name] === undefined && !told.has(name));
    problems.push(...missing.map((name): Problem => [name, 'is required in production']));
  }
  if (!parsed.success || problems.length > 0) {
    throw new ConfigError(`The configuration is not usable:\n${lines(problems, '  - ').join('\n')}`);
  }
  const v = parsed.data;
  const embedded = v.DATABASE_URL === undefined;
  const publicBaseUrl = withoutTrailingSlashes(v.PUBLIC_BASE_URL ?? `http://localhost:${v.PORT}`);
  return {
    production: isProduction,
    allowedProblems: lines(broken.filter(isAllowed)),
    role: v.ROLE,
    runsApi: v.ROLE !== 'worker',
    runsWorkers: v.ROLE !== 'api',
    drainMs: 1_000 * (v.DRAIN_SECONDS ?? (isProduction ? 5 : 0)),
    port: v.PORT,
    host: v.HOST ?? (embedded ? '127.0.0.1' : '0.0.0.0'),
    maxConnections: v.MAX_CONNECTIONS,
    publicBaseUrl,
    dataDir: v.DATA_DIR,
    databaseUrl: v.DATABASE_URL,
    databaseMigrationUrl: v.DATABASE_MIGRATION_URL,
    cluster: v.CLUSTER,
    databasePool: v.DATABASE_POOL,
    databaseGroup: v.DATABASE_GROUP,
    databasePrepare: v.DATABASE_PREPARE,
    redisUrl: v.REDIS_URL,
    mail: { smtpUrl: v.SMTP_URL, from: mailFrom(v.MAIL_FROM, publicBaseUrl) },
    storage: v.STORAGE_URL ?? { kind: 'disk', directory: join(v.DATA_DIR, 'evidence') },
    storageMinFree: v.STORAGE_MIN_FREE_MB * MEGABYTE,
    evidenceQuota: v.EVIDENCE_QUOTA_MB * MEGABYTE,
    jwtSecret: v.JWT_SECRET,
    encryptionKey: v.ENCRYPTION_KEY,
    logLevel: v.LOG_LEVEL ?? (options.onTerminal ? 'warn' : 'info'),
    metricsToken: v.METRICS_TOKEN,
    trustProxies: v.TRUST_PROXY,
    certificateHeader: certificateHeader(v.CALLBACK_CERTIFICATE_HEADER),
    rateLimit: {
      enabled: v.RATE_LIMIT === 'on',
      rate: v.RATE_LIMIT_RATE,
      burst: v.RATE_LIMIT_BURST,
      authFailuresPerMinute: v.RATE_LIMIT_AUTH_FAILURES_PER_MINUTE,
      publicPerMinute: v.RATE_LIMIT_PUBLIC_PER_MINUTE,
      loginPer15Minutes: v.RATE_LIMIT_LOGIN_PER_15_MINUTES,
      testModePerDay: v.TEST_MODE_MB_PER_DAY * MEGABYTE,
    },
    dashboardOrigins: v.DASHBOARD_ORIGIN,
    retentionMs: {
      events: v.RETENTION_DAYS * DAY_MS,
      mails: v.RETENTION_DAYS_MAILS * DAY_MS,
      callbacks: v.RETENTION_DAYS_CALLBACKS * DAY_MS,
      fraudHits: v.RETENTION_DAYS_FRAUD_HITS * DAY_MS,
      requestLogs: v.RETENTION_DAYS_REQUEST_LOGS * DAY_MS,
    },
    demoFill: v.DEMO_FILL,
    chargeListEnabled: v.CHARGE_LIST_ENABLED,
    medAutoRulings: v.MED_AUTO_RULINGS,
    correctionLimit: v.CORRECTION_LIMIT,
    operatorAlertMs: v.OPERATOR_ALERT_HOURS * 3_600_000,
    webhooks: {
      retryScheduleSeconds: v.WEBHOOK_RETRY_SCHEDULE,
      concurrency: v.WEBHOOK_CONCURRENCY,
      timeoutMs: v.WEBHOOK_TIMEOUT_MS,
      connectTimeoutMs: v.WEBHOOK_CONNECT_TIMEOUT_MS,
      allowPrivate: v.WEBHOOK_ALLOW_PRIVATE ?? embedded,
    },
  };
}

const lines = (problems: readonly Problem[], before = ''): string[] =>
  problems.map(([name, message]) => `${before}${name}: ${message}`);

const isProductionName = (name = ''): boolean => /^\s*prod(?:uction)?\s*$/i.test(name);

/**
 * Applies production's rules when NODE_ENV says production, or when DATABASE_URL is set and ALLOW_INSECURE is not
 * `true`. If ALLOW_INSECURE lists variables, only their broken rules are allowed. Malformed variables are left out
 * here, as they are reported already.
 */
function heldToProduction(
  present: NodeJS.ProcessEnv,
  parsed: ReturnType<typeof schema.safeParse>,
): { allowed: ReadonlySet<string>; isProduction: boolean; problems: Problem[] } {
  const allowed = new Set(list().parse(present['ALLOW_INSECURE']));
  const isNamed = isProductionName(present['NODE_ENV']);
  const isProduction = isNamed || (present['DATABASE_URL'] !== undefined && !allowed.has('true'));
  if (!isNamed && present['DATABASE_URL'] === undefined) return { allowed, isProduction, problems: [] };
  const malformed = new Set(parsed.error?.issues.map(({ path: [name] }) => name));
  const wellFormed = Object.entries(present).filter(([name]) => !malformed.has(name));
  const deployment = { ...Object.fromEntries(wellFormed), TRUST_PROXY: list().parse(present['TRUST_PROXY']) };
  const problems = productionProblems(deployment).filter(([name]) => !malformed.has(name));
  return { allowed, isProduction, problems };
}

/** Reads the contents of the files that `*_FILE` names, without white space around them. */
function readFiles(given: NodeJS.ProcessEnv): { values: Record<string, string>; problems: Problem[] } {
  const values: Record<string, string> = {};
  const problems: Problem[] = [];
  for (const name of SECRETS) {
    const path = given[`${name}_FILE`];
    if (path === undefined) continue;
    if (given[name] !== undefined) problems.push([`${name}_FILE`, `is set beside ${name}: choose one`]);
    try {
      const text = readFileSync(path, 'utf8').trim();
      if (text === '') problems.push([`${name}_FILE`, 'names an empty file']);
      else values[name] = text;
    } catch (error) {
      problems.push([`${name}_FILE`, `cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`]);
    }
  }
  return { values, problems };
}

function certificateHeader(value: string | undefined): Config['certificateHeader'] {
  if (value === undefined) return null;
  const at = value.indexOf(':');
  return { name: value.slice(0, at).toLowerCase(), value: value.slice(at + 1).trim() };
}

/** Whether nothing but slashes stands behind the host. Cookies, the dashboard and the docs have paths from the root. */
function isHostAlone(value: string): boolean {
  if (!URL.canParse(value)) return false;
  const { pathname, search, hash, username, password } = new URL(value);
  return /^\/*$/.test(pathname) && [search, hash, username, password].every((part) => part === '');
}

/** The sender of mails: by default a mailbox that is not read, on the host that payers and merchants know. */
function mailFrom(value: string | undefined, publicBaseUrl: string): Config['mail']['from'] {
  const { name, named, bare } = MAIL_FROM.exec(value ?? '')?.groups ?? {};
  const { hostname } = new URL(publicBaseUrl);
  // An IP address is no domain.
  const domain = isIP(hostname.replace(/^\[|\]$/g, '')) === 0 ? hostname : 'localhost';
  return {
    name: value === undefined ? 'Recebe' : (name ?? '').trim().replace(/^"(.*)"$/, '$1'),
    address: named ?? bare ?? `no-reply@${domain}`,
  };
}
