import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { afterAll, expect, it, jest } from '@jest/globals';
import { Processes, readDemo } from '../../support/process.js';
import { waitFor } from '../../support/wait.js';

jest.setTimeout(300_000);

const MAX_MEGABYTES = 6;
const root = mkdtempSync(join(tmpdir(), 'recebe-package-'));
const processes = new Processes();
let service: ChildProcess | null = null;

afterAll(async () => {
  service?.kill('SIGKILL');
  await processes.cleanUp();
  rmSync(root, { recursive: true, force: true });
});

/** Installs the tarball as npm does, but with the packages that are here: tests reach no registry. */
function install(tarball: string): string {
  const modules = join(root, 'node_modules');
  const installed = join(modules, 'recebe');
  mkdirSync(installed, { recursive: true });
  execFileSync('tar', ['-xzf', tarball, '-C', installed, '--strip-components=1']);
  const listed = execFileSync('npm', ['ls', '--omit=dev', '--all', '--parseable'], { encoding: 'utf8' });
  for (const path of listed.trim().split('\n')) {
    const name = relative(resolve('node_modules'), path);
    // Packages within others come with them.
    if (name.startsWith('..') || name.includes('node_modules')) continue;
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(path, join(modules, name));
  }
  const bin = join(modules, '.bin', 'recebe');
  mkdirSync(dirname(bin));
  symlinkSync(join(installed, 'dist/bundle/cli/main.js'), bin);
  return bin;
}

it('starts from the packed tarball in an empty folder, without a build and development packages', async () => {
  execFileSync('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', root]);
  const [file = ''] = readdirSync(root);
  expect(statSync(join(root, file)).size).toBeLessThan(MAX_MEGABYTES * 1024 * 1024);
  const bin = install(join(root, file));
  expect(existsSync(join(root, 'node_modules', 'esbuild'))).toBe(false);
  const dataDir = processes.dataDir();
  const env = { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', DEMO_FILL: 'false' };
  const started = spawn(process.execPath, [bin, 'start', '--data', dataDir, '--port', '0'], { cwd: root, env });
  service = started;
  let output = '';
  for (const stream of [started.stdout, started.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  }
  await waitFor('the service', () => started.exitCode !== null || output.includes('Recebe is ready'), 120_000);
  const url = /^ {2}API +(\S+)/m.exec(output)?.[1]?.replace('localhost', '127.0.0.1');
  expect([url, output]).toEqual([expect.stringMatching(/^http/), expect.stringContaining('Next: recebe listen')]);
  expect((await fetch(`${String(url)}/dashboard`)).status).toBe(200);

  const { test_api_key: key } = readDemo(dataDir);
  const triggered = execFileSync(process.execPath, [bin, 'trigger', 'charge.paid'], {
    ...{ cwd: root, encoding: 'utf8' },
    env: { ...env, RECEBE_URL: String(url), RECEBE_API_KEY: key },
  });
  expect(JSON.parse(triggered)).toMatchObject({ object: 'event', type: 'charge.paid' });

  const ended = new Promise((end) => started.once('exit', end));
  started.kill('SIGINT');
  expect(await ended).toBe(0);
});
