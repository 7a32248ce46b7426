// Builds dist/. With --if-needed it builds only if a source is newer than the last build: `npm start` is right after a
// pull and fast otherwise. Each build has its own folder, which replaces dist/ when it is complete. Builds that run at
// once or are killed therefore leave a complete dist/.
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';

const root = join(import.meta.dirname, '../..');
const dist = join(root, 'dist');
const STAMP = '.built';
/** Prefix of the folders under the root in which builds work. */
const WORK = '.dist-';
/** No build takes this long: an older folder belongs to a killed build. */
const ABANDONED_MS = 3_600_000;
/** No more builds than this end at the same moment. */
const ATTEMPTS = 20;

function newest(path) {
  const stats = statSync(path);
  if (!stats.isDirectory()) return stats.mtimeMs;
  return Math.max(stats.mtimeMs, ...readdirSync(path).map((name) => newest(join(path, name))));
}

/** Whether dist/ is newer than all sources. An image or a package may have dist/ without the sources. */
function isCurrent() {
  if (!existsSync(join(root, 'src'))) return true;
  const stamp = statSync(join(dist, STAMP), { throwIfNoEntry: false });
  const sources = ['src', 'dashboard', 'migrations', 'tools', '.swcrc', 'nest-cli.json', 'package-lock.json']
    .map((name) => join(root, name))
    .filter((path) => existsSync(path));
  return stamp !== undefined && sources.every((path) => newest(path) <= stamp.mtimeMs);
}

function compile(outdir) {
  const settings = join(outdir, 'tsconfig.json');
  writeFileSync(settings, JSON.stringify({ extends: '../tsconfig.json', compilerOptions: { outDir: outdir } }));
  const nest = join(root, 'node_modules', '@nestjs', 'cli', 'bin', 'nest.js');
  const args = [nest, 'build', '--path', relative(root, settings)];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' });
  rmSync(settings);
  if (status !== 0) throw new Error(`${stdout}${stderr}`);
}

/** @returns false if there is nothing to move, or another build has moved its own folder there first */
function isMoved(from, to) {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if (!['ENOENT', 'ENOTEMPTY', 'EEXIST', 'EPERM'].includes(error.code)) throw error;
    return false;
  }
}

/** @param isWanted checked again before the move: another build may have been faster */
function replaceDist(fresh, isWanted) {
  const last = `${fresh}-last`;
  for (let attempt = 1; isWanted(); attempt++) {
    isMoved(dist, last);
    const isDone = isMoved(fresh, dist);
    rmSync(last, { recursive: true, force: true });
    if (isDone) return;
    if (attempt === ATTEMPTS) throw new Error(`${dist} cannot be replaced: is it open in another program?`);
  }
}

function removeAbandoned() {
  for (const name of readdirSync(root).filter((each) => each.startsWith(WORK))) {
    const path = join(root, name);
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats && Date.now() - stats.mtimeMs > ABANDONED_MS) rmSync(path, { recursive: true, force: true });
  }
}

async function build(isWanted) {
  const started = new Date();
  process.stderr.write('Building…');
  const fresh = mkdtempSync(join(root, WORK));
  try {
    compile(fresh);
    // Imported here, because an image has dist/ without the build tools.
    await (await import('./bundle.mjs')).bundle(fresh);
    const stamp = join(fresh, STAMP);
    writeFileSync(stamp, '');
    utimesSync(stamp, started, started); // A source that changed meanwhile is newer, so it starts another build.
    replaceDist(fresh, isWanted);
  } catch (error) {
    process.stderr.write(` failed:\n${error.message}\n`);
    process.exitCode = 1;
    return false;
  } finally {
    rmSync(fresh, { recursive: true, force: true });
    removeAbandoned();
  }
  process.stderr.write(` done in ${((Date.now() - started) / 1000).toFixed(1)} s\n`);
  return true;
}

/** @returns whether dist/ is now newer than the sources */
export async function buildIfNeeded() {
  return isCurrent() || (await build(() => !isCurrent()));
}

if (realpathSync(process.argv[1]) === import.meta.filename) {
  await (process.argv.includes('--if-needed') ? buildIfNeeded() : build(() => true));
}
