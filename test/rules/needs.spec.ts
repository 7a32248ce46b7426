import { describe, expect, it } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix, sep } from 'node:path';
import { ROOT } from './source-files.js';

const PROGRAMS = 'test/support/needs.ts';
const texts = new Map(
  ['test', 'src'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.spec.ts') || (folder === 'test' && name.endsWith('.ts')))
      .map((name) => posix.join(folder, ...name.split(sep)))
      .map((path): [string, string] => [path, readFileSync(join(ROOT, path), 'utf8')]),
  ),
);
const read = (path: string): string => texts.get(path) ?? '';

/** Files of the tests that a file imports, directly or through others. */
function reachedBy(path: string, found = new Set<string>()): Set<string> {
  for (const [, specifier = ''] of read(path).matchAll(/ from '(\.[^']+)\.js'/g)) {
    const target = posix.join(posix.dirname(path), `${specifier}.ts`);
    if (!target.startsWith('test/') || found.has(target)) continue;
    found.add(target);
    reachedBy(target, found);
  }
  return found;
}

/** Names of programs that this file starts. */
const startedBy = (path: string): string[] =>
  [...read(path).matchAll(/\bpathOf\('(\w+)'\)/g)]
    .map(([, name = '']) => name)
    .filter((name) => name !== 'pixApiDocument');

/** Names of programs without which this spec skips, by name, what needs them. */
const declaredBy = (path: string): Set<string> => {
  const calls = [...read(path).matchAll(/\b(?:describeWith|itWith|isHere)\(([^)]*)\)/g)];
  return new Set(calls.flatMap(([, names = '']) => [...names.matchAll(/'(\w+)'/g)].map(([, name = '']) => name)));
};

describe('programs that no package brings', () => {
  const specs = [...texts.keys()].filter((path) => path.endsWith('.spec.ts'));

  it('are declared by every spec that can start one, so that it is skipped where the program is missing', () => {
    const undeclared = specs.flatMap((path) => {
      const needed = [path, ...reachedBy(path)].filter((each) => each !== PROGRAMS).flatMap(startedBy);
      return [...new Set(needed)].filter((name) => !declaredBy(path).has(name)).map((name) => `${path}: ${name}`);
    });
    expect(undeclared).toEqual([]);
  });

  it('are looked for in one place only', () => {
    const others = [...texts.keys()].filter((path) => path !== PROGRAMS && !path.startsWith('test/rules/'));
    expect(others.filter((path) => /process\.env(?:\.|\[')REQUIRE_/.test(read(path)))).toEqual([]);
  });
});
