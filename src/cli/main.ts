#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { cli } from './cli.js';

const about = new URL('../../../package.json', import.meta.url);
const { version } = JSON.parse(readFileSync(about, 'utf8')) as { version: string };
const { env, stdin, stdout, stderr } = process;
// A reader such as `head` has seen enough.
stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));
const onInterrupt = (work: () => void): void => {
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, work);
};
// Installed as a package it is called by its name, here by npm.
const program = basename(process.argv[1] ?? '') === 'recebe' ? 'recebe' : 'npm run --silent cli --';
const shell = { program, version, env, stdin, stdout, stderr, onInterrupt, exitCode: 0 };
process.exit(await cli(process.argv.slice(2), shell));
