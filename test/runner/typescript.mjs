// Compiles one source file as the build does and keeps the result under node_modules/.cache, by content.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { transformSync, version } from '@swc/core';

const ROOT = join(import.meta.dirname, '..', '..');
const CACHE = join(ROOT, 'node_modules', '.cache', 'recebe-test-sources');
const settings = readFileSync(join(ROOT, '.swcrc'), 'utf8');
mkdirSync(CACHE, { recursive: true });

/** @returns {{ code: string, map: string }} the JavaScript, and the path of its source map */
export function compile(path) {
  const source = readFileSync(path, 'utf8');
  const key = createHash('sha256').update([version, settings, path, source].join('\0')).digest('hex');
  const map = join(CACHE, `${key}.map`);
  const script = join(CACHE, `${key}.js`);
  // The script is written last: where it is, its map is too.
  if (existsSync(script)) return { code: readFileSync(script, 'utf8'), map };
  const output = transformSync(source, { cwd: ROOT, filename: path, sourceFileName: path, sourceMaps: true });
  write(map, output.map);
  write(script, output.code);
  return { code: output.code, map };
}

/** Several workers may compile one file at a time. */
function write(path, text) {
  const draft = `${path}.${process.pid}.${Math.random().toString(36).slice(2)}`;
  writeFileSync(draft, text);
  renameSync(draft, path);
}
