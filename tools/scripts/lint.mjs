// Runs ESLint in two threads and Prettier beside it: in sequence they would use one processor and leave the others
// idle. Prettier caches correct files. ESLint does not, because its type rules depend on other files.
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const { resolve } = createRequire(import.meta.url);
const root = join(import.meta.dirname, '../..');

/** @returns the exit code; the output is printed in one piece */
function run(name, file, args) {
  return new Promise((done) => {
    const program = join(dirname(resolve(`${name}/package.json`)), file);
    const child = spawn(process.execPath, [program, ...args], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text) => (output += text));
    child.on('close', (code) => {
      process.stdout.write(output);
      done(code ?? 1);
    });
  });
}

const codes = await Promise.all([
  run('eslint', 'bin/eslint.js', ['--concurrency', '2', '.']),
  run('prettier', 'bin/prettier.cjs', ['--check', '--cache', '.']),
]);
process.exitCode = Math.max(...codes);
