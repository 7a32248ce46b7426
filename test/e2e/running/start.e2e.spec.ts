import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import pg from 'pg';
import { SETTINGS } from '../../../src/accounts/index.js';
import { runCli } from '../../support/cli.js';
import { itWith } from '../../support/needs.js';
import {
  CLI,
  serverPids,
  MAIN,
  Processes,
  readDemo,
  type ServiceProcess,
  withDatabase,
} from '../../support/process.js';
import { TerminalProcess } from '../../support/terminal.js';
import { expectLedgerCoherent } from '../../support/coherence.js';
import { waitFor } from '../../support/wait.js';
import { freePort } from '../../../tools/harness/free-port.js';
import { isRunning, ownerUrl } from '../../../tools/harness/local-servers.js';

jest.setTimeout(120_000);

interface Answer {
  status: number;
  body: Record<string, unknown>;
}

async function call(
  service: ServiceProcess,
  key: string,
  method: string,
  path: string,
  body?: object,
): Promise<Answer> {
  const response = await fetch(`${service.url}${path}`, {
    method,
    headers: {
      apikey: key,
      'Idempotency-Key': `start-${randomBytes(8).toString('hex')}`,
      ...(body && { 'Content-Type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const charge = { amount: 10_000, payment_method: 'pix' };

describe('starting the service', () => {
  const processes = new Processes();
  afterAll(() => processes.cleanUp());

  it.each([
    [{}, ['REDIS_URL', 'JWT_SECRET', 'ENCRYPTION_KEY', 'PUBLIC_BASE_URL', 'SMTP_URL', 'DATABASE_URL']],
    [
      { DATABASE_URL: 'postgres://recebe@127.0.0.1:1/recebe', JWT_SECRET: 'x'.repeat(32), REDIS_URL: '' },
      ['REDIS_URL', 'ENCRYPTION_KEY'],
    ],
  ])('refuses production without its variables, naming each: given %j', async (given, missing) => {
    const dataDir = processes.dataDir();
    const ended = await processes.run(MAIN, [], { NODE_ENV: 'production', DATA_DIR: dataDir, ...given });
    expect(ended.code).toBe(1);
    expect(ended.stdout).toBe('');
    expect(ended.stderr).toContain('Recebe could not start');
    expect([...ended.stderr.matchAll(/^ {2}- (\w+): is required/gm)].map(([, name]) => name)).toEqual(missing);
    expect(ended.stderr).not.toMatch(/^ {4}at /m);
    expect(existsSync(dataDir)).toBe(false);
  });

  (process.getuid?.() === 0 ? it : it.skip)(
    'leaves the directory of an ordinary user to that user after root started it once',
    async () => {
      const dataDir = processes.dataDir();
      mkdirSync(dataDir);
      chownSync(dataDir, 65534, 65534);
      const service = await processes.start(dataDir);
      expect((await service.kill('SIGTERM')).code).toBe(0);
      const owners = Object.fromEntries(readdirSync(dataDir).map((file) => [file, statSync(join(dataDir, file)).uid]));
      expect(Object.keys(owners)).toEqual(expect.arrayContaining(['demo.json', 'encryption-key', 'postgres']));
      expect(new Set(Object.values(owners))).toEqual(new Set([65534]));
    },
  );

  itWith('terminal')(
    'keeps its start-up lines visible on a terminal, and prompts for a password without echo',
    async () => {
      const dataDir = processes.dataDir();
      const password = 'typed by hand';
      const service = new TerminalProcess(MAIN, [], { PORT: '0', DATA_DIR: dataDir });
      try {
        await waitFor('the service to be ready', () => service.screen.includes('Next: npm run demo'), 90_000);
        expect(service.screen).toMatch(/^ {2}Log +warnings and errors only; LOG_LEVEL=info/m);
        const before = service.screen;
        const { base_url, ...demo } = readDemo(dataDir);
        expect(before).toContain(`password ${demo.password}\n`);
        expect(before).toContain(`  Test key  ${demo.test_api_key}\n`);
        const url = base_url.replace('localhost', '127.0.0.1');
        for (const path of ['/v1/wallets', '/docs', '/nowhere']) await (await fetch(`${url}${path}`)).arrayBuffer();

        const created = new TerminalProcess(CLI, ['operator', 'create', '--email', 'by@hand.example'], {
          DATA_DIR: dataDir,
        });
        for (const question of ['Password: ', 'Again: ']) {
          await waitFor(`the question ${question}`, () => created.screen.endsWith(question), 60_000);
          created.type(`${password}\r`);
        }
        await waitFor('the command to end', () => created.exitCode !== null, 60_000);
        expect(created.exitCode).toBe(0);
        expect(created.screen).toMatch(/^Password: \nAgain: \n\{\n {2}"user_id": "[0-9a-f-]{36}"\n\}\n$/);
        const login = await fetch(`${url}/v1/auth/login`, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json' },
          body: JSON.stringify({ email: 'by@hand.example', password }),
        });
        expect(login.status).toBe(200);
        expect(service.screen).toBe(before);
      } finally {
        service.type('\u0003'); // Ctrl-C
        await waitFor('the service to end', () => service.exitCode !== null, 60_000);
      }
      expect([service.exitCode, readdirSync(dataDir).filter((file) => file.startsWith('service.'))]).toEqual([0, []]);
    },
  );

  describe('the command line without a started service', () => {
    it('creates no directory, database or key, and gives advice', async () => {
      const nowhere = processes.dataDir();
      const empty = processes.emptyDataDir();
      const DATABASE_URL = 'postgres://recebe@127.0.0.1:1/recebe';
      const ENCRYPTION_KEY = 'ab'.repeat(32);
      const cases: [Record<string, string>, RegExp][] = [
        [{ DATA_DIR: nowhere }, /^There is no directory .*Start the service first.*DATA_DIR=/],
        [{ DATA_DIR: nowhere, DATABASE_URL, ENCRYPTION_KEY }, /^There is no directory .*DATA_DIR=/],
        [{ DATA_DIR: empty }, /postgres, the database of a service, is not there.*DATABASE_URL/],
        [{ DATA_DIR: empty, DATABASE_URL }, /encryption-key, the key of a service, is not there.*ENCRYPTION_KEY/],
      ];
      for (const [env, words] of cases) {
        const ended = await runCli(['account', 'list'], env);
        expect(ended).toMatchObject({ code: 1, stdout: '' });
        expect(ended.stderr).toMatch(words);
      }
      expect([existsSync(nowhere), readdirSync(empty)]).toEqual([false, []]);
    });

    it('shows help at every level, and its version', async () => {
      const env = { DATA_DIR: processes.dataDir() };
      const root = await runCli(['--help'], env);
      const group = await runCli(['account', '--help'], env);
      const command = await runCli(['account', 'create', '--help'], env);
      const version = await processes.run(CLI, ['--version'], env);
      for (const ended of [root, group, command, version]) expect(ended).toMatchObject({ code: 0, stderr: '' });
      for (const name of [
        'account',
        'member',
        'operator',
        'user',
        'key',
        'acquirer',
        'statistics',
        'reconcile',
        'work',
      ]) {
        expect(root.stdout).toMatch(new RegExp(`^ {2}${name} `, 'm'));
      }
      expect(group.stdout).toMatch(/^ {2}create .*\n {2}set .*\n {2}list /m);
      expect(command.stdout).toMatch(/--name <name> .*\(required\)[^]*--password-file <file>/);
      expect(version.stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    });
  });

  describe('on the embedded default', () => {
    const dataDir = processes.dataDir();
    let service: ServiceProcess;
    let key: string;

    const available = async (apiKey: string): Promise<unknown> =>
      (await call(service, apiKey, 'GET', '/v1/wallets/balance?currency=BRL')).body['available'];

    const expectCheckout = async (): Promise<void> => {
      const checkout = /^ {2}Checkout +(\S+)/m.exec(service.stdout)?.[1] ?? '';
      expect(checkout.startsWith(`${service.demo().base_url}/checkout/`)).toBe(true);
      const page = await fetch(checkout.replace('localhost', '127.0.0.1'));
      expect(page.status).toBe(200);
      expect(page.headers.get('content-type')).toContain('text/html');
    };

    beforeAll(async () => {
      // Uses a port known in advance, as scripts do that wait for the service to be ready.
      const port = await freePort();
      service = processes.spawn(dataDir, { PORT: String(port) });
      const ask = async (): Promise<boolean> => {
        const response = await fetch(`http://127.0.0.1:${port}/health/ready`).catch(() => null);
        await response?.arrayBuffer();
        return response?.status === 200;
      };
      await waitFor('it to say that it is ready', ask, 90_000);
      key = service.demo().test_api_key;
      await service.ready();
    });

    it('prints all addresses and paths, and writes demo.json for its owner only', async () => {
      const demo = service.demo();
      expect(statSync(join(dataDir, 'demo.json')).mode & 0o777).toBe(0o600);
      expect(Object.keys(demo)).toEqual(['account_id', 'email', 'password', 'test_api_key', 'base_url']);
      expect(demo).toEqual({
        account_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        email: 'owner@demo.local',
        password: expect.stringMatching(/^.{10,}$/),
        test_api_key: expect.stringMatching(/^ak_test_[A-Za-z0-9_-]{32}$/),
        base_url: service.url.replace('127.0.0.1', 'localhost'),
      });
      for (const shown of [demo.base_url, `${demo.base_url}/docs`, demo.email, join(dataDir, 'demo.json')]) {
        expect(service.stdout).toContain(shown);
      }
      // More people read logs than a terminal.
      for (const secret of [demo.password, demo.test_api_key]) expect(service.stdout).not.toContain(secret);
      expect(service.stderr).toBe('');
      await expectCheckout();
      expect((await fetch(`${service.url}/docs`)).status).toBe(200);
    });

    it('gives each schema of its document the name of its class, since bundling would number equal names', async () => {
      const answer = await fetch(`${service.url}/openapi/all.json`);
      const { components } = (await answer.json()) as { components: { schemas: Record<string, unknown> } };
      const names = Object.keys(components.schemas);
      expect(names).toContain('Charge');
      expect(names.filter((name) => /\d$/.test(name))).toEqual([]);
    });

    it('accepts webhook endpoints on this machine without a setting', async () => {
      const body = { url: 'http://localhost:4000/webhooks', events: ['*'] };
      expect((await call(service, key, 'POST', '/v1/webhooks/endpoints', body)).status).toBe(201);
    });

    it('refuses a second service on its data or its port, and goes on', async () => {
      const { port } = new URL(service.url);
      const ended = await processes.run(MAIN, [], { DATA_DIR: processes.dataDir(), PORT: port });
      expect(ended.code).toBe(1);
      expect(ended.stderr).toContain('is taken by another program');
      expect(ended.stderr).not.toMatch(/^ {4}at /m);
      expect(ended.stdout).not.toContain('Recebe is ready');
      const second = await processes.run(MAIN, [], { DATA_DIR: dataDir, PORT: '0' });
      expect(second).toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringContaining('already runs on the data'),
      });
      expect((await call(service, key, 'POST', '/v1/charges', charge)).status).toBe(201);
      expect(readDemo(dataDir).base_url).toBe(service.url.replace('127.0.0.1', 'localhost'));
    });

    it('runs a healthy worker beside the service, on its database and Redis, without an API', async () => {
      const ENCRYPTION_KEY = readFileSync(join(dataDir, 'encryption-key'), 'utf8').trim();
      const worker = await processes.start(dataDir, {
        ...{ ROLE: 'worker', DATABASE_URL: ownerUrl(dataDir), ENCRYPTION_KEY },
      });
      expect(await (await fetch(`${worker.url}/health/live`)).json()).toEqual({ status: 'up' });
      expect(await (await fetch(`${worker.url}/health/ready`)).json()).toMatchObject({ status: 'up', database: 'up' });
      for (const path of ['/v1/wallets', '/v1/charges', '/v1/webhooks/event-catalog', '/docs', '/openapi.json']) {
        expect([path, (await call(worker, key, 'GET', path)).status]).toEqual([path, 404]);
      }
      // A worker prints its kinds of work and no address for requests.
      expect(worker.stdout).toMatch(/^Recebe is ready \(role worker, /m);
      expect(worker.stdout).toMatch(/^ {2}Works on +events and webhooks, /m);
      expect(worker.stdout).toMatch(/^ {2}Health +http:\/\/localhost:\d+\/health\/ready$/m);
      expect(worker.stdout).not.toMatch(/^ {2}(API|Docs|Checkout|Login|Test key) /m);
      expect(worker.stdout).not.toContain(key);
      expect(await worker.kill('SIGTERM')).toMatchObject({ code: 0, stderr: '' });
      expect((await call(service, key, 'GET', '/v1/wallets')).status).toBe(200);
    });

    describe('the command line, while the service runs', () => {
      const cliReading = async (stdin: string | undefined, ...args: string[]): Promise<Record<string, string>> => {
        const ended = await runCli(args, { DATA_DIR: dataDir }, stdin);
        expect(ended).toMatchObject({ code: 0, stderr: '' });
        return JSON.parse(ended.stdout) as Record<string, string>;
      };
      const cli = (...args: string[]): Promise<Record<string, string>> => cliReading(undefined, ...args);
      const password = 'correct horse battery';
      const passwordFile = join(dataDir, 'a-password');
      beforeAll(() => writeFileSync(passwordFile, `${password}\n`));
      let accountId = '';

      it('creates an account whose keys work at once', async () => {
        const made = await cli(
          ...['account', 'create', '--name', 'Padaria', '--email', 'dona@padaria.example'],
          ...['--password-file', passwordFile],
          ...['--fee-bps', '100', '--fee-fixed', '5'],
        );
        expect(made).toEqual({ account_id: expect.any(String), user_id: expect.any(String) });
        accountId = made['account_id'] ?? '';

        const issued = await cli('key', 'issue', accountId, '--test', '--label', 'Caixa 1');
        expect(issued).toMatchObject({ label: 'Caixa 1', mode: 'test' });
        const testKey = issued['apiKey'] ?? '';
        expect(testKey).toMatch(/^ak_test_[A-Za-z0-9_-]{32}$/);
        expect(await pay(testKey)).toBe(10_000 - 100 - 5);

        // The running service answers with the new settings, even where it caches accounts.
        const set = await cli('account', 'set', accountId, 'fee_bps=0', 'fee_fixed=1', 'name=Padaria Nova');
        expect(set).toMatchObject({ account_id: accountId, name: 'Padaria Nova', fee_bps: 0, fee_fixed: 1 });
        expect(Object.keys(set).sort()).toEqual(['account_id', ...Object.keys(SETTINGS)].sort());
        expect(await pay(testKey)).toBe(9_895 + 9_999);

        const live = await cli('key', 'issue', accountId);
        expect(live).toMatchObject({ apiKey: expect.stringMatching(/^ak_live_/), mode: 'live' });
        expect(await available(live['apiKey'] ?? '')).toBe(0);
      });

      it('creates an account for somebody else, who is invited by mail', async () => {
        const email = 'socia@livraria.example';
        const made = await cli('account', 'create', '--name', 'Livraria', '--email', email);
        expect(made).toEqual({ account_id: expect.any(String), user_id: null, invited: email });
        const { members } = (await cli('member', 'list', made['account_id'] ?? '')) as unknown as { members: object[] };
        expect(members).toEqual([expect.objectContaining({ email, role: 'OWNER', status: 'invited' })]);
        const reset = await runCli(['user', 'reset-totp', '--email', email], { DATA_DIR: dataDir });
        expect(reset).toMatchObject({ code: 1, stderr: expect.stringMatching(/^No such user with a second factor/) });
      });

      it('adds members and operators', async () => {
        const who = (email: string): string[] => ['--email', email, '--password-file', passwordFile];
        expect(await cli('member', 'add', accountId, ...who('caixa@padaria.example'), '--role', 'MEMBER')).toEqual({
          account_id: accountId,
          user_id: expect.any(String),
          role: 'MEMBER',
        });
        const operator = await cli('operator', 'create', ...who('ops@example.com'));
        expect(operator).toEqual({ user_id: expect.any(String) });
        expect(await cli('operator', 'remove', '--email', 'ops@example.com')).toEqual({ ...operator, removed: true });
      });

      it('changes a password, which ends the sessions with the old one', async () => {
        const email = 'dona@padaria.example';
        const login = async (secret: string): Promise<Answer> =>
          call(service, '', 'POST', '/v1/auth/login', { email, password: secret });
        const keys = async (token: unknown): Promise<number> =>
          (await fetch(`${service.url}/v1/api-keys`, { headers: { authorization: `Bearer ${String(token)}` } })).status;
        const old = (await login(password)).body['access_token'];
        expect(await keys(old)).toBe(200);
        const changed = await cliReading(
          'another horse battery\n',
          ...['user', 'password', '--email', email, '--password-file', '-'],
        );
        expect(changed).toEqual({ user_id: expect.any(String) });
        expect(await keys(old)).toBe(401);
        expect((await login(password)).status).toBe(401);
        expect(await keys((await login('another horse battery')).body['access_token'])).toBe(200);
      });

      it('reports errors on stderr alone', async () => {
        const who = ['--email', 'x@y.example', '--password-file'];
        const short = join(dataDir, 'a-short-password');
        writeFileSync(short, 'short');
        const cases: [string[], number, RegExp][] = [
          [[], 2, /^Usage:.*account .*create, set, list/s],
          [['acount', 'list'], 2, /unknown command 'acount'\n\(Did you mean account\?\)/],
          [['account', 'creat'], 2, /unknown command 'creat'\n\(Did you mean create\?\)/],
          [['operator', 'create', '--email', 'a@b.example'], 2, /^There is no password\..*--password-file/],
          [
            ['operator', 'create', '--email', 'a@b.example', '--password', password],
            2,
            /--password is not taken.*-file/s,
          ],
          [['operator', 'remove'], 2, /missing --email/],
          [['account', 'create'], 2, /missing --name, --email/],
          [['key', 'revoke', '00000000-0000-7000-8000-000000000000'], 1, /^No such API key/],
          [['key', 'list', '00000000-0000-7000-8000-000000000000'], 1, /^No such account/],
          [['operator', 'remove', '--email', 'dona@padaria.example'], 1, /^No such operator/],
          [['user', 'password', ...who, passwordFile], 1, /^No such user/],
          [['key', 'issue', accountId, '--tset'], 2, /'--tset'\n\(Did you mean --test\?\)/],
          [['key', 'issue', 'demo'], 2, /Name the account by its id/],
          [['account', 'set', accountId, 'fee_bps'], 2, /must be of the form key=value/],
          [['member', 'add', accountId, ...who, passwordFile, '--role', 'BOSS'], 2, /BOSS.*choices are OWNER, ADMIN/],
          [['account', 'set', accountId, 'fee_bsp=1'], 1, /^fee_bsp: is not one of name, /],
          [['account', 'set', accountId, 'fee_bps=10001'], 1, /^fee_bps: must be basis points/],
          [['member', 'add', accountId, ...who, short, '--role', 'OWNER'], 1, /^password: must have at least 10/],
          [
            ['operator', 'create', '--email', 'DONA@padaria.example', '--password-file', passwordFile],
            1,
            /exists already/,
          ],
          [['key', 'issue', '00000000-0000-7000-8000-000000000000'], 1, /^No such account/],
        ];
        for (const [args, code, words] of cases) {
          const { stderr, ...rest } = await runCli(args, { DATA_DIR: dataDir });
          expect({ args, ...rest }).toEqual({ args, code, stdout: '' });
          expect(stderr).toMatch(words);
          expect(stderr).not.toMatch(/^ {4}at /m);
          expect(stderr).not.toContain(password);
        }
      });

      it('lists accounts, members, keys and work, all names in snake_case', async () => {
        const { accounts } = (await cli('account', 'list')) as unknown as { accounts: Record<string, unknown>[] };
        expect(accounts.map(({ name }) => name)).toEqual(['Livraria', 'Padaria Nova', 'Demo']);
        expect(Object.keys(accounts[0] ?? {}).sort()).toEqual(['account_id', ...Object.keys(SETTINGS)].sort());
        const { members } = (await cli('member', 'list', accountId)) as unknown as { members: unknown[] };
        const member = { user_id: expect.any(String), status: 'active', created_at: expect.any(String) };
        expect(members).toEqual([
          { ...member, email: 'dona@padaria.example', name: 'Padaria', role: 'OWNER' },
          { ...member, email: 'caixa@padaria.example', name: 'caixa@padaria.example', role: 'MEMBER' },
        ]);
        const { account_id, keys } = (await cli('key', 'list', accountId)) as unknown as {
          account_id: string;
          keys: Record<string, unknown>[];
        };
        expect([account_id, keys.map(({ mode, label }) => [mode, label])]).toEqual([
          accountId,
          [
            ['live', null],
            ['test', 'Caixa 1'],
          ],
        ]);
        expect(Object.keys(keys[0] ?? {}).sort()).toEqual([
          ...['allowed_ips', 'created_at', 'expires_at', 'fingerprint', 'issued_by', 'key_id', 'label', 'last_used_at'],
          ...['mode', 'prefix'],
        ]);
        expect(await cli('work', 'list', '--kind', 'no-such-kind')).toEqual({ work: [] });
      });

      it('revokes a key at once, and the audit trail records it', async () => {
        const issued = await cli('key', 'issue', accountId, '--test');
        const { id = '', apiKey = '', fingerprint } = issued;
        expect((await call(service, apiKey, 'GET', '/v1/wallets')).status).toBe(200);
        expect(await cli('key', 'revoke', id)).toEqual({ account_id: accountId, key_id: id, revoked: true });
        expect((await call(service, apiKey, 'GET', '/v1/wallets')).status).toBe(401);
        const audited = await withDatabase(dataDir, async (url) => {
          const client = new pg.Client({ connectionString: url });
          await client.connect();
          const { rows } = await client.query(
            `SELECT actor_type, account_id, api_key_fingerprint, data->>'api_key_id' AS id FROM audit_events
             WHERE type = 'api_key.revoked'`,
          );
          await client.end();
          return rows as unknown[];
        });
        expect(audited).toEqual([{ actor_type: 'cli', account_id: accountId, api_key_fingerprint: fingerprint, id }]);
      });

      async function pay(apiKey: string): Promise<unknown> {
        const created = await call(service, apiKey, 'POST', '/v1/charges', charge);
        expect(created.status).toBe(201);
        const path = `/v1/sandbox/charges/${String(created.body['id'])}/simulate`;
        expect((await call(service, apiKey, 'POST', path, { event: 'pay' })).status).toBe(200);
        return available(apiKey);
      }
    });

    it('ends on SIGTERM with its databases, and starts again with its data and key', async () => {
      const { body: made } = await call(service, key, 'POST', '/v1/charges', charge);
      const before = service.demo();
      expect(await service.kill('SIGTERM')).toMatchObject({ code: 0, stderr: '' });
      expect(serverPids(dataDir)).toEqual({ postgres: null, redis: null });

      service = await processes.start(dataDir);
      expect(service.demo()).toEqual({ ...before, base_url: service.url.replace('127.0.0.1', 'localhost') });
      expect(statSync(join(dataDir, 'demo.json')).mode & 0o777).toBe(0o600);
      expect(service.stdout).toContain('demo.json');
      await expectCheckout();
      expect(await call(service, key, 'GET', `/v1/charges/${String(made['id'])}`)).toMatchObject({
        status: 200,
        body: { id: made['id'], status: 'pending', amount: charge.amount },
      });
    });

    it('starts again after kill -9, replacing the databases that were left running', async () => {
      const { body: made } = await call(service, key, 'POST', '/v1/charges', charge);
      const orphans = serverPids(dataDir);
      expect(await service.kill('SIGKILL')).toMatchObject({ signal: 'SIGKILL' });
      expect(orphans.postgres).not.toBeNull();
      expect(serverPids(dataDir)).toEqual(orphans);

      service = await processes.start(dataDir);
      expect(serverPids(dataDir).postgres).not.toBe(orphans.postgres);
      expect([orphans.postgres, orphans.redis].filter((pid) => pid !== null && isRunning(pid))).toEqual([]);
      expect((await call(service, key, 'GET', `/v1/charges/${String(made['id'])}`)).status).toBe(200);
      await withDatabase(dataDir, expectLedgerCoherent);
    });

    it('starts again after a crash of everything', async () => {
      const { body: made } = await call(service, key, 'POST', '/v1/charges', charge);
      const { postgres, redis } = serverPids(dataDir);
      await service.kill('SIGKILL');
      for (const pid of [postgres, redis]) if (pid !== null) process.kill(pid, 'SIGKILL');
      await waitFor('the servers to be gone', () => {
        const left = serverPids(dataDir);
        return left.postgres === null && left.redis === null;
      });

      service = await processes.start(dataDir);
      expect((await call(service, key, 'GET', `/v1/charges/${String(made['id'])}`)).status).toBe(200);
      await withDatabase(dataDir, expectLedgerCoherent);
      // A short program, as above, leaves the service its database.
      expect((await call(service, key, 'POST', '/v1/charges', charge)).status).toBe(201);
      expect((await service.kill('SIGTERM')).code).toBe(0);
    });
  });
});
