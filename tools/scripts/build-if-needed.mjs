// Builds dist/ when a source is newer than the last build, so that `npm start` is right after a pull and quick after that.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');
const stamp = join(root, 'dist', '.built');

function newest(path) {
  const stats = statSync(path);
  if (!stats.isDirectory()) return stats.mtimeMs;
  return Math.max(stats.mtimeMs, ...readdirSync(path).map((name) => newest(join(path, name))));
}

// An image or a package may ship dist/ without the sources.
const sources = ['src', 'dashboard', 'migrations', 'tools', '.swcrc', 'nest-cli.json', 'package-lock.json']
  .map((name) => join(root, name))
  .filter((path) => existsSync(path));
const built = existsSync(stamp) ? statSync(stamp).mtimeMs : 0;
const hasSources = existsSync(join(root, 'src'));

if (hasSources && sources.some((path) => newest(path) > built)) {
  const started = Date.now();
  process.stderr.write('Building…');
  const nest = join(root, 'node_modules', '@nestjs', 'cli', 'bin', 'nest.js');
  const { status, stdout, stderr } = spawnSync(process.execPath, [nest, 'build'], { cwd: root, encoding: 'utf8' });
  if (status !== 0) {
    process.stderr.write(` failed:\n${stdout}${stderr}\n`);
    process.exit(1);
  }
  // Imported here: an image has dist/ without what builds it.
  await (await import('./bundle.mjs')).bundle();
  writeFileSync(stamp, `${new Date(started).toISOString()}\n`);
  process.stderr.write(` done in ${((Date.now() - started) / 1000).toFixed(1)} s\n`);
}
