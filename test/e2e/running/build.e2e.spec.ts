import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { waitFor } from '../../support/wait.js';

const SOURCES = ['src', 'dashboard', 'migrations', 'tools', '.swcrc', 'nest-cli.json', 'package.json', 'tsconfig.json'];

describe('the build of a checkout of the repository', () => {
  const directory = mkdtempSync(join(tmpdir(), 'recebe-build-'));
  /** Compilers cut names like `src` off, and URLs encode the rest. */
  const checkout = join(directory, 'src', 'dist', 'Área 100% #1 (teste)', 'src');

  beforeAll(() => {
    mkdirSync(checkout, { recursive: true });
    for (const name of [...SOURCES, 'package-lock.json']) {
      cpSync(name, join(checkout, name), {
        recursive: true,
        preserveTimestamps: true,
        filter: (path) => !path.endsWith('.spec.ts'),
      });
    }
    symlinkSync(join(process.cwd(), 'node_modules'), join(checkout, 'node_modules'));
  });

  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  function startBuild(): { child: ChildProcess; ended: Promise<{ code: number | null; output: string }> } {
    const script = join(checkout, 'tools/scripts/build.mjs');
    const child = spawn(process.execPath, [script, '--if-needed'], {
      cwd: checkout,
      stdio: ['ignore', 'ignore', 'pipe'],
      detached: true,
    });
    let output = '';
    child.stderr.on('data', (chunk) => (output += String(chunk)));
    return { child, ended: new Promise((resolve) => child.on('close', (code) => resolve({ code, output }))) };
  }

  const works = (): string =>
    execFileSync(process.execPath, ['dist/bundle/cli/main.js', '--version'], {
      cwd: checkout,
      encoding: 'utf8',
    }).trim();
  const leftovers = (): string[] => readdirSync(checkout).filter((name) => name.startsWith('.dist-'));
  const changeASource = (): void => utimesSync(join(checkout, 'src/app/main.ts'), new Date(), new Date());

  it('succeeds for two at once under folders named src and dist, with blanks, signs and letters beyond ASCII', async () => {
    const builds = await Promise.all([startBuild(), startBuild()].map(({ ended }) => ended));
    expect(builds.map(({ code, output }) => [code, output.split(' done in ')[0]])).toEqual([
      [0, 'Building…'],
      [0, 'Building…'],
    ]);
    expect(works()).toMatch(/^\d+\.\d+\.\d+$/);
    for (const name of ['bundle/main.js', 'dashboard/index.html', 'src/app/main.js', 'migrations/index.js'])
      expect([name, existsSync(join(checkout, 'dist', name))]).toEqual([name, true]);
    expect(leftovers()).toEqual([]);
  });

  it('leaves the last build in place when it is killed, and builds at the next start', async () => {
    changeASource();
    const killed = startBuild();
    await waitFor('the build to have its folder', () => Promise.resolve(leftovers().length > 0));
    process.kill(-(killed.child.pid ?? 0), 'SIGKILL'); // with the compiler that it has started
    await killed.ended;
    expect(works()).toMatch(/^\d/);
    const hourAgo = new Date(Date.now() - 3_700_000);
    for (const name of leftovers()) utimesSync(join(checkout, name), hourAgo, hourAgo);

    const [next, other] = await Promise.all([startBuild(), startBuild()].map(({ ended }) => ended));
    expect([next?.output, other?.output]).toEqual([expect.stringMatching(/^Building… done/), expect.any(String)]);
    expect(works()).toMatch(/^\d/);
    expect(leftovers()).toEqual([]);
    expect(await startBuild().ended).toEqual({ code: 0, output: '' });
  });
});
