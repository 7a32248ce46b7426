import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { freePort } from '../../../tools/harness/free-port.js';
import { type Ended, runCli } from '../../support/cli.js';
import { WebhookReceiver } from '../../support/receiver.js';
import { type Merchant, TestService } from '../../support/service.js';

type Line = Record<string, unknown>;

/** Parses each line: fails unless all of them are JSON. */
const linesOf = ({ stdout }: Ended): Line[] =>
  stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);

describe('commands for developers', () => {
  const service = TestService.forSpec();
  const receiver = WebhookReceiver.forSpec();
  let merchant: Merchant;
  let catalog: { event: string; legacy: boolean }[];

  const recebe = (args: readonly string[], env: Record<string, string> = {}): Promise<Ended> =>
    runCli(args, {
      ...{ DATA_DIR: '/nowhere', RECEBE_URL: service.url, RECEBE_API_KEY: merchant.testKey },
      ...env,
    });

  beforeAll(async () => {
    merchant = await service.merchant();
    catalog = (await service.call<{ event: string; legacy: boolean }[]>('GET', '/v1/webhooks/event-catalog')).body;
    const body = { url: receiver.url, events: ['*', ...catalog.filter((one) => one.legacy).map(({ event }) => event)] };
    const registered = await service.call('POST', '/v1/webhooks/endpoints', { key: merchant.testKey, body });
    expect(registered.status).toBe(201);
  });

  it('triggers every name of the catalog, all but one by what really happens', async () => {
    const sampled: string[] = [];
    for (const { event } of catalog) {
      const ended = await recebe(['trigger', event]);
      expect([event, ended.code, linesOf(ended).length]).toEqual([event, 0, 1]);
      if (linesOf(ended)[0]?.['type'] === undefined) sampled.push(event);
      else expect(linesOf(ended)[0]?.['type']).toBe(event);
      await receiver.waitForType(event);
    }
    expect(sampled).toEqual(['report.failed']);
    const listed = linesOf(await recebe(['trigger', '--list']));
    expect(listed.map(({ event }) => event)).toEqual(catalog.map(({ event }) => event));
    expect(listed.filter(({ how }) => how === 'sample').map(({ event }) => event)).toEqual(sampled);
  });

  it('lists events as JSON lines, and sends one again to the endpoints', async () => {
    const { body: charge } = await service.createCharge(merchant.testKey);
    const listed = linesOf(await recebe(['events', 'list', '--subject', charge.id]));
    expect(listed).toMatchObject([{ object: 'event', type: 'charge.created', data: { object: { id: charge.id } } }]);
    const id = String(listed[0]?.['id']);
    const [first] = await receiver.waitForType('charge.created');
    expect(first).toBeDefined();
    receiver.reset();
    const ended = await recebe(['events', 'resend', id]);
    expect([ended.code, linesOf(ended)]).toEqual([0, [{ id, object: 'event', deliveries: 2 }]]);
    const [again] = await receiver.waitForType('charge.created');
    expect(again?.body['id']).toBe(id);
    const [newest] = linesOf(await recebe(['events', 'list', '--type', '*,payment.created', '--limit', '1']));
    expect(newest?.['object']).toBe('event');
  });

  it('shows deliveries, and says who may read the log of requests', async () => {
    const ended = await recebe(['logs', 'tail', '--no-follow']);
    expect(ended.code).toBe(0);
    expect(linesOf(ended).length).toBeGreaterThan(0);
    for (const line of linesOf(ended)) expect(line['id']).toMatch(/^wd_/);
    expect((await recebe(['logs', 'tail', '--help'])).stdout).toContain('The log of requests is for people');
  });

  it('colours lines only where colours are wanted', async () => {
    const list = (env: Record<string, string>): Promise<Ended> =>
      runCli(['trigger', '--list'], { RECEBE_URL: service.url, RECEBE_API_KEY: merchant.testKey, ...env }, '', true);
    expect((await list({})).stdout).toContain('\u001b[');
    expect((await list({ NO_COLOR: '1' })).stdout).not.toContain('\u001b[');
    expect((await recebe(['trigger', '--list'])).stdout).not.toContain('\u001b[');
  });

  const commands = [
    ['listen', '--forward-to', 'localhost:1'],
    ['trigger', 'charge.paid'],
    ['events', 'list'],
  ];

  it.each(commands)('says why it fails, with exit code 1: %s', async (...args) => {
    const wrong = `ak_test_${'x'.repeat(32)}`;
    const refused = await recebe(args, { RECEBE_API_KEY: wrong });
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('refuses the key')]);
    const url = `http://127.0.0.1:${String(await freePort())}`;
    const away = await recebe(args, { RECEBE_URL: url });
    expect([away.code, away.stderr]).toEqual([
      1,
      expect.stringContaining(`No service answers at ${url} (ECONNREFUSED)`),
    ]);
    const stranger = createServer((_request, response) => response.end('hello')).listen(0, '127.0.0.1');
    await once(stranger, 'listening');
    const { port } = stranger.address() as AddressInfo;
    const other = await recebe(args, { RECEBE_URL: `http://127.0.0.1:${port}` }).finally(() => stranger.close());
    expect([other.code, other.stderr]).toEqual([1, expect.stringContaining('is not a Recebe service')]);
    for (const { stderr } of [refused, away, other]) expect(stderr).not.toMatch(/^ {4}at /m);
  });

  it.each([
    [['listen'], 'missing --forward-to'],
    [['listen', '--forward-to', 'localhost:1', '--events', 'charge.lost'], 'No such event: charge.lost'],
    [['listen', '--forward-to', 'localhost:1', '--since', 'soon'], '--since'],
    [['trigger'], 'Name an event'],
    [['trigger', 'charge.lost'], 'No such event: charge.lost'],
    [['events', 'resend', 'ch_1'], 'evt_'],
    [['events', 'list', '--limit', '0'], 'whole number'],
    [['start', '--port', 'x'], '0 to 65535'],
    [['events', 'list', '--url', 'nowhere'], 'not the address'],
    [['events', 'list', '--api-key-file', '/nowhere'], 'cannot be read'],
    [['completion', 'fish'], 'bash, zsh'],
  ])('refuses %j with exit code 2', async (args, message) => {
    const ended = await recebe(args);
    expect([ended.code, ended.stderr]).toEqual([2, expect.stringContaining(message)]);
  });

  it('asks for an address and a key where neither is known', async () => {
    const ended = await recebe(['events', 'list'], { RECEBE_URL: '', RECEBE_API_KEY: '' });
    expect([ended.code, ended.stderr]).toEqual([2, expect.stringContaining('RECEBE_URL')]);
    const live = await recebe(['trigger', 'charge.paid'], { RECEBE_API_KEY: merchant.liveKey });
    expect([live.code, live.stderr]).toEqual([2, expect.stringContaining('test key')]);
  });

  it('has examples in the help of each command', async () => {
    for (const path of ['start', 'listen', 'trigger', 'events list', 'events resend', 'logs tail', 'completion']) {
      const { code, stdout } = await recebe([...path.split(' '), '--help']);
      expect([path, code, /^Examples?:\n {2}(?:eval "\$\()?recebe /m.test(stdout)]).toEqual([path, 0, true]);
    }
  });

  it('prints scripts of completion that shells accept and that know commands, options and events', async () => {
    const { stdout: script } = await recebe(['completion', 'bash']);
    const complete = (...words: string[]): string[] => {
      const asked = `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}`;
      const { status, stdout } = spawnSync('bash', ['-c', `${script}\n${asked}; _recebe; echo "\${COMPREPLY[@]}"`], {
        encoding: 'utf8',
      });
      expect(status).toBe(0);
      return stdout.trim().split(' ');
    };
    expect(spawnSync('bash', ['-n'], { input: script }).status).toBe(0);
    expect(complete('recebe', 'tri')).toEqual(['trigger']);
    expect(complete('recebe', 'trigger', 'charge.p')).toEqual(['charge.paid', 'charge.processing']);
    expect(complete('recebe', 'events', 'list', '--url', 'http://localhost', '--s')).toEqual(['--subject']);
    const zsh = (await recebe(['completion', 'zsh'])).stdout;
    expect(spawnSync('bash', ['-n'], { input: zsh }).status).toBe(0);
    expect(zsh).toContain('compdef _recebe recebe');
  });
});
