import type { ReadStream } from 'node:tty';

/** The process environment of a command line; a spec passes its own and needs no process for each command. */
export interface Shell {
  /** The version of the program. */
  readonly version: string;
  readonly env: NodeJS.ProcessEnv;
  readonly stdin: Pick<ReadStream, 'isTTY'> & NodeJS.ReadableStream;
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream;
  /** The exit code when nothing fails. */
  exitCode: number;
}
