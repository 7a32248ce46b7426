import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from '@jest/globals';

/**
 * Lists the findings of this repository's rules about regular expressions. Without types: reading them takes a
 * minute.
 */
const JUDGE = `
  import { Linter } from 'eslint';
  import config from './eslint.config.js';
  const rules = config.filter(({ plugins }) => plugins?.redos).map(({ files, ignores, ...rest }) => rest);
  const broken = (code) => new Linter().verify(code, rules).map(({ ruleId }) => ruleId ?? 'cannot be read');
  console.log(JSON.stringify(JSON.parse(process.argv[1]).map((code) => [...new Set(broken(code))].sort())));
`;

async function rulesBroken(...codes: string[]): Promise<string[][]> {
  const args = ['--input-type=module', '--eval', JUDGE, JSON.stringify(codes)];
  return JSON.parse((await promisify(execFile)(process.execPath, args)).stdout) as string[][];
}

it('no regular expression of the service takes more than linear time', async () => {
  expect(
    await rulesBroken(
      // 62 000 line breaks before a payload kept this one busy for five seconds.
      String.raw`/[\r\n]\s*$/.test(text);`,
      String.raw`text.match(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|\s+/g);`,
      String.raw`text.replace(/\/+$/, '');`,
      String.raw`/^(?:a+)+$/.test(text);`,
      'new RegExp(word).test(text);',
      String.raw`/^[a-z]{2}_[0-9a-f]+$/.test(text);`,
    ),
  ).toEqual([
    ['redos/no-vulnerable', 'regexp/no-super-linear-move'],
    ['redos/no-vulnerable'],
    ['redos/no-vulnerable', 'regexp/no-super-linear-move'],
    ['redos/no-vulnerable', 'regexp/no-super-linear-backtracking'],
    ['no-restricted-syntax'],
    [],
  ]);
});
