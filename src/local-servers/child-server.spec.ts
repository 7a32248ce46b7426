import { afterAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ChildServer, type Restarts, type ServerProgram } from './child-server.js';
import { waitFor } from '../../test/support/wait.js';
import { readIfThere } from '../core/private-files.js';

const root = mkdtempSync(join(tmpdir(), 'recebe-child-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** A server that notes each of its starts; `script` is what it does then. */
class Trial {
  readonly directory = mkdtempSync(join(root, 'server-'));
  readonly said: string[] = [];
  readonly failures: string[] = [];
  readonly pids: number[] = [];
  readonly program: ServerProgram;

  constructor(script: string) {
    this.program = {
      ...{ name: 'postgres', dataDir: this.directory, directory: this.directory, user: null, transient: /taken/ },
      command: (port) => ({ file: '/bin/sh', args: ['-c', `echo ${String(port)} >> starts; ${script}`] }),
      isReady: (pid) => readIfThere(join(this.directory, 'ready')) === `${String(pid)}\n`,
    };
  }

  start(pausesMs?: number[], port?: number): Promise<ChildServer> {
    const say = (_fields: object, line: string): unknown => this.said.push(line);
    const restarts: Restarts = {
      log: { warn: say, error: say },
      onFailure: ({ message }) => this.failures.push(message),
      ...(pausesMs && { pausesMs }),
    };
    const onLaunch = (pid: number): unknown => this.pids.push(pid);
    return ChildServer.start(this.program, {
      ...{ onLaunch: (pid) => void onLaunch(pid), restarts: pausesMs && restarts },
      ...(port !== undefined && { port }),
    });
  }

  get ports(): string[] {
    return readFileSync(join(this.directory, 'starts'), 'utf8').trim().split('\n');
  }

  /** Kills each process once it is reported, until `count` were killed. */
  async killAll(count: number): Promise<void> {
    for (let index = 0; index < count; index++) {
      const pid = await waitFor('a launch', () => this.pids[index] ?? false);
      await waitFor('it to be ready', () => this.said.filter((line) => line.endsWith('runs again')).length >= index);
      process.kill(pid, 'SIGKILL');
    }
  }
}

const SERVES = 'echo $$ > ready; exec sleep 600';

describe('a child server', () => {
  it('is started again on its port a bounded number of times, and then fails with its log', async () => {
    const trial = new Trial(SERVES);
    const server = await trial.start([10, 10, 10]);
    await trial.killAll(4);
    const [failure] = await waitFor('the failure', () => trial.failures.length > 0 && trial.failures);
    expect(failure).toContain(`postgres has ended again after 3 restarts within ten minutes. See ${trial.directory}`);
    expect(trial.ports).toEqual(Array.from({ length: 4 }, () => String(server.port)));
    await server.stop();
  });

  it('counts failed restarts, and reports the cause in the end', async () => {
    const trial = new Trial('if [ -e ready ]; then echo no room >&2; exit 3; fi; echo $$ > ready; exec sleep 600');
    const server = await trial.start([10, 10]);
    await trial.killAll(1);
    const [failure] = await waitFor('the failure', () => trial.failures.length > 0 && trial.failures);
    expect(failure).toMatch(/after 2 restarts.*did not start in .*ended with exit code 3\nno room/s);
    await server.stop();
  });

  it.each([
    ['released', (server: ChildServer): unknown => server.release()],
    ['stopped', (server: ChildServer): unknown => server.stop()],
  ])('stays down when it was %s before it ended', async (_, end) => {
    const trial = new Trial(SERVES);
    const server = await trial.start([10]);
    await end(server);
    await server.stop();
    await server.stop();
    expect({ starts: trial.ports.length, said: trial.said, failures: trial.failures }).toEqual({
      ...{ starts: 1, said: [], failures: [] },
    });
  });

  it('stays down when it is stopped in the pause before its restart', async () => {
    const trial = new Trial(SERVES);
    const server = await trial.start([600_000]);
    await trial.killAll(1);
    await server.stop();
    expect(trial.ports).toHaveLength(1);
  });

  it('is stopped and started again when another program told it to stop and it hangs', async () => {
    const trial = new Trial(SERVES);
    const server = await trial.start([10]);
    Object.assign(trial.program, { isStuck: () => trial.said.length === 0 });
    await waitFor('a restart', () => trial.said.at(-1) === 'postgres runs again');
    await server.stop();
  });

  it.each([
    ['by its last words, which no second try would mend', 'echo broken >&2; exit 1', 1, /exit code 1\nbroken$/],
    ['when its program is not there', 'exec /nowhere/server', 1, /exit code 127/],
  ])('fails at the first start %s', async (_, script, starts, words) => {
    const trial = new Trial(script);
    await expect(trial.start([10])).rejects.toThrow(words);
    expect(trial.ports).toHaveLength(starts);
  });

  it.each([
    ['another port', undefined, 2],
    ['the same port where clients know it', 20_001, 1],
  ])('tries %s when its own port is taken', async (_, port, different) => {
    const trial = new Trial(`if [ $(wc -l < starts) = 1 ]; then echo taken; exit 1; fi; ${SERVES}`);
    const server = await trial.start(undefined, port);
    expect(new Set(trial.ports).size).toBe(different);
    expect(trial.ports.at(-1)).toBe(String(server.port));
    await server.stop();
  });

  it('has a log that does not grow over the starts and is readable by its owner only', async () => {
    const trial = new Trial(`echo started; ${SERVES}`);
    const path = join(trial.directory, 'postgres.log');
    writeFileSync(path, 'x'.repeat(1_048_577));
    const server = await trial.start();
    await server.stop();
    expect([readFileSync(path, 'utf8'), statSync(path).mode & 0o777]).toEqual(['started\n', 0o600]);
    expect(statSync(`${path}.1`).size).toBe(1_048_577);
  });
});
