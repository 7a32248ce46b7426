import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { cli } from '../../src/cli/cli.js';
import { insecure } from './process.js';

export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * One command of the command line, in this process: in one of its own each would load the whole application. What the
 * executable does with its process, test/e2e/start.e2e.spec.ts tries with real ones.
 * @param env all of it: nothing of the runner's own environment decides
 * @param stdin what it reads; nothing by default
 */
export async function runCli(args: readonly string[], env: Record<string, string>, stdin?: string): Promise<Ended> {
  const input = Object.assign(new PassThrough(), { isTTY: false });
  input.end(stdin);
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  const shown = [text(stdout), text(stderr)] as const;
  const code = await cli(args, {
    version: '0.0.0',
    env: { ...insecure(env), ...env },
    stdin: input,
    stdout,
    stderr,
    exitCode: 0,
  });
  stdout.end();
  stderr.end();
  return { code, stdout: await shown[0], stderr: await shown[1] };
}
