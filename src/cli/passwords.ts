import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { Writable } from 'node:stream';
import type { Command } from 'commander';
import { UsageError } from './command.js';
import type { Shell } from './shell.js';

const ADVICE =
  'Give the password with --password-file <file> (- reads it from stdin), or leave it out on a terminal, where it is asked for.';

/** Passwords are never arguments: the shell history and other users of the machine can see those. */
export function takesPassword(command: Command): Command {
  return command
    .option('--password-file <file>', 'with the password on one line; - reads stdin; on a terminal it is asked for')
    .addOption(command.createOption('--password [password]').hideHelp())
    .on('option:password', () => command.error(`error: --password is not taken, for others could read it.\n${ADVICE}`));
}

/** @throws UsageError when there is none */
export async function readPassword(
  file: string | undefined,
  { stdin: input, stderr: output }: Pick<Shell, 'stdin' | 'stderr'>,
): Promise<string> {
  if (file !== undefined) return lineOf(file === '-' ? await text(input) : readFile(file), file);
  if (!input.isTTY) throw new UsageError(`There is no password. ${ADVICE}`);
  // Disables echo: typed text is not printed, and an arrow key does not recall it.
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input, output: nowhere, terminal: true, historySize: 0 });
  lines.once('SIGINT', () => lines.close());
  const answers = lines[Symbol.asyncIterator]();
  const ask = async (question: string): Promise<string> => {
    output.write(question);
    const answer = await answers.next();
    output.write('\n');
    if (answer.done) throw new UsageError('No password was given.');
    return answer.value;
  };
  try {
    const password = await ask('Password: ');
    if ((await ask('Again: ')) !== password) throw new UsageError('The two passwords differ.');
    return password;
  } finally {
    lines.close();
  }
}

function readFile(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    throw new UsageError(`--password-file: ${file} cannot be read (${code})`);
  }
}

/** Removes the line break that editors and `echo` append. */
function lineOf(content: string, file: string): string {
  const line = content.replace(/\r?\n$/, '');
  if (line === '' || /[\r\n]/.test(line)) {
    throw new UsageError(`--password-file: ${file === '-' ? 'stdin' : file} must have one line, the password`);
  }
  return line;
}
