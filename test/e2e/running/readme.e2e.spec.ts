import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { signatureHeader } from '../../../src/webhooks/sending/signature.js';
import { codeLanguages, firstBlock, readingOrder, type ShellBlock, shellBlocks } from '../../support/documents.js';
import { isHere, itWith, pathOf } from '../../support/needs.js';
import { Processes, type ServiceProcess } from '../../support/process.js';
import { waitFor } from '../../support/wait.js';
import { freePort } from '../../../tools/harness/free-port.js';

const BLOCK_LIMIT_MS = 120_000;
const LIMIT_MS = 600_000;

/** Ports in the documents, replaced here, as somebody may be trying them out beside the test. */
const PORTS = ['4000', '8443', '8444'] as const;

/** Runs files in one bash that reads their names from a pipe, so that no block reads another block's commands. */
const RUNNER = `
  set -eE -o pipefail
  trap 'echo "failed: $BASH_COMMAND" >&2' ERR
  while IFS= read -r block <&3; do
    . "$block"
    echo "$block" >&4
  done
`;

/** Makes curl behave as for a reader, but fail on any answer except 2xx, even inside a pipe or an argument. */
const curl = (real: string, failures: string): string => `#!/usr/bin/env bash
"${real}" --fail-with-body --max-time 30 "$@" && exit 0
code=$?
echo "exit code $code: curl $*" >> "${failures}"
exit $code
`;

const blocks = (): ShellBlock[] => readingOrder().flatMap((path) => shellBlocks(path));

describe('README.md and docs', () => {
  const processes = new Processes();
  /** Looks like a clone: all files of this one, and no data. */
  const clone = processes.emptyDataDir();
  const failures = join(clone, 'failures');
  const started: ChildProcess[] = [];
  let output = '';
  let service: ServiceProcess | null = null;
  let env: Record<string, string>;
  let ports: Map<string, string>;

  beforeAll(async () => {
    for (const name of readdirSync('.').filter((entry) => !['.git', '.data'].includes(entry))) {
      symlinkSync(resolve(name), join(clone, name));
    }
    const bin = join(clone, 'bin');
    mkdirSync(bin);
    const path = process.env['PATH'] ?? '';
    if (isHere('curl')) writeFileSync(join(bin, 'curl'), curl(pathOf('curl'), failures), { mode: 0o755 });
    env = { PATH: `${bin}${delimiter}${path}`, HOME: process.env['HOME'] ?? '' };
    ports = new Map(await Promise.all(PORTS.map(async (port) => [port, String(await freePort())] as const)));
  });
  afterAll(async () => {
    for (const { pid } of started) {
      try {
        if (pid !== undefined) process.kill(-pid, 'SIGKILL'); // with what it has left in the background
      } catch {
        // The process has ended.
      }
    }
    await service?.kill('SIGTERM');
    await processes.cleanUp();
  }, 120_000);

  function bash(script: string): ChildProcess {
    const stdio = ['ignore', 'pipe', 'pipe', 'pipe', 'pipe'] as const;
    const child = spawn('bash', ['-c', script], { cwd: clone, env, stdio: [...stdio], detached: true });
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => (output += text));
    }
    started.push(child);
    return child;
  }

  function withPorts({ text }: ShellBlock): string {
    return text.replace(new RegExp(`\\b(?:${PORTS.join('|')})\\b`, 'g'), (port) => ports.get(port) ?? '');
  }

  it('has shell blocks that are all run, except the listed ones', () => {
    const notRun = blocks().filter((block) => block.notRun !== null);
    expect(notRun.map(({ path, text }) => [path, text.split('\n')[0]])).toEqual([
      ['README.md', 'npm ci && npm start'],
      ['README.md', '# 1. An account and its live key'],
      ['docs/webhooks.md', expect.stringMatching(/^curl -sN .*\/v1\/events\/stream/)],
      ['docs/going-live.md', expect.stringMatching(/^npm run .* acquirer configure .* --client-id Client_Id_…/)],
      ['docs/operations.md', 'cp docker/.env.example docker/.env # and fill it in'],
      ['docs/operations.md', expect.stringMatching(/^psql .*encryption_keys/)],
      ['docs/operations.md', expect.stringMatching(/^for LIMIT in lock_timeout=10s/)],
      ['docs/operations.md', 'set -o pipefail'],
      ['docs/configuration.md', expect.stringMatching(/^STORAGE_URL='s3:\/\/\//)],
    ]);
    const languages = new Set(readingOrder().flatMap((path) => codeLanguages(path)));
    // A shell block under another language name would not be run.
    expect([...languages].sort()).toEqual(['js', 'json', 'mermaid', 'nginx', 'sh', 'ts']);
  });

  itWith('curl')(
    'works from top to bottom in one shell, as it is printed',
    async () => {
      service = await processes.start(join(clone, '.data'));
      const shell = bash(RUNNER);
      let done = '';
      (shell.stdio[4] as Readable).setEncoding('utf8').on('data', (text: string) => (done += text));
      const failed = (): Error | null =>
        shell.exitCode === null && !existsSync(failures)
          ? null
          : new Error(`${existsSync(failures) ? readFileSync(failures, 'utf8') : ''}\n${output.slice(-4_000)}`);

      for (const block of blocks().filter(({ notRun }) => notRun === null)) {
        const name = `${block.path}:${block.line}`;
        if (block.readyWhen !== null) {
          const [, api = '', control = ''] = PORTS.map((port) => ports.get(port) ?? '');
          bash(`${block.text.trim()} --port ${api} --control-port ${control}`);
          await waitFor(`${name} to be ready`, () => output.includes(block.readyWhen ?? ''), BLOCK_LIMIT_MS);
          continue;
        }
        const file = join(clone, name.replace('/', '_'));
        writeFileSync(file, withPorts(block));
        (shell.stdio[3] as Writable).write(`${file}\n`);
        await waitFor(
          `${name} to end`,
          () => {
            const error = failed();
            if (error) throw new Error(`${name}: ${error.message}`);
            return done.includes(`${file}\n`);
          },
          BLOCK_LIMIT_MS,
        );
      }
      (shell.stdio[3] as Writable).end();
      await waitFor('the shell to end', () => shell.exitCode !== null);
      expect(shell.exitCode).toBe(0);
      expect(existsSync(failures)).toBe(false);

      // The output keeps the promises of the text around the blocks.
      for (const told of ['charge.created ch', 'charge.paid ch', 'payout.created po', 'payout.paid po'])
        expect(output).toMatch(new RegExp(`^webhook: ${told}_`, 'm'));
      expect(output).toMatch(/"returns":\[\{"amount":500,"reason":"duplicate"/);
      expect(output).toMatch(/^ok +callback: http:\/\/localhost:\d+\/… reaches this service$/m);
      expect(output).toMatch(/^ok +webhook: registered now$/m);
      expect(output).toMatch(/^1500 failed refused *\n400 refunded +200 \+ 200\n900 paid *$/m);
      expect(output).toMatch(/"resealed": 0,\n +"skipped": 0,\n +"unreadable": 0/);
      expect(output).toMatch(/"file": "\.data\/today\.journal",\n +"rows": \d+/);
      expect(output.match(/"status":"REFUNDED"/g)?.length).toBeGreaterThanOrEqual(2);
    },
    LIMIT_MS,
  );

  it('has a verifier that accepts only what the service signs', () => {
    const file = join(clone, 'verifier.mjs');
    const body = '{"é":1}';
    const now = 1_800_000_000;
    const signed = (family: 'canonical' | 'legacy', secrets: string[]): string =>
      signatureHeader(family, secrets, body, now);
    const cases: [body: string, header: string, secrets: string[], now: number][] = [
      [body, signed('canonical', ['new', 'old']), ['old'], now],
      [body, signed('legacy', ['new', 'old']), ['old'], now],
      [body, signed('canonical', ['new']), ['new', 'old'], now + 300],
      [body, signed('canonical', ['new']), ['new'], now + 301],
      [body, signed('canonical', ['new']), ['other'], now],
      [`${body} `, signed('legacy', ['new']), ['new'], now],
      [body, 't=é,v1=é', ['new'], now],
      [body, '', ['new'], now],
    ];
    writeFileSync(
      file,
      `${firstBlock('docs/webhooks.md', 'js')}
      console.log(JSON.stringify(${JSON.stringify(cases)}.map(([body, ...rest]) => isFromRecebe(Buffer.from(body), ...rest))));`,
    );
    const believed: unknown = JSON.parse(execFileSync(process.execPath, [file], { encoding: 'utf8' }));
    expect(believed).toEqual([true, true, true, false, false, false, false, false]);
  });
});
