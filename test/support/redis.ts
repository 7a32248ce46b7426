import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../../tools/harness/free-port.js';
import { pathOf } from './needs.js';

const START_LIMIT_MS = 60_000;
const ANSWER_LIMIT_MS = 30_000;

/** A real server of its own for one spec file. Nothing is written to disk: a restart comes back empty. */
export interface TestRedis {
  readonly url: string;
  /** Dies at once (SIGKILL), as in a crash. Resolves when the process is gone. */
  kill(): Promise<void>;
  /** Starts it again on the same port, empty. Resolves when it answers PING. */
  start(): Promise<void>;
  /** FLUSHALL. */
  flush(): Promise<void>;
  /** Any other command without spaces inside its words; resolves with the first reply line. */
  command(...words: string[]): Promise<string>;
  /** @returns what any client tells the server from now on, a command each, its words with blanks between them */
  watch(): Promise<readonly string[]>;
  /** Stops answering without closing a connection (SIGSTOP), as behind a network that drops packets. */
  freeze(): void;
  /** Undoes freeze. */
  thaw(): void;
  /** Ends the server and removes its directory. */
  stop(): Promise<void>;
}

/** Starts a server on a free port of 127.0.0.1. The caller must `stop()` it. */
export async function startRedis(): Promise<TestRedis> {
  const binary = pathOf('redis');
  const port = await freePort();
  const directory = mkdtempSync(join(tmpdir(), 'recebe-redis-'));
  let child: ChildProcess | undefined;

  // A failed spec may never reach stop(); a server left behind would outlive the test run.
  const killOnExit = (): void => void child?.kill('SIGKILL');
  process.on('exit', killOnExit);

  const kill = async (): Promise<void> => {
    const dying = child;
    child = undefined;
    if (dying === undefined || dying.exitCode !== null || dying.signalCode !== null) return;
    const gone = once(dying, 'exit');
    dying.kill('SIGKILL');
    await gone;
  };

  const start = async (): Promise<void> => {
    child = spawn(
      binary,
      ['--port', String(port), '--bind', '127.0.0.1', '--dir', directory, '--save', '', '--appendonly', 'no'],
      { stdio: 'ignore' },
    );
    const deadline = Date.now() + START_LIMIT_MS;
    for (;;) {
      const reply = await send(port, ['PING']).catch(() => '');
      if (reply === '+PONG') return;
      if (Date.now() > deadline) throw new Error(`${binary} did not answer on port ${port}: "${reply}"`);
      await delay(10);
    }
  };

  await start();
  return {
    url: `redis://127.0.0.1:${port}`,
    kill,
    start,
    flush: async () => {
      await send(port, ['FLUSHALL']);
    },
    command: (...words) => send(port, words),
    watch: () => watch(port),
    freeze: () => void child?.kill('SIGSTOP'),
    thaw: () => void child?.kill('SIGCONT'),
    stop: async () => {
      await kill();
      process.off('exit', killOnExit);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Speaks the inline protocol over a socket of its own, so that the helper shares no code with what it tests. */
async function send(port: number, words: string[]): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1' });
  socket.setTimeout(ANSWER_LIMIT_MS, () => socket.destroy(new Error(`no answer within ${ANSWER_LIMIT_MS} ms`)));
  try {
    await once(socket, 'connect');
    socket.write(`${words.join(' ')}\r\n`);
    const [reply] = (await once(socket, 'data')) as [Buffer];
    return reply.toString('utf8').split('\r\n')[0] ?? '';
  } finally {
    socket.destroy();
  }
}

/** The socket ends with the server. */
async function watch(port: number): Promise<readonly string[]> {
  const socket = connect({ port, host: '127.0.0.1' });
  socket.setTimeout(ANSWER_LIMIT_MS, () => socket.destroy(new Error(`no answer within ${ANSWER_LIMIT_MS} ms`)));
  await once(socket, 'connect');
  const told: string[] = [];
  const lines = createInterface(socket);
  lines.on('error', () => undefined); // of a server that was killed
  lines.on('line', (line) => {
    // As in: +1795640555.513054 [0 127.0.0.1:57112] "set" "key" "a \"quoted\" value"
    const words = [...line.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, word = '']) => word.replace(/\\(.)/g, '$1'));
    if (words.length > 0) told.push(words.join(' '));
  });
  const begun = once(lines, 'line');
  socket.write('MONITOR\r\n');
  if (String(await begun) !== '+OK') throw new Error('MONITOR was refused');
  socket.setTimeout(0);
  return told;
}
