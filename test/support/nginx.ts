import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../tools/harness/free-port.js';
import { pathOf } from './needs.js';
import { waitFor } from './wait.js';

/** An nginx of one worker in front of services. */
export class Nginx {
  private constructor(
    readonly url: string,
    private readonly process: ChildProcess,
    private readonly directory: string,
  ) {}

  /** @param http of its configuration, with `PORT` where it listens */
  static async start(http: string): Promise<Nginx> {
    const directory = mkdtempSync(join(tmpdir(), 'recebe-nginx-'));
    const port = await freePort();
    const file = join(directory, 'nginx.conf');
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (name) => `${name}_temp_path ${join(directory, name)};`,
    );
    writeFileSync(
      file,
      [
        'daemon off;',
        'master_process off;',
        `pid ${join(directory, 'pid')};`,
        'error_log stderr error;',
        'events { worker_connections 1024; }',
        `http { access_log off; ${temporary.join(' ')}\n${http.replaceAll('PORT', String(port))}\n}`,
      ].join('\n'),
    );
    const process = spawn(pathOf('nginx'), ['-c', file, '-e', 'stderr'], { stdio: ['ignore', 'ignore', 'pipe'] });
    let errors = '';
    process.stderr.on('data', (text: Buffer) => (errors += text.toString()));
    await waitFor('nginx to listen', () => {
      if (process.exitCode !== null) throw new Error(`nginx ended: ${errors}`);
      return new Promise<boolean>((resolve) => {
        const socket = connect(port, '127.0.0.1', () => resolve(true));
        socket.on('error', () => resolve(false)).on('connect', () => socket.destroy());
      });
    });
    return new Nginx(`http://127.0.0.1:${port}`, process, directory);
  }

  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.process.once('exit', resolve));
    this.process.kill('SIGTERM');
    await ended;
    rmSync(this.directory, { recursive: true, force: true });
  }
}
