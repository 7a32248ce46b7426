import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readPassword } from './passwords.js';
import type { Shell } from './shell.js';

describe('the password of a command', () => {
  let directory: string;
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'recebe-spec-'));
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  const file = (content: string): string => {
    const path = join(directory, 'password');
    writeFileSync(path, content);
    return path;
  };
  const terminal = (typed: string | null, isTTY = true): Pick<Shell, 'stdin' | 'stderr'> & { shown(): string } => {
    const input = Object.assign(new PassThrough(), { isTTY });
    const output = new PassThrough();
    if (typed === null) input.end();
    else input.write(typed);
    return { stdin: input, stderr: output, shown: () => String(output.read() ?? '') };
  };

  it.each([
    ['as it is', 'a b c', 'a b c'],
    ['without the line break of an editor', 'secret word\n', 'secret word'],
    ['or of Windows', 'secret word\r\n', 'secret word'],
  ])('is the line of a file, %s', async (_how, content, password) => {
    expect(await readPassword(file(content), terminal(null))).toBe(password);
  });

  it('comes from stdin when the file is -', async () => {
    const input = Object.assign(new PassThrough(), { isTTY: false });
    input.end('secret word\n');
    expect(await readPassword('-', { stdin: input, stderr: new PassThrough() })).toBe('secret word');
  });

  it.each([
    ['empty', '\n'],
    ['of two lines', 'one\ntwo\n'],
  ])('is refused from a file that is %s', async (_what, content) => {
    await expect(readPassword(file(content), terminal(null))).rejects.toThrow('must have one line');
  });

  it('is refused from a file that is not there', async () => {
    await expect(readPassword(join(directory, 'nowhere'), terminal(null))).rejects.toThrow('cannot be read (ENOENT)');
  });

  it('is asked for twice on a terminal, and not shown', async () => {
    const there = terminal('secret word\rsecret word\r');
    expect(await readPassword(undefined, there)).toBe('secret word');
    expect(there.shown()).toBe('Password: \nAgain: \n');
  });

  it.each([
    ['typed differently', 'secret word\rsecret wort\r', 'differ'],
    ['not typed again, but an arrow up', 'secret word\r\u001b[A\r', 'differ'],
    ['not typed, but Ctrl-C', '\u0003', 'No password was given'],
    ['not typed, but Ctrl-D', '\u0004', 'No password was given'],
    ['not typed: the terminal went away', null, 'No password was given'],
  ])('is refused when it is %s', async (_how, typed, words) => {
    await expect(readPassword(undefined, terminal(typed))).rejects.toThrow(words);
  });

  it('throws with advice when there is neither a terminal nor a file', async () => {
    await expect(readPassword(undefined, terminal('', false))).rejects.toThrow(/--password-file .*stdin.*terminal/);
  });
});
