import type { ReadStream } from 'node:tty';

/** What a command line has of its process; a spec gives one of its own, and needs no process for each command. */
export interface Shell {
  /** The program's. */
  readonly version: string;
  readonly env: NodeJS.ProcessEnv;
  readonly stdin: Pick<ReadStream, 'isTTY'> & NodeJS.ReadableStream;
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream;
  /** What the command ends with when nothing fails. */
  exitCode: number;
}
