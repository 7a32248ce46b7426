import { isIP } from 'node:net';

/** Values that production's rules check: texts as set, already well formed. */
export interface Deployment {
  readonly DATABASE_URL?: string | undefined;
  readonly DATABASE_MIGRATION_URL?: string | undefined;
  readonly REDIS_URL?: string | undefined;
  readonly SMTP_URL?: string | undefined;
  readonly STORAGE_URL?: string | undefined;
  readonly PUBLIC_BASE_URL?: string | undefined;
  readonly JWT_SECRET?: string | undefined;
  readonly ENCRYPTION_KEY?: string | undefined;
  readonly METRICS_TOKEN?: string | undefined;
  readonly RATE_LIMIT?: string | undefined;
  readonly TRUST_PROXY?: readonly string[] | undefined;
}

/** The name of a variable, with the error in it. */
export type Problem = readonly [variable: string, message: string];

const REQUIRED = ['REDIS_URL', 'JWT_SECRET', 'ENCRYPTION_KEY', 'PUBLIC_BASE_URL', 'SMTP_URL'] as const;
const WITH_PASSWORD = ['DATABASE_URL', 'DATABASE_MIGRATION_URL', 'REDIS_URL', 'SMTP_URL', 'STORAGE_URL'] as const;
const WORDS = /change-?_?me|password|passw0rd|secret|example|insecure|qwerty|123456/i;
const LOCAL = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;
/** Largest share of all IPv4 addresses that may be proxies: one network of a /8, and private ones beside it. */
const PROXY_SHARE = 1 / 128;
const MODES_OF_TLS = /^(?:require|verify-ca|verify-full)$/;

/** Lists every broken rule of production. */
export function productionProblems(deployment: Deployment): Problem[] {
  const missing = REQUIRED.filter((name) => deployment[name] === undefined);
  return [
    ...missing.map((name): Problem => [name, 'is required in production']),
    ...secretProblems(deployment),
    ...databaseProblems('DATABASE_URL', deployment.DATABASE_URL),
    ...databaseProblems('DATABASE_MIGRATION_URL', deployment.DATABASE_MIGRATION_URL),
    ...redisProblems(deployment.REDIS_URL),
    ...(/^\s*http:/i.test(deployment.PUBLIC_BASE_URL ?? '')
      ? ([['PUBLIC_BASE_URL', 'must start with https://']] as const)
      : []),
    ...(deployment.RATE_LIMIT === 'off' ? ([['RATE_LIMIT', 'must not be off']] as const) : []),
    ...(isMuchOfTheInternet(deployment.TRUST_PROXY ?? [])
      ? ([['TRUST_PROXY', 'believes a large part of the Internet: name your own proxies']] as const)
      : []),
  ];
}

/** Lists each secret, passwords in URLs included, with the name of its variable. */
function secretsOf(deployment: Deployment): Problem[] {
  const passwords = WITH_PASSWORD.map((name) => [name, passwordOf(deployment[name])] as const);
  const keys = (deployment.ENCRYPTION_KEY ?? '').split(',').map((key) => key.replace(/^.*:/, '').toLowerCase());
  return [
    ['JWT_SECRET', deployment.JWT_SECRET ?? ''] as const,
    ['METRICS_TOKEN', deployment.METRICS_TOKEN ?? ''] as const,
    ...keys.map((key) => ['ENCRYPTION_KEY', key] as const),
    ...passwords,
  ].filter(([, secret]) => secret !== '');
}

function secretProblems(deployment: Deployment): Problem[] {
  const secrets = secretsOf(deployment);
  return secrets.flatMap(([name, secret], at): Problem[] => {
    const same = secrets.slice(0, at).find(([other, value]) => value === secret && !isOneRole(deployment, name, other));
    const isPassword = WITH_PASSWORD.some((one) => one === name);
    const isOwn = name !== 'SMTP_URL' && name !== 'STORAGE_URL';
    return [
      ...(isOwn && isWeak(secret, isPassword ? 12 : 16) ? [[name, 'has a secret that can be guessed'] as const] : []),
      ...(same ? [[name, same[0] === name ? 'repeats a key' : `has the same secret as ${same[0]}`] as const] : []),
    ];
  });
}

/** Returns whether both URLs of the database name one role, which has only one password. */
function isOneRole(deployment: Deployment, ...names: string[]): boolean {
  const { DATABASE_URL: service = '', DATABASE_MIGRATION_URL: owner = '' } = deployment;
  return (
    names.every((name) => name.startsWith('DATABASE_')) &&
    (urlOf(service)?.username ?? '') === (urlOf(owner)?.username ?? '')
  );
}

/**
 * Returns whether a secret that operators choose is weak: few characters, one repeated piece, characters in sequence,
 * or a common word.
 */
function isWeak(secret: string, least: number): boolean {
  const text = secret.toLowerCase();
  if (text.length < least || new Set(text).size < Math.min(8, least / 2) || WORDS.test(text)) return true;
  for (let piece = 1; piece <= text.length / 2; piece++) {
    if (text.slice(piece) === text.slice(0, -piece)) return true;
  }
  const steps = [...text].filter((character, at) => Math.abs(character.charCodeAt(0) - text.charCodeAt(at - 1)) <= 1);
  return steps.length > text.length / 2;
}

function databaseProblems(name: string, value: string | undefined): Problem[] {
  const url = urlOf(value);
  if (!url) return [];
  const { searchParams } = url;
  const repeated = [...searchParams.keys()].find((key, at, keys) => keys.indexOf(key) < at);
  // If a parameter is repeated, PostgreSQL's client uses the last one.
  if (repeated !== undefined) return [[name, `has the parameter ${repeated} more than once`]];
  const host = searchParams.get('host') ?? url.hostname;
  if (host === '' || host.startsWith('/') || LOCAL.test(host)) return [];
  const mode = searchParams.get('sslmode') ?? '';
  // With libpq's meaning, `require` does not check the server's identity.
  const isChecked =
    mode === 'verify-full' || (MODES_OF_TLS.test(mode) && searchParams.get('uselibpqcompat') !== 'true');
  const hasPassword = passwordOf(value) !== '' || searchParams.has('sslcert');
  return [
    ...(isChecked ? [] : [[name, 'is on another host without TLS: add ?sslmode=verify-full'] as const]),
    ...(hasPassword ? [] : [[name, 'is on another host without a password'] as const]),
  ];
}

function redisProblems(value: string | undefined): Problem[] {
  const url = urlOf(value);
  if (!url || url.hostname === '' || LOCAL.test(url.hostname)) return [];
  return [
    ...(url.protocol === 'rediss:' ? [] : [['REDIS_URL', 'is on another host without TLS: use rediss://'] as const]),
    ...(passwordOf(value) === '' ? [['REDIS_URL', 'is on another host without a password'] as const] : []),
  ];
}

function urlOf(value = ''): URL | null {
  return URL.canParse(value) ? new URL(value) : null;
}

function passwordOf(value: string | undefined): string {
  const url = urlOf(value);
  const password = url?.password === '' ? (url.searchParams.get('password') ?? '') : (url?.password ?? '');
  try {
    return decodeURIComponent(password);
  } catch {
    return password;
  }
}

/** Counts the share of all proxies together. Unique local IPv6 is left out, as it is not used on the Internet. */
function isMuchOfTheInternet(proxies: readonly string[]): boolean {
  let share = 0;
  for (const proxy of proxies) {
    const [address = '', length] = proxy.split('/');
    const family = isIP(address);
    if (length === undefined || family === 0 || /^f[cd]/i.test(address)) continue;
    const isMapped = /^::ffff:/i.test(address) && Number(length) >= 96;
    share += 2 ** -(isMapped ? Number(length) - 96 : Number(length));
  }
  return share > PROXY_SHARE;
}
