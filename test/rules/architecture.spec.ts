import { describe, expect, it } from '@jest/globals';
import { parseText, readSources, type SourceFile, sourceTexts } from './source-files.js';

/**
 * Allowed imports between modules, in one direction. `core` knows no domain word and `brazil` (tax ids, BR Code, São
 * Paulo's calendar) knows nothing at all, so all modules may import these two. A new arrow is a decision: add it here
 * on purpose.
 */
const ARROWS: Readonly<Record<string, readonly string[]>> = {
  // API conventions of Brazil: a day in a query is a day in São Paulo.
  core: ['brazil'],
  brazil: [],
  'local-servers': ['core'],
  audit: ['core'],
  accounts: ['audit', 'brazil', 'core'],
  // The decorators that guard a controller are auth's: every module with routes imports it.
  auth: ['accounts', 'audit', 'core'],
  'api-keys': ['accounts', 'audit', 'auth', 'core'],
  // The rules are settings of the account.
  fraud: ['accounts', 'brazil', 'core'],
  outbox: ['core'],
  wallets: ['auth', 'brazil', 'core'],
  // Callbacks are routes; a connection belongs to an account, and its changes are audited.
  acquirers: ['accounts', 'audit', 'auth', 'brazil', 'core'],
  storage: ['auth', 'core'],
  transactions: ['accounts', 'acquirers', 'audit', 'brazil', 'core', 'outbox', 'wallets'],
  // transactions: its registry of data about customers, which the erasure of a receiver needs.
  payouts: ['accounts', 'acquirers', 'audit', 'auth', 'brazil', 'core', 'fraud', 'outbox', 'transactions', 'wallets'],
  // Lists of acquirers against our books, those of disputes too: it needs both sides.
  reconciliation: ['accounts', 'acquirers', 'brazil', 'core', 'med', 'payouts', 'transactions'],
  // accounts: a new charge follows the settings of the account, which the principal of the request carries.
  charges: ['accounts', 'auth', 'brazil', 'core', 'fraud', 'outbox', 'transactions'],
  payments: ['accounts', 'audit', 'auth', 'brazil', 'core', 'fraud', 'outbox', 'transactions'],
  // A view over sales, which shows them as payments does.
  customers: ['audit', 'auth', 'core', 'payments', 'transactions'],
  // A link's charges are made by charges, and counted in the transactions that credit them.
  'payment-links': ['accounts', 'audit', 'auth', 'charges', 'core', 'transactions'],
  med: ['accounts', 'acquirers', 'audit', 'auth', 'brazil', 'core', 'outbox', 'storage', 'transactions', 'wallets'],
  // Reports show all data of a merchant, so they read these modules. accounts: the closing that an account is mailed.
  reports: [
    ...['accounts', 'auth', 'brazil', 'core', 'med', 'outbox', 'payment-links', 'payouts', 'storage', 'transactions'],
    ...['wallets', 'webhooks'],
  ],
  webhooks: ['accounts', 'audit', 'auth', 'core', 'outbox'],
  // The page of the test card has the frame of the checkout.
  sandbox: [
    ...['accounts', 'acquirers', 'auth', 'brazil', 'charges', 'checkout', 'core', 'payments', 'payouts'],
    'transactions',
  ],
  checkout: ['accounts', 'acquirers', 'auth', 'brazil', 'charges', 'core', 'payment-links', 'transactions'],
  // payouts: when the schedule of the account comes next.
  team: ['accounts', 'audit', 'auth', 'core', 'payouts'],
  'request-logs': ['auth', 'core'],
  // brazil and wallets: mails of balances below zero, with São Paulo's time.
  operations: [
    ...[
      'accounts',
      'acquirers',
      'api-keys',
      'audit',
      'auth',
      'brazil',
      'core',
      'fraud',
      'med',
      'payouts',
      'transactions',
      'wallets',
    ],
  ],
  // An account with a month of sales, made by the services that make all others.
  demo: [
    ...['accounts', 'api-keys', 'audit', 'brazil', 'charges', 'core', 'payments', 'reports', 'sandbox', 'wallets'],
    'webhooks',
  ],
  health: ['auth', 'core', 'outbox', 'storage', 'wallets'],
  cli: [
    'accounts',
    'acquirers',
    'api-keys',
    'app',
    'audit',
    'brazil',
    'core',
    'demo',
    'local-servers',
    'reconciliation',
    'reports',
    'transactions',
    'wallets',
    // The signature and the body of a webhook, which `listen` forwards.
    'webhooks',
  ],
};

/** `app` puts the modules together. */
const MAY_IMPORT: typeof ARROWS = {
  ...ARROWS,
  app: [...Object.keys(ARROWS).filter((name) => name !== 'cli'), 'migrations'],
};

/** Besides `core/database`, repositories, entities and migrations. */
const TYPEORM_ALLOWED = [
  // The data source is the injection token that Database and Reader are made from.
  'src/core/core.module.ts',
  // Runs before any module exists, with the same data source.
  'src/core/resealing/open-secrets.ts',
];

/**
 * Modules whose SQL names tables of others, besides their own. A table belongs to the module that has its entity.
 * A new one is a decision: most often a call to the other module's service, with the `tx`, is the better way.
 */
const TABLES_OF_OTHERS: Readonly<Record<string, readonly string[]>> = {
  // The reading SQL of their own lists: two views of one table (docs/design/rooms.md).
  charges: ['transactions'],
  payments: ['transactions'],
  customers: ['transactions'],
  // A query by primary keys tells at every request who holds a session or a key, and whether they are still let in.
  'api-keys': ['accounts'],
  auth: ['accounts'],
  // Joins of one row with its account, case, event or news. Payouts and cashouts under way hold a client id in place.
  acquirers: ['payouts', 'transactions'],
  med: ['transactions'],
  // Whether an operator has entered a return, under the lock of its payout.
  payouts: ['transactions'],
  // The open charges of a link.
  'payment-links': ['transactions'],
  transactions: ['accounts', 'acquirers', 'core', 'med', 'outbox', 'webhooks'],
  webhooks: ['outbox'],
  // Checks and files read everything.
  reconciliation: ['acquirers', 'core', 'med', 'outbox', 'payment-links', 'payouts', 'transactions', 'wallets'],
  reports: ['payouts', 'transactions', 'wallets', 'webhooks'],
};

/** `file: oddity` that may stay, each with its reason beside the code. */
const ODDITIES_ALLOWED = ['src/outbox/event.entity.ts: eslint-disable-next-line'];

const isTestFile = (path: string): boolean => /\.(?:spec|fixture)\.ts$/.test(path);

/** `src/wallets/x.ts` → `wallets`, `migrations/x.ts` → `migrations`. */
function moduleOf(path: string): string {
  const [top = '', second = ''] = path.split('/');
  return top === 'src' ? second : top;
}

/** The folder whose index.ts is the only door to `path` from outside it, or null for a file that is its own door. */
function roomOf(path: string): string | null {
  const parts = path.split('/');
  if (parts[0] === 'migrations') return 'migrations';
  if (parts[0] !== 'src' || parts.length < 3) return null;
  if (parts[1] !== 'core') return parts.slice(0, 2).join('/');
  return parts.length < 4 ? null : parts.slice(0, 3).join('/');
}

function forbiddenArrows(files: readonly SourceFile[]): string[] {
  return files.flatMap(({ path, references }) => {
    const from = moduleOf(path);
    const allowed = MAY_IMPORT[from];
    return references.flatMap(({ target, line }) => {
      if (target === null || moduleOf(target) === from) return [];
      return allowed?.includes(moduleOf(target)) ? [] : [`${path}:${line} ${from} → ${moduleOf(target)}`];
    });
  });
}

function sideDoors(files: readonly SourceFile[]): string[] {
  return files.flatMap(({ path, references }) =>
    references.flatMap(({ target, specifier, line }) => {
      const room = target === null ? null : roomOf(target);
      const isOutside = room !== null && !path.startsWith(`${room}/`);
      return isOutside && target !== `${room}/index.ts` ? [`${path}:${line} reaches ${specifier}`] : [];
    }),
  );
}

/** Each cycle once, as `a → b → a`. */
function cycles(edges: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  const found: string[] = [];
  const done = new Set<string>();
  const walk = (node: string, path: readonly string[]): void => {
    const at = path.indexOf(node);
    if (at >= 0) {
      found.push([...path.slice(at), node].join(' → '));
      return;
    }
    if (done.has(node)) return;
    for (const next of edges.get(node) ?? []) walk(next, [...path, node]);
    done.add(node);
  };
  for (const node of edges.keys()) walk(node, []);
  return found;
}

function graph(files: readonly SourceFile[], nodeOf: (path: string) => string | null): Map<string, Set<string>> {
  const edges = new Map<string, Set<string>>();
  for (const { path, references } of files) {
    const from = nodeOf(path);
    if (from === null) continue;
    for (const { target } of references) {
      const to = target === null ? null : nodeOf(target);
      if (to !== null && to !== from) edges.set(from, (edges.get(from) ?? new Set()).add(to));
    }
  }
  return edges;
}

function strayTypeorm(files: readonly SourceFile[]): string[] {
  return files
    .filter(({ references }) => references.some(({ specifier }) => /^typeorm(?:\/|$)/.test(specifier)))
    .map(({ path }) => path)
    .filter(
      (path) =>
        !/\.(?:repository|entity)\.ts$/.test(path) &&
        !path.startsWith('src/core/database/') &&
        !path.startsWith('migrations/') &&
        !TYPEORM_ALLOWED.includes(path),
    );
}

/** Reads the module of each table from the entities. */
function tableOwners(): Map<string, string> {
  const entities = sourceTexts('src').filter(({ path }) => path.endsWith('.entity.ts'));
  return new Map(
    entities.flatMap(({ path, text }) =>
      [...text.matchAll(/@Entity\('(\w+)'/g)].map(([, table = '']) => [table, moduleOf(path)] as const),
    ),
  );
}

/** Returns `module → module` for each table of another module that the SQL of a file names. */
function tablesOfOthers(
  files: readonly { path: string; text: string }[],
  owners: ReadonlyMap<string, string>,
): string[] {
  const found = files.flatMap(({ path, text }) =>
    [...text.matchAll(/\b(?:FROM|JOIN|INTO|UPDATE)\s+([a-z_]+)\b/g)].flatMap(([, table = '']) => {
      const owner = owners.get(table);
      return owner === undefined || owner === moduleOf(path) ? [] : [`${moduleOf(path)} → ${owner}`];
    }),
  );
  return [...new Set(found)].sort();
}

function strayOddities(files: readonly SourceFile[]): string[] {
  return files.flatMap(({ path, oddities }) =>
    oddities
      .map((oddity) => `${path}: ${oddity}`)
      .filter((found) => !ODDITIES_ALLOWED.includes(found.replace(/ \(line \d+\)$/, ''))),
  );
}

describe('architecture', () => {
  const sources = readSources('src', 'migrations').filter(({ path }) => !isTestFile(path));

  it('is checked over more than a hundred sources', () => {
    expect(sources.length).toBeGreaterThan(100);
    expect(sources.flatMap(({ references }) => references).length).toBeGreaterThan(400);
  });

  it('knows every module, and has no file at the top of src', () => {
    const modules = new Set(sources.filter(({ path }) => path.startsWith('src/')).map(({ path }) => moduleOf(path)));
    expect([...modules].sort()).toEqual(Object.keys(MAY_IMPORT).sort());
  });

  it('has imports only along the listed arrows', () => {
    expect(forbiddenArrows(sources.filter(({ path }) => path.startsWith('src/')))).toEqual([]);
  });

  it('lets only the modules that assemble the service import its leaves', () => {
    const leaves = ['webhooks', 'sandbox', 'checkout', 'team', 'request-logs', 'operations', 'health', 'cli'];
    const arrows = Object.entries(ARROWS).flatMap(([from, to]) => to.map((name) => `${from} → ${name}`));
    expect(arrows.filter((arrow) => leaves.some((leaf) => arrow.endsWith(`→ ${leaf}`)))).toEqual([
      // Files of deliveries take the statuses of the list.
      'reports → webhooks',
      'sandbox → checkout',
      'demo → sandbox',
      'demo → webhooks',
      'cli → webhooks',
    ]);
    expect(arrows.filter((arrow) => /→ (app|demo)$/.test(arrow))).toEqual(['cli → app', 'cli → demo']);
  });

  it('imports a module, and each room of core, by its index.ts only', () => {
    expect(sideDoors(sources)).toEqual([]);
  });

  it('has no cycle between modules, between the rooms of core, nor between files', () => {
    expect(cycles(new Map(Object.entries(MAY_IMPORT).map(([from, to]) => [from, new Set(to)])))).toEqual([]);
    const node = (path: string): string | null => (path.startsWith('src/') ? moduleOf(path) : null);
    expect(cycles(graph(sources, node))).toEqual([]);
    const room = (path: string): string | null => (path.startsWith('src/core/') ? roomOf(path) : null);
    expect(cycles(graph(sources, room))).toEqual([]);
    expect(cycles(graph(sources, (path) => path))).toEqual([]);
  });

  it('uses the ORM only where rows are described or read', () => {
    expect(strayTypeorm(sources)).toEqual([]);
  });

  it('names in its SQL only the tables of its own module and the listed tables of others', () => {
    const texts = sourceTexts('src').filter(({ path }) => !isTestFile(path));
    const listed = Object.entries(TABLES_OF_OTHERS).flatMap(([from, to]) => to.map((name) => `${from} → ${name}`));
    expect(tablesOfOthers(texts, tableOwners())).toEqual(listed.sort());
  });

  it('has no any, enum, default export, forwardRef, console or silenced checker, even in tests', () => {
    expect(strayOddities(readSources('src', 'migrations', 'test'))).toEqual([]);
  });

  it('lists no exception that is no longer needed', () => {
    const found = sources.flatMap(({ path, oddities }) => oddities.map((oddity) => `${path}: ${oddity}`));
    const needed = (entry: string): boolean => found.some((oddity) => oddity.startsWith(`${entry} (`));
    expect(ODDITIES_ALLOWED.filter((entry) => !needed(entry))).toEqual([]);
    const typeorm = sources.filter(({ references }) => references.some(({ specifier }) => specifier === 'typeorm'));
    expect(TYPEORM_ALLOWED.filter((path) => !typeorm.some((file) => file.path === path))).toEqual([]);
  });
});

describe('the checks of the architecture', () => {
  const broken = parseText(
    'src/wallets/broken.ts',
    `import { a,
       b } from '../charges/index.js';
     import type { C } from '../accounts/accounts.repository.js';
     export * from '../core/money/money.js';
     import { DataSource } from 'typeorm';
     declare module '../sandbox/index.js' { interface X { y: string } }
     const late = import('../checkout/index.js');
     type T = import('../health/index.js').T;
     // import { no } from '../cli/index.js';
     const text = "import x from '../cli/index.js'";
     // eslint-disable-next-line no-console
     console.log(a, forwardRef(() => b)); /* @ts-ignore */
     const x: any = 1, y = x as any, z: any[] = [];
     enum E { A }
     read('x.y', 'SELECT 1 FOR UPDATE'); write('x.z', 'SELECT 1');
     export default E;`,
  );

  it('find every way to import', () => {
    expect(forbiddenArrows([broken])).toEqual([
      'src/wallets/broken.ts:2 wallets → charges',
      'src/wallets/broken.ts:3 wallets → accounts',
      'src/wallets/broken.ts:6 wallets → sandbox',
      'src/wallets/broken.ts:7 wallets → checkout',
      'src/wallets/broken.ts:8 wallets → health',
    ]);
    expect(sideDoors([broken])).toEqual([
      'src/wallets/broken.ts:3 reaches ../accounts/accounts.repository.js',
      'src/wallets/broken.ts:4 reaches ../core/money/money.js',
    ]);
    expect(strayTypeorm([broken])).toEqual(['src/wallets/broken.ts']);
  });

  it('find a table of another module', () => {
    const text = "read('x', `SELECT * FROM balances b JOIN charges c ON true`); write('y', 'UPDATE charges SET a = 1')";
    const owners = new Map([
      ['balances', 'wallets'],
      ['charges', 'charges'],
    ]);
    expect(tablesOfOthers([{ path: 'src/wallets/broken.ts', text }], owners)).toEqual(['wallets → charges']);
  });

  it('find every forbidden construct', () => {
    expect(broken.oddities.map((oddity) => oddity.replace(/ \(.*/, '')).sort()).toEqual(
      [
        '@ts-ignore',
        'any',
        'any',
        'any',
        'console.log',
        'default export',
        'enum',
        'eslint-disable-next-line',
        'forwardRef',
        'read of what writes',
        'write of what only reads',
      ].sort(),
    );
    expect(strayOddities([broken])).toHaveLength(11);
  });

  it('find a cycle', () => {
    const edges = { a: ['b'], b: ['c'], c: ['a', 'd'], d: [] };
    expect(cycles(new Map(Object.entries(edges).map(([from, to]) => [from, new Set(to)])))).toEqual(['a → b → c → a']);
  });
});
