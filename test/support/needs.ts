import { accessSync, constants, existsSync, readdirSync, realpathSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { describe, it } from '@jest/globals';

/** A program or file of others that no package brings. */
interface Need {
  /** Message for a missing program: its name and how to install it. */
  readonly missing: string;
  /** With this variable set to 1, as in CI, specs fail where it is missing instead of being skipped. */
  readonly requiredBy: string;
  /** @returns its path, or null where it is not here */
  find(): string | null;
}

/** Programs and files that specs need, except Node.js, npm packages and the tools of every Linux. */
const NEEDS = {
  redis: {
    missing: 'no redis-server or valkey-server on the PATH',
    requiredBy: 'REQUIRE_REDIS',
    find: () => onPath('redis-server', 'valkey-server'),
  },
  browser: {
    missing: 'no Chromium on the PATH (or in CHROMIUM_PATH)',
    requiredBy: 'REQUIRE_BROWSER',
    find: () =>
      process.env['CHROMIUM_PATH'] ??
      // The headless shell needs half the processor time of the full browser.
      onPath('chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'),
  },
  bookkeepers: {
    missing: 'not all of hledger, ledger, bean-check, bean-query, ofxdump and ssconvert on the PATH',
    requiredBy: 'REQUIRE_BOOKKEEPERS',
    find: () => {
      const paths = ['hledger', 'ledger', 'bean-check', 'bean-query', 'ofxdump', 'ssconvert'].map((name) =>
        onPath(name),
      );
      return paths.every((path) => path !== null) ? (paths[0] ?? null) : null;
    },
  },
  libreOffice: {
    missing: 'no LibreOffice Calc on the PATH (Debian: libreoffice-calc-nogui)',
    requiredBy: 'REQUIRE_LIBREOFFICE',
    find: () => onPath('soffice'),
  },
  replica: {
    missing: 'no PostgreSQL with pg_basebackup on the PATH (Debian: postgresql)',
    requiredBy: 'REQUIRE_REPLICA',
    find: postgresPrograms,
  },
  pgbouncer: {
    missing: 'no pgbouncer on the PATH',
    requiredBy: 'REQUIRE_PGBOUNCER',
    // PGBOUNCER tries another version.
    find: () => process.env['PGBOUNCER'] ?? onPath('pgbouncer'),
  },
  nginx: { missing: 'no nginx on the PATH', requiredBy: 'REQUIRE_NGINX', find: () => onPath('nginx') },
  prism: {
    missing: 'no Prism (PRISM_BIN: @stoplight/prism-cli, which has too many packages to be a dependency)',
    requiredBy: 'REQUIRE_PRISM',
    find: () => process.env['PRISM_BIN'] ?? null,
  },
  efiSdk: {
    missing: 'no SDK of Efí (EFI_SDK: the folder of sdk-node-apis-efi 2, which is no dependency)',
    requiredBy: 'REQUIRE_EFI_SDK',
    find: () => process.env['EFI_SDK'] ?? null,
  },
  spin: {
    missing: 'no spin or no gcc on the PATH (Debian: spin, gcc, libc6-dev)',
    requiredBy: 'REQUIRE_SPIN',
    find: () => (onPath('gcc') === null ? null : onPath('spin')),
  },
  pixApiDocument: {
    missing: "BACEN's document of API Pix is not here (PIX_API_DOCUMENT)",
    requiredBy: 'REQUIRE_PIX_API_DOCUMENT',
    find: () => {
      const beside = join(import.meta.dirname, '../../../shared/data/pix-api-openapi.yaml');
      // With 'none' there is no such file, also where the document lies beside the project.
      const path = process.env['PIX_API_DOCUMENT'] ?? beside;
      return existsSync(path) ? path : null;
    },
  },
  psql: {
    missing: 'no psql on the PATH (Debian: postgresql-client)',
    requiredBy: 'REQUIRE_PSQL',
    find: () => onPath('psql'),
  },
  curl: { missing: 'no curl on the PATH', requiredBy: 'REQUIRE_CURL', find: () => onPath('curl') },
  terminal: {
    missing: 'no `script` of Linux on the PATH',
    requiredBy: 'REQUIRE_TERMINAL',
    find: () => (process.platform === 'linux' ? onPath('script') : null),
  },
} satisfies Record<string, Need>;

export type NeedName = keyof typeof NEEDS;

function onPath(...names: string[]): string | null {
  const directories = (process.env['PATH'] ?? '').split(delimiter);
  return names.flatMap((name) => directories.map((each) => join(each, name))).find(isExecutable) ?? null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** @returns the directory of a whole PostgreSQL; Debian has only a wrapper of its clients on the PATH */
function postgresPrograms(): string | null {
  const client = onPath('pg_basebackup');
  if (client === null) return null;
  const packaged = '/usr/lib/postgresql';
  const versions = existsSync(packaged) ? readdirSync(packaged).map(Number) : [];
  const directories = [dirname(realpathSync(client)), join(packaged, String(Math.max(0, ...versions)), 'bin')];
  return directories.find((each) => existsSync(join(each, 'postgres'))) ?? null;
}

/** @throws Error where it is missing although it is required */
export function isHere(name: NeedName): boolean {
  const { find, missing, requiredBy } = NEEDS[name];
  if (find() !== null) return true;
  if (process.env[requiredBy] === '1') throw new Error(`${requiredBy}=1, but ${missing}`);
  return false;
}

/** The path of what `isHere`. */
export function pathOf(name: NeedName): string {
  const path = NEEDS[name].find();
  if (path === null) throw new Error(NEEDS[name].missing);
  return path;
}

/** The text to add to the name of a test that is skipped; `npm test` counts these in its last lines. */
function skippedBecause(names: readonly NeedName[]): string | null {
  const missing = names.filter((name) => !isHere(name)).map((name) => NEEDS[name].missing);
  return missing.length > 0 ? ` [skipped: ${missing.join('; ')}]` : null;
}

/** `describe` of what needs these: skipped by name where one is missing. */
export function describeWith(...needs: NeedName[]): (title: string, body: () => void) => void {
  const reason = skippedBecause(needs);
  return reason === null ? describe : (title, body) => describe.skip(title + reason, body);
}

/** `it` of what needs these: skipped by name where one is missing. */
export function itWith(
  ...needs: NeedName[]
): (title: string, body: () => Promise<void> | void, limitMs?: number) => void {
  const reason = skippedBecause(needs);
  return reason === null ? it : (title, body, limitMs) => it.skip(title + reason, body, limitMs);
}
