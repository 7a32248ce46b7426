import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { allDocuments, anchorsOf, linksOf, readingOrder, shellBlocks } from '../support/documents.js';
import { ROUTES, shownRoute } from './route-table.js';

function readTexts(...folders: string[]): { path: string; text: string }[] {
  return folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => join(folder, name))
      .map((path) => ({ path, text: readFileSync(path, 'utf8') })),
  );
}

/** Links that lead nowhere, as `path:line target`. */
function broken(links: ReturnType<typeof linksOf>): string[] {
  return links
    .filter(({ file, anchor }) => !existsSync(file) || (anchor !== null && !anchorsOf(file).includes(anchor)))
    .map(({ path, line, target }) => `${path}:${line} ${target}`);
}

/** The SQL literal that `index` is in, up to there. Quotes within backticks are part of it. */
function literalBefore(text: string, index: number): string {
  const before = text.slice(0, index);
  const isTemplate = before.split('`').length % 2 === 0;
  return before.slice(before.lastIndexOf(isTemplate ? '`' : "'"));
}

/** Tables whose rows the statements of a repository lock, in the clauses and then in claims; null: the text does not say. */
function lockedTables(text: string): (string | null)[] {
  const clauses = [...text.matchAll(/\bFOR (?:NO KEY UPDATE|UPDATE|KEY SHARE|SHARE)\b(?: OF (\w+))?/g)];
  const named = clauses.map(({ index, 1: alias }) => {
    const sources = [...literalBefore(text, index).matchAll(/\b(FROM|JOIN) (\w+)(?: (\w+))?/g)];
    const locked = sources.filter(([, word, , as]) => (alias === undefined ? word === 'FROM' : as === alias));
    return locked.at(-1)?.[2] ?? null;
  });
  // Calls of src/core/database/claim.ts with a name or columns first, and not methods of the same name.
  const claims = text.matchAll(
    /(?<!\.|async )\b(?:claim|remove|lock)Due\((?:\s*(?:'[^']*'|`[^`]*`|\w+),\s*['`](\w+))?/g,
  );
  return [...named, ...[...claims].map(([, table]) => table ?? null)];
}

describe('documents', () => {
  it('have no broken link', () => {
    expect(broken(allDocuments().flatMap((path) => linksOf(path)))).toEqual([]);
  });

  it('the check finds a link to a missing file or heading', () => {
    const link = { path: 'README.md', line: 1, target: 'x' };
    expect(
      broken([
        { ...link, file: 'docs/nobody.md', anchor: null },
        { ...link, file: 'README.md', anchor: 'nothing' },
        { ...link, file: 'README.md', anchor: 'start' },
      ]),
    ).toEqual(['README.md:1 x', 'README.md:1 x']);
  });

  it('name only functions that exist in the named file', () => {
    const named = allDocuments().flatMap((path) => {
      const text = readFileSync(path, 'utf8');
      // [`one`](path/file.ts), `one` and [`another`](path/file.ts)
      return [...text.matchAll(/(?:`(#?\w+)` and )?\[`(#?\w+)`\]\(([\w./-]+\.ts)\)/g)].flatMap(
        ([, one, another = '', target = '']) =>
          [one ?? another, another].map((name) => ({ path, name, file: join(dirname(path), target) })),
      );
    });
    expect(named.length).toBeGreaterThan(15);
    const missing = named.filter(
      ({ name, file }) => !new RegExp(`(?<![\\w.#])${name}\\b`).test(readFileSync(file, 'utf8')),
    );
    expect(missing).toEqual([]);
  });

  it('can all be reached from README.md', () => {
    const reached = new Set(['README.md']);
    for (const path of reached) {
      for (const { file } of linksOf(path)) if (file.endsWith('.md')) reached.add(file);
    }
    expect([...reached].sort()).toEqual(allDocuments());
  });

  it('have shell blocks only where the spec runs them', () => {
    const run = readingOrder();
    const elsewhere = allDocuments().filter((path) => !run.includes(path) && shellBlocks(path).length > 0);
    expect(elsewhere).toEqual([]);
  });

  it('are the only papers that the code refers to, with sections that exist', () => {
    const texts = readTexts('src', 'test', 'tools', 'migrations');
    const papers = /\bdecisions? §|\binterface\.md\b|\binterface §|\barchitecture\.md\b/i;
    const own = 'test/rules/documents.spec.ts';
    const pointers = texts.flatMap(({ path, text }) =>
      text.split('\n').flatMap((line, index) => {
        const at = `${path}:${index + 1}`;
        if (path === own) return [];
        const sections = [...line.matchAll(/\b((?:docs\/[\w/-]+|README)\.md)(?:#([\w-]+))?/g)];
        return [
          ...(papers.test(line) ? [{ at, target: line.trim(), isThere: false }] : []),
          ...sections.map(([target, file = '', anchor]) => ({
            at,
            target,
            isThere: existsSync(file) && (anchor === undefined || anchorsOf(file).includes(anchor)),
          })),
        ];
      }),
    );
    expect(pointers.length).toBeGreaterThan(40);
    expect(pointers.filter(({ isThere }) => !isThere).map(({ at, target }) => `${at} ${target}`)).toEqual([]);
  });

  it('list every route in the contract, and who may call it', () => {
    const isLeftOut = (route: string): boolean =>
      /^GET \/(?:$|docs|dashboard|openapi[./])|\/v1\/infractions|^\w+ \/callbacks\/.*\/pix$/.test(route);
    const who = (route: string, access: string): string => {
      if (route.includes('/v1/operations')) return 'operator';
      return access === 'api-key' ? 'key' : access === 'dashboard' ? 'login' : access;
    };
    const routes = Object.entries(ROUTES)
      .filter(([route]) => !isLeftOut(route))
      .map(([route, row]) => shownRoute(route, row))
      .map(({ shown, access }) => `${shown} ${who(shown, access)}`);
    const rows = readFileSync('docs/contract.md', 'utf8').matchAll(/^\| `([A-Z]+ \/[^`]*)` +\| `(\w+)` +\|/gm);
    expect([...rows].map(([, route = '', caller = '']) => `${route} ${caller}`).sort()).toEqual(routes.sort());
  });

  it('list every error code in the contract', () => {
    const contract = readFileSync('docs/contract.md', 'utf8');
    const thrown = /(?:badRequest|business)\(\s*'([\w.]+)'|new ApiError\(\s*\d+,\s*'\w+_error',\s*'([\w.]+)'/g;
    const codes = readTexts('src')
      .filter(({ path }) => !path.endsWith('.spec.ts'))
      .flatMap(({ text }) => [...text.matchAll(thrown)].map(([, first, second]) => first ?? second ?? ''));
    expect(new Set(codes).size).toBeGreaterThan(20);
    // Said on the command line only.
    const ofCommands = ['acquirer_key_taken', 'payouts_under_way'];
    const missing = codes.filter((code) => !ofCommands.includes(code) && !contract.includes(`\`${code}\``));
    expect(missing).toEqual([]);
  });

  it('list every table whose rows are locked in the lock order', () => {
    const page = readFileSync('docs/design/lock-order.md', 'utf8');
    const locks = readTexts('src')
      .filter(({ path }) => path.endsWith('.repository.ts'))
      .flatMap(({ path, text }) => lockedTables(text).map((table) => ({ path, table })));
    const tables = new Set(locks.map(({ table }) => table).filter((table) => table !== null));
    expect(tables.size).toBeGreaterThan(25);
    expect([...tables].filter((table) => !page.includes(`\`${table}\``))).toEqual([]);
    // Locks the rows of a statement above it.
    expect(locks.filter(({ table }) => table === null).map(({ path }) => path)).toEqual([
      'src/webhooks/log/delivery-log.repository.ts',
    ]);
  });

  it('sees the tables that statements lock, and claims of due rows', () => {
    const text = `
      read('a', \`SELECT 1 FROM first f JOIN second s ON s.id = f.id WHERE f.status = 'open' FOR UPDATE OF s\`);
      read('b', 'SELECT 1 FROM third WHERE id = $1 FOR NO KEY UPDATE');
      read('c', \`\${OTHER.text} FOR UPDATE\`);
      claimDue('d', 'fourth x', { dueAt: 'x.due_at' });
      removeDue(
        'e',
        'fifth',
        { dueAt: 'id' },
      );
      lockDue(COLUMNS, 'sixth', { dueAt: 'id' });
      lockDue(\`a, b\`, \`seventh\`, { dueAt: 'id' });
      claimDue(NAME, TABLE, { dueAt: 'id' });
      this.rows.claimDue(tx, 'eighth');
    `;
    expect(lockedTables(text)).toEqual(['second', 'third', null, 'fourth', 'fifth', 'sixth', 'seventh', null]);
  });

  it('name only existing specs as proofs of the chapters of security', () => {
    const named = [...readFileSync('docs/security.md', 'utf8').matchAll(/`((?:src|test)\/[^`]+)`/g)];
    const missing = named.flatMap(([, name = '']) => {
      const [directory, file = ''] = [dirname(name), basename(name).replace('*', '')];
      const isThere = existsSync(directory) && readdirSync(directory).some((entry) => entry.includes(file));
      return isThere ? [] : [name];
    });
    expect(missing).toEqual([]);
    expect(named.length).toBeGreaterThan(20);
  });

  it('begin with a README of at most 10 KB', () => {
    expect(readFileSync('README.md').length).toBeLessThanOrEqual(10_240);
  });
});
