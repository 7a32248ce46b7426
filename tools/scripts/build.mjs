// Builds dist/. With --if-needed only when a source is newer than the last build, so that `npm start` is right after a pull
// and quick after that. Each build has a folder of its own, which takes the place of dist/ when it is complete: several
// that run at once, or are killed, leave a dist/ that is whole.
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
/** Folders under the root that builds work in. */
const WORK = '.dist-';
/** No build takes as long: an older folder was left by one that was killed. */
const ABANDONED_MS = 3_600_000;
/** So many builds do not end at the same moment. */
const ATTEMPTS = 20;

function newest(path) {
  const stats = statSync(path);
  if (!stats.isDirectory()) return stats.mtimeMs;
  return Math.max(stats.mtimeMs, ...readdirSync(path).map((name) => newest(join(path, name))));
}

/** Whether dist/ was built after the last change of a source. An image or a package may have dist/ without the sources. */
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

/** @returns false where there is nothing to move, or another build has put its own there at that moment */
function isMoved(from, to) {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if (!['ENOENT', 'ENOTEMPTY', 'EEXIST', 'EPERM'].includes(error.code)) throw error;
    return false;
  }
}

/** @param isWanted asked once more before: another build may have been quicker */
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
    // Imported here: an image has dist/ without what builds it.
    await (await import('./bundle.mjs')).bundle(fresh);
    const stamp = join(fresh, STAMP);
    writeFileSync(stamp, '');
    utimesSync(stamp, started, started); // a source that changed meanwhile is newer
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

/** @returns whether dist/ is newer than the sources now */
export async function buildIfNeeded() {
  return isCurrent() || (await build(() => !isCurrent()));
}

if (realpathSync(process.argv[1]) === import.meta.filename) {
  await (process.argv.includes('--if-needed') ? buildIfNeeded() : build(() => true));
}
