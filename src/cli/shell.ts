import type { ReadStream } from 'node:tty';

/** The process environment of a command line; a spec passes its own and needs no process for each command. */
export interface Shell {
  /** The command by which it was called, for its help. */
  readonly program: string;
  /** The version of the program. */
  readonly version: string;
  readonly env: NodeJS.ProcessEnv;
  readonly stdin: Pick<ReadStream, 'isTTY'> & NodeJS.ReadableStream;
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream;
  /** Calls `work` once when a person or a supervisor ends the program; without it the program ends at once. */
  readonly onInterrupt: (work: () => void) => void;
  /** The exit code when nothing fails. */
  exitCode: number;
}
