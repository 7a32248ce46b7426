import { type ChildProcess, spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { pathOf } from './needs.js';

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** A built program on a terminal of its own (`script`), as a person sits before it. */
export class TerminalProcess {
  /** Text on the person's screen, including echoed typing */
  screen = '';
  exitCode: number | null = null;
  readonly #child: ChildProcess;

  constructor(program: string, args: readonly string[], env: Record<string, string>) {
    const command = [process.execPath, resolve(program), ...args].map(quoted).join(' ');
    // exec: what ends `script`'s shell would else leave the program behind.
    this.#child = spawn(pathOf('terminal'), ['-qfec', `exec ${command}`, '/dev/null'], {
      env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', SHELL: '/bin/sh', ...env },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => (this.screen += text.replaceAll('\r', '')));
    this.#child.on('close', (code) => (this.exitCode = code));
  }

  type(text: string): void {
    this.#child.stdin?.write(text);
  }
}
