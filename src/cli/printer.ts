import type { WriteStream } from 'node:tty';
import type { Shell } from './shell.js';

const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const;
type Colour = keyof typeof CODES;

/** Writes lines for a person on a terminal, and JSON lines for a program behind a pipe. */
export class Printer {
  readonly isPretty: boolean;
  readonly #hasColour: boolean;

  constructor(private readonly shell: Shell) {
    const { env, stdout } = shell;
    this.isPretty = (stdout as Partial<WriteStream>).isTTY === true;
    // https://no-color.org: a variable that is empty counts as unset.
    this.#hasColour = this.isPretty && !env['NO_COLOR'];
  }

  paint(colour: Colour, text: string): string {
    return this.#hasColour ? `\u001b[${CODES[colour]}m${text}\u001b[0m` : text;
  }

  /** @param pretty the same for a person */
  line(value: object, pretty: () => string): void {
    this.shell.stdout.write(`${this.isPretty ? pretty() : JSON.stringify(value)}\n`);
  }

  /** A note for a person, beside the results. */
  note(text: string): void {
    this.shell.stderr.write(`${text}\n`);
  }

  /** The colour of an HTTP status; null when no answer came. */
  status(status: number | null, text = String(status ?? 'no answer')): string {
    if (status === null || status >= 500) return this.paint('red', text);
    return this.paint(status < 300 ? 'green' : 'yellow', text);
  }

  time(instant: string): string {
    return this.paint('dim', new Date(instant).toLocaleTimeString('pt-BR', { hour12: false }));
  }
}
