// Compiles one source file as the build does and keeps the result under node_modules/.cache, by content.
const { createHash } = require('node:crypto');
const { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');
const { transformSync } = require('@swc/core');

const ROOT = join(__dirname, '..', '..');
const CACHE = join(ROOT, 'node_modules', '.cache', 'recebe-test-sources');
const options = {
  ...JSON.parse(readFileSync(join(ROOT, '.swcrc'), 'utf8')),
  swcrc: false,
  sourceMaps: true,
};
delete options.$schema;
const version = `${require('@swc/core/package.json').version} ${JSON.stringify(options)}`;
mkdirSync(CACHE, { recursive: true });

/** @returns {{ code: string, map: string }} the JavaScript, and the path of its source map */
function compile(path) {
  const source = readFileSync(path, 'utf8');
  const key = createHash('sha256').update(version).update(path).update(source).digest('hex');
  const map = join(CACHE, `${key}.map`);
  const script = join(CACHE, `${key}.js`);
  // The script is written last: where it is, its map is too.
  if (existsSync(script)) return { code: readFileSync(script, 'utf8'), map };
  const output = transformSync(source, { ...options, filename: path, sourceFileName: path });
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

module.exports = { compile };
