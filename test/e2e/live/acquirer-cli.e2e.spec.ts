import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CA_CERTIFICATE, CLIENT } from '../../../tools/psp-simulator/certificates.js';
import { DEFAULT_MERCHANT, PspSimulator } from '../../../tools/psp-simulator/simulator.js';
import { announceService } from '../../../src/core/service-address.js';
import { CERTIFICATES } from '../../support/client-certificates.js';
import { type Ended, runCli } from '../../support/cli.js';
import { type Merchant, TestService } from '../../support/service.js';

const [KEY = ''] = DEFAULT_MERCHANT.pixKeys;
const ENCRYPTION_KEY = 'ab'.repeat(32);

describe('the command line of live acquirers', () => {
  const directory = mkdtempSync(join(tmpdir(), 'recebe-spec-'));
  const dataDir = mkdtempSync(join(directory, 'data-'));
  const service = TestService.forSpec({ env: { ENCRYPTION_KEY } });
  let simulator: PspSimulator;
  let merchant: Merchant;

  const file = (name: string, content: string | Buffer): string => {
    const path = join(directory, name);
    writeFileSync(path, content);
    return path;
  };
  const run = (args: string[], env: Record<string, string> = {}): Promise<Ended> =>
    runCli(['acquirer', ...args], {
      DATABASE_URL: service.database.url,
      DATA_DIR: dataDir,
      ENCRYPTION_KEY,
      ...env,
    });
  const configure = (...more: string[]): string[] => [
    'configure',
    ...['--account', merchant.accountId, '--psp', 'standard', '--key', KEY, '--client-id', DEFAULT_MERCHANT.clientId],
    ...['--base-url', simulator.baseUrl, '--token-url', simulator.tokenUrl],
    ...more,
  ];

  beforeAll(async () => {
    simulator = await PspSimulator.start();
    merchant = await service.merchant();
    // Announces the URL as the service does when it starts.
    announceService(dataDir, service.url);
  });
  afterAll(async () => {
    await simulator.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  it('configures from files, while the service runs, and prints nothing secret', async () => {
    const done = await run(
      configure(
        ...[
          '--client-secret-file',
          file('secret', `${DEFAULT_MERCHANT.clientSecret}\n`),
          '--ca',
          file('ca', CA_CERTIFICATE),
        ],
        ...['--pfx', file('pfx', Buffer.from(CLIENT.pfx, 'base64'))],
        ...['--passphrase-file', file('passphrase', `${CLIENT.passphrase}\n`)],
      ),
    );
    expect(done).toMatchObject({ code: 0, stderr: '' });
    const { connection_id: id, ...printed } = JSON.parse(done.stdout) as { connection_id: string };
    expect(printed).toEqual({
      account_id: merchant.accountId,
      acquirer: `pix-api:${id}`,
      psp: 'standard',
      key: KEY,
      renewed: false,
      replaced: null,
      certificate: { subject: 'CN=Recebe PSP simulator client', expires_at: '2120-01-01T00:00:00.000Z' },
      callback_url: `${service.url}/callbacks/pix/${id}/…`,
      next: `npm run --silent cli -- acquirer check --account ${merchant.accountId} --register-webhook`,
    });
    expect((await service.createCharge(merchant.liveKey)).status).toBe(201);
    const [audited] = await service.sql('SELECT actor_type, data FROM audit_events WHERE type = $1', [
      'acquirer.configured',
    ]);
    expect(audited).toMatchObject({ actor_type: 'cli', data: { connection_id: id, psp: 'standard', renewed: false } });
  });

  it('checks the connection step by step, with a charge that is taken back, and registers the callback', async () => {
    const without = await run(['check', '--account', merchant.accountId]);
    expect(without).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/^WARNING {2}webhook: none is registered/m),
    });
    expect(simulator.state().webhooks).toEqual([]);
    const checked = await run(['check', '--account', merchant.accountId, '--register-webhook']);
    expect(checked).toMatchObject({ code: 0 });
    const { passed, steps } = JSON.parse(checked.stdout) as { passed: boolean; steps: { step: string; ok: boolean }[] };
    expect([passed, steps.map(({ step, ok }) => [step, ok])]).toEqual([
      true,
      ['settings', 'certificate', 'tls', 'token', 'scope', 'charge', 'callback', 'webhook'].map((step) => [step, true]),
    ]);
    expect(checked.stderr.split('\n').filter((line) => /^ok {7}\w+: /.test(line))).toHaveLength(8);
    expect(simulator.state().cobs.map(({ status }) => status)).toEqual(
      expect.arrayContaining(['ATIVA', 'REMOVIDA_PELO_USUARIO_RECEBEDOR']),
    );
    const [{ webhookUrl } = { webhookUrl: '' }] = simulator.state().webhooks;
    expect(webhookUrl.startsWith(`${service.url}/callbacks/pix/`)).toBe(true);
    expect(webhookUrl).toMatch(/\/pix\/[0-9a-f-]{36}\/[\w-]{43}$/);
    // The secret of the callback is shown to the PSP only.
    const secret = webhookUrl.split('/').at(-1) ?? '';
    const list = await run(['list']);
    for (const text of [checked.stdout, checked.stderr, list.stdout]) expect(text).not.toContain(secret);
    expect(JSON.parse(list.stdout)).toEqual({
      connections: [
        {
          connection_id: expect.any(String),
          account_id: merchant.accountId,
          psp: 'standard',
          key: KEY,
          live: true,
          base_url: simulator.baseUrl,
          certificate_expires_at: '2120-01-01T00:00:00.000Z',
          webhook_registered_at: expect.any(String),
          version: 1,
          updated_at: expect.any(String),
        },
      ],
    });
  });

  it('refuses to register an address that does not reach this service, and replaces another only with the flag', async () => {
    const registered = (): string | undefined => simulator.state().webhooks[0]?.webhookUrl;
    const before = registered();
    const check = ['check', '--account', merchant.accountId];
    const gone = await PspSimulator.start();
    const deserted = gone.controlUrl;
    await gone.stop();
    const nobody = await run([...check, '--replace-webhook'], { PUBLIC_BASE_URL: deserted });
    expect(nobody.code).toBe(1);
    expect(nobody.stderr).toMatch(
      /^FAILED {3}callback: http:\/\/127\.0\.0\.1:\d+\/…: nobody answers \(ECONNREFUSED\)\n.*PUBLIC_BASE_URL/m,
    );
    const unknown = await run([...check, '--register-webhook'], { DATA_DIR: mkdtempSync(join(directory, 'data-')) });
    expect(unknown.code).toBe(1);
    expect(unknown.stderr).toMatch(/^FAILED {3}callback: .*none runs here.*\n.*Start the service/m);
    expect(registered()).toBe(before);

    // The service has moved.
    const moved = { PUBLIC_BASE_URL: service.url.replace('127.0.0.1', 'localhost') };
    const kept = await run([...check, '--register-webhook'], moved);
    expect(kept.code).toBe(1);
    const place = `${service.url}/…`.replaceAll('/', '\\/');
    expect(kept.stderr).toMatch(
      new RegExp(`^FAILED {3}webhook: another address .*: ${place}\\n.*--replace-webhook`, 'm'),
    );
    expect(registered()).toBe(before);
    const replaced = await run([...check, '--replace-webhook'], moved);
    expect(replaced.code).toBe(0);
    expect(replaced.stderr).toMatch(new RegExp(`^ok {7}webhook: registered now, in place of ${place}$`, 'm'));
    expect(registered()).toBe(before?.replace('127.0.0.1', 'localhost'));
  });

  it('changes the secret of the callback and shows it to nobody', async () => {
    const registered = simulator.state().webhooks[0]?.webhookUrl;
    const done = await run(['rotate-callback', '--account', merchant.accountId]);
    expect([done.code, JSON.parse(done.stdout)]).toMatchObject([
      0,
      { connection_id: expect.any(String), account_id: merchant.accountId, key: KEY },
    ]);
    expect(done.stdout).toContain('/…');
    expect(simulator.state().webhooks[0]?.webhookUrl).toBe(registered);
  });

  it('takes the secret from the environment, renews the connection in place, and names what fails in a check', async () => {
    const pem = [
      '--cert',
      file('cert', CLIENT.cert),
      '--key-file',
      file('key', CLIENT.key),
      '--ca',
      file('ca', CA_CERTIFICATE),
    ];
    const done = await run(configure(...pem), { RECEBE_CLIENT_SECRET: 'a-wrong-secret' });
    expect([done.code, (JSON.parse(done.stdout) as { renewed: boolean }).renewed]).toEqual([0, true]);
    const checked = await run(['check', '--account', merchant.accountId]);
    expect(checked.code).toBe(1);
    expect(JSON.parse(checked.stdout)).toMatchObject({ passed: false });
    expect(checked.stderr).toMatch(/^FAILED {3}token: .+\n {9}Check client id and secret/m);
    expect(checked.stdout + checked.stderr + done.stdout).not.toContain('a-wrong-secret');
  });

  it('disconnects while the service runs: no new live charges until it is configured again', async () => {
    const done = await run(['disconnect', '--account', merchant.accountId]);
    expect(done).toMatchObject({ code: 0, stderr: '' });
    const printed = JSON.parse(done.stdout) as { connection_id: string };
    expect(printed).toEqual({
      connection_id: expect.any(String),
      account_id: merchant.accountId,
      acquirer: `pix-api:${printed.connection_id}`,
      psp: 'standard',
      key: KEY,
      disconnected: true,
    });
    expect((await service.createCharge(merchant.liveKey)).status).toBe(422);
    const list = await run(['list', '--account', merchant.accountId]);
    expect(JSON.parse(list.stdout)).toMatchObject({
      connections: [{ connection_id: printed.connection_id, live: false, version: 2 }],
    });
    const again = await run(configure('--cert', join(directory, 'cert'), '--key-file', join(directory, 'key')), {
      RECEBE_CLIENT_SECRET: DEFAULT_MERCHANT.clientSecret,
    });
    expect(JSON.parse(again.stdout)).toMatchObject({
      connection_id: printed.connection_id,
      renewed: true,
      replaced: null,
    });
  });

  it('has the addresses of a PSP`s test environment', async () => {
    const { accountId } = await service.merchant();
    const secret = ['--client-secret-file', file('secret', 's'), '--cert', file('cert', CLIENT.cert)];
    const more = [...secret, '--key-file', file('key', CLIENT.key), '--homologation'];
    const about = ['--account', accountId, '--psp', 'efi', '--key', randomUUID(), '--client-id', 'x'];
    expect(await run(['configure', ...about, ...more])).toMatchObject({ code: 0, stderr: '' });
    const { stdout } = await run(['list', '--account', accountId]);
    const found = await service.sql('SELECT base_url, token_url FROM acquirer_connections WHERE account_id = $1', [
      accountId,
    ]);
    const base = 'https://pix-h.api.efipay.com.br';
    expect(found).toEqual([{ base_url: base, token_url: `${base}/oauth/token` }]);
    expect(stdout).toContain(`"base_url": "${base}"`);
  });

  it('reports every fault at once, on stderr alone', async () => {
    const { accountId } = await service.merchant();
    const good = ['--client-secret-file', file('x', 'x'), '--cert', file('c', CERTIFICATES.cert)];
    const cases: [string[], number, RegExp][] = [
      [['configure', '--account', accountId], 2, /missing --psp, --key, --client-id/],
      [configure('--client-secret', 'x'), 2, /unknown option '--client-secret'\n/],
      [
        configure('--pfx', '/nowhere/a', '--ca', '/nowhere/b'),
        2,
        /^--pfx: \/nowhere\/a cannot be read \(ENOENT\)\n--ca: /,
      ],
      [
        configure('--psp', 'itua', '--key', '1'),
        1,
        /^This is refused:\n {2}- psp: must be one of[^]*- key: [^]*- client-secret: is missing/,
      ],
      [
        configure(...good, '--key-file', file('k', CERTIFICATES.key), '--account', accountId),
        1,
        /^The Pix key .* is another account's/,
      ],
      [['check', '--account', accountId], 1, /^This account has no live acquirer: `acquirer configure`/],
      [['disconnect', '--account', accountId], 1, /^This account has no live acquirer: `acquirer configure`/],
      [configure('--set', 'a=1', '--set', 'a=2'), 2, /a is given twice/],
      [['disconnect'], 2, /missing --account/],
      [
        ['configure', '--account', accountId, '--psp', 'itau', '--key', KEY, '--client-id', 'x', '--homologation'],
        2,
        /^The addresses of the homologation of "itau" are not all known: name them with --base-url and --token-url/,
      ],
    ];
    // A few at a time: each is a process that loads the whole application.
    for (let from = 0; from < cases.length; from += 3) {
      const batch = cases.slice(from, from + 3);
      const ended = await Promise.all(batch.map(([args]) => run(args)));
      for (const [index, [args, code, words]] of batch.entries()) {
        expect([args.join(' '), ended[index]?.code, ended[index]?.stdout]).toEqual([args.join(' '), code, '']);
        expect(ended[index]?.stderr).toMatch(words);
      }
    }
  });
});
