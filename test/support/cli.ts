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
 * Runs one command of the command line in this process, since a process of its own would load the whole application.
 * Real processes of the executable are tested in test/e2e/running/start.e2e.spec.ts.
 * @param env all variables: the runner's own environment decides nothing
 * @param stdin input of the command; nothing by default
 * @param onTerminal whether a person reads the output
 */
export async function runCli(
  args: readonly string[],
  env: Record<string, string>,
  stdin?: string,
  onTerminal = false,
): Promise<Ended> {
  const input = Object.assign(new PassThrough(), { isTTY: false });
  input.end(stdin);
  const stdout = Object.assign(new PassThrough(), onTerminal && { isTTY: true });
  const stderr = new PassThrough();
  const shown = [text(stdout), text(stderr)] as const;
  const code = await cli(args, {
    program: 'recebe',
    version: '0.0.0',
    env: { ...insecure(env), ...env },
    stdin: input,
    stdout,
    stderr,
    onInterrupt: () => undefined,
    exitCode: 0,
  });
  stdout.end();
  stderr.end();
  return { code, stdout: await shown[0], stderr: await shown[1] };
}

/** A merchant's account, by the command line. @returns an API key of its test mode */
export async function makeMerchant(env: Record<string, string>): Promise<string> {
  const ask = async <T>(args: string[], stdin?: string): Promise<T> => {
    const { code, stdout, stderr } = await runCli(args, env, stdin);
    if (code !== 0) throw new Error(`${args.join(' ')}: ${stderr}`);
    return JSON.parse(stdout) as T;
  };
  const account = ['--name', 'Padaria', '--email', 'owner@example.com', '--password-file', '-'];
  const { account_id } = await ask<{ account_id: string }>(['account', 'create', ...account], 'correct horse battery');
  return (await ask<{ apiKey: string }>(['key', 'issue', account_id, '--test'])).apiKey;
}
