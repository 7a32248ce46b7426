import { readFileSync } from 'node:fs';
import { cli } from './cli.js';

const about = new URL('../../../package.json', import.meta.url);
const { version } = JSON.parse(readFileSync(about, 'utf8')) as { version: string };
const { env, stdin, stdout, stderr } = process;
process.exit(await cli(process.argv.slice(2), { version, env, stdin, stdout, stderr, exitCode: 0 }));
