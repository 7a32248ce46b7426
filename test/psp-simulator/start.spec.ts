import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { Agent, request } from 'undici';
import { findProfile } from '../../src/acquirers/pix-api/profiles.js';
import { BuiltProcess } from '../support/process.js';
import { waitFor } from '../support/wait.js';

const MAIN = 'dist/tools/psp-simulator/main.js';
const started: BuiltProcess[] = [];

afterAll(() => Promise.all(started.map((simulator) => simulator.kill())));

function start(...args: string[]): BuiltProcess {
  const simulator = new BuiltProcess(MAIN, args, {});
  started.push(simulator);
  return simulator;
}

/** Starts the simulator. @returns it with the text that it printed when ready */
async function ready(...args: string[]): Promise<{ simulator: BuiltProcess; text: string }> {
  const simulator = start('--port', '0', '--control-port', '0', ...args);
  await waitFor('the simulator', () => simulator.stdout.includes('clearFaults') || !simulator.running);
  return { simulator, text: simulator.stdout };
}

/** Returns the value of an option in the printed `acquirer configure` command. */
function option(text: string, name: string): string {
  return new RegExp(`--${name} (\\S+)`).exec(text)?.[1] ?? '';
}

describe('npm run psp-simulator', () => {
  it('prints a command and files that connect, and leaves no file behind after Ctrl-C', async () => {
    const { simulator, text } = await ready('--token-seconds', '77');
    const file = (name: string): string => readFileSync(option(text, name), 'utf8');
    const agent = new Agent({ connect: { ca: file('ca'), cert: file('cert'), key: file('key-file') } });
    const credentials = `${option(text, 'client-id')}:${file('client-secret-file')}`;
    const answer = await request(option(text, 'token-url'), {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` },
      body: 'grant_type=client_credentials',
      dispatcher: agent,
    });
    expect(await answer.body.json()).toMatchObject({ token_type: 'Bearer', expires_in: 77 });
    await agent.destroy();
    expect(statSync(option(text, 'key-file')).mode & 0o777).toBe(0o600);
    expect(findProfile(option(text, 'psp'))).toBeDefined();
    expect(option(text, 'base-url')).toMatch(/^https:\/\/localhost:\d+\/api\/v2$/);

    const [, url = '', body = ''] = /curl -s (\S+\/pay) -d '(\{"key".*\})'/.exec(text) ?? [];
    expect((await request(url, { method: 'POST', body })).statusCode).toBe(200);
    const state = await request(url.replace('/pay', '/state'));
    expect(await state.body.json()).toMatchObject({ pix: [{ valor: '19.90' }] });

    const ended = await simulator.kill('SIGINT');
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(existsSync(option(text, 'cert'))).toBe(false);
  });

  it('opens the account with the given money, and says where Efí would be', async () => {
    const { simulator, text } = await ready('--opening-balance', '12345', '--send-delay-ms', 'manual');
    expect(text).toMatch(/--psp efi and --base-url https:\/\/localhost:\d+ /);
    const [, url = '', body = ''] = /curl -s (\S+\/block) -d '(\{.*\})'/.exec(text) ?? [];
    const blocked = await request(url, { method: 'POST', body });
    expect(await blocked.body.json()).toEqual({
      total: 12_345,
      blockedByCourt: 0,
      blockedByMed: 1_990,
      available: 10_355,
    });
    const state = await request(url.replace('/block', '/state'));
    expect(await state.body.json()).toMatchObject({ settings: { sends: { delayMs: null } } });
    await simulator.kill('SIGINT');
  });

  it('takes on Efí’s sandbox rules, and names them', async () => {
    const { simulator, text } = await ready('--efi-sandbox');
    expect(text).toContain('send to efipay@sejaefi.com.br; R$ 4.00 comes back in two parts');
    const [, state = ''] = /curl -s (\S+\/state)/.exec(text) ?? [];
    const answer = await request(state);
    expect(await answer.body.json()).toMatchObject({ settings: { sends: { sandboxRules: true } } });
    await simulator.kill('SIGINT');
  });

  it('prints paths that a shell reads as one word, also with blanks and quotes', async () => {
    const directory = join(mkdtempSync(join(tmpdir(), 'psp-')), "Ana's bank");
    const { simulator, text } = await ready('--directory', directory);
    const command = /npm run cli(?:.*\\\n)+.*/.exec(text)?.[0] ?? '';
    const words = execFileSync('bash', ['-c', `npm() { printf '%s\\n' "$@"; }; ${command}`], { encoding: 'utf8' });
    for (const file of ['client-secret', 'client.crt', 'client.key', 'ca.crt'])
      expect(words.split('\n')).toContain(join(directory, file));
    await simulator.kill('SIGTERM');
    rmSync(join(directory, '..'), { recursive: true });
  });

  it('keeps the files in the named directory', async () => {
    const directory = join(mkdtempSync(join(tmpdir(), 'psp-')), 'new');
    const { simulator, text } = await ready('--directory', directory, '--pix-key', 'loja@example.com');
    expect(option(text, 'key')).toBe('loja@example.com');
    await simulator.kill('SIGTERM');
    expect(existsSync(join(directory, 'client.pfx'))).toBe(true);
    rmSync(join(directory, '..'), { recursive: true });
  });

  it.each([
    [['--port', 'x'], /--port must be a whole number[\s\S]*--control-port N/],
    [['--unknown'], /--unknown[\s\S]*--control-port N/],
    [['--port', '0', '--control-port', '0', '--pix-key', 'nobody'], /a Pix key/],
  ])('refuses %j with the reason', async (args, reason) => {
    const ended = await start(...args).finished();
    expect(ended.code).toBe(1);
    expect(ended.stderr).toMatch(reason);
    expect(ended.stderr).not.toMatch(/^ {4}at /m);
  });

  it('reports that a port is taken', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const port = String((server.address() as AddressInfo).port);
    const ended = await start('--port', port, '--control-port', '0').finished();
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain(port);
    server.close();
  });
});
