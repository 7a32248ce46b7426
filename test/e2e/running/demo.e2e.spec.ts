import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { DEMO, Processes, type ServiceProcess } from '../../support/process.js';

jest.setTimeout(120_000);

describe('npm run demo', () => {
  const processes = new Processes();
  const dataDir = processes.dataDir();
  let service: ServiceProcess;
  let key: string;

  beforeAll(async () => {
    service = await processes.start(dataDir);
    key = service.demo().test_api_key;
  });
  afterAll(() => processes.cleanUp());

  const get = async <T>(path: string): Promise<T> =>
    (await (await fetch(`${service.url}${path}`, { headers: { apikey: key } })).json()) as T;
  const available = async (): Promise<number> =>
    (await get<{ available: number }>('/v1/wallets/balance?currency=BRL')).available;

  it('prints the whole story, as plain text where there is no terminal', async () => {
    const before = await available();
    const { code, stdout, stderr } = await processes.run(DEMO, [], { DATA_DIR: dataDir });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });

    const titles = [...stdout.matchAll(/^\d\. (.+)$/gm)].map(([, title]) => title);
    expect(titles).toEqual([
      'Register a webhook endpoint',
      'Create a Pix charge of R$ 49,90',
      'The payer pays',
      'The signed webhook arrives',
      'The money is in the wallet',
      'Refund R$ 19,90 of it',
      'Pay R$ 30,00 out',
    ]);
    // Files and pipes get no colours.
    expect(stdout.includes('\u001b')).toBe(false);
    expect(stdout).not.toContain(key);
    expect(stdout).toContain('d. equal to v1: the webhook is genuine');
    expect(stdout).toMatch(/before R\$ [\d.,]+, now R\$ [\d.,]+: \+ R\$ 49,90/);

    // The charge of the story really exists.
    const id = /charges: (ch_[0-9a-f-]{36}), pending/.exec(stdout)?.[1] ?? '';
    const charge = await get<{ pix: { br_code: string }; settlement: { end_to_end_id: string } }>(`/v1/charges/${id}`);
    expect(stdout).toContain(charge.pix.br_code);
    expect(stdout).toContain(charge.settlement.end_to_end_id);
    expect(charge).toMatchObject({ status: 'paid', amount_refunded: 1_990 });
    expect(await available()).toBe(before);
    expect(stdout).toMatch(/refund: [0-9a-f-]{36}, R\$ 19,90, PENDING\n {3}set aside at once: the balance is R\$ /);
    expect(stdout).toMatch(/^ {3}REFUNDED; the charge is paid, R\$ 19,90 of it refunded$/m);

    // So does its payout.
    const payoutId = /payouts: (po_[0-9a-f-]{36}), pending, to the Pix key 52998224725$/m.exec(stdout)?.[1] ?? '';
    const payout = await get<{ amount: number; status: string; settlement: { end_to_end_id: string } }>(
      `/v1/payouts/${payoutId}`,
    );
    expect(payout).toMatchObject({ amount: 3_000, status: 'paid' });
    expect(stdout).toContain(` s; end-to-end id: ${payout.settlement.end_to_end_id}\n`);
  });

  it.each(['SIGTERM', 'SIGKILL'] as const)('finds the demo at its new port after a restart by %s', async (signal) => {
    const before = service.url;
    await service.kill(signal);
    service = await processes.start(dataDir);
    expect(service.url).not.toBe(before);
    const { code, stdout, stderr } = await processes.run(DEMO, [], { DATA_DIR: dataDir });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain(`A tour of the service at ${service.url.replace('127.0.0.1', 'localhost')},`);
  });

  it('uses the service of the environment before the one of demo.json', async () => {
    const env = { RECEBE_URL: `${service.url}/`, RECEBE_API_KEY: key, DATA_DIR: processes.dataDir() };
    const { code, stdout } = await processes.run(DEMO, [], env);
    expect(code).toBe(0);
    expect(stdout).toContain(`A tour of the service at ${service.url},`);
  });

  it.each<[string, () => Record<string, string>, RegExp]>([
    [
      'no demo account',
      () => ({ DATA_DIR: processes.dataDir() }),
      /no demo account in .*demo\.json.*npm start.*RECEBE_URL/s,
    ],
    ['half an address', () => ({ RECEBE_URL: service.url }), /RECEBE_API_KEY is missing/],
    ['a live key', () => ({ RECEBE_URL: service.url, RECEBE_API_KEY: 'ak_live_x' }), /needs a test key/],
    ['a wrong key', () => ({ RECEBE_URL: service.url, RECEBE_API_KEY: 'ak_test_x' }), /answered 401 unauthorized/],
    ['no address', () => ({ RECEBE_URL: 'localhost', RECEBE_API_KEY: key }), /"localhost" is not the address/],
    [
      'nobody there',
      () => ({ RECEBE_URL: 'http://127.0.0.1:1', RECEBE_API_KEY: key }),
      /No service answers at http:\/\/127\.0\.0\.1:1\. Start it with npm start/,
    ],
  ])('gives advice for %s', async (_what, env, words) => {
    const { code, stdout, stderr } = await processes.run(DEMO, [], env());
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(words);
    expect(stderr).not.toMatch(/^ {4}at /m);
  });

  describe('behind a proxy that changes some answers', () => {
    let proxy: Server;
    let change: (request: string, answer: string) => { status: number; body: string } | null = () => null;
    const env = (): Record<string, string> => ({
      RECEBE_URL: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
      RECEBE_API_KEY: key,
    });

    beforeAll(async () => {
      proxy = createServer((request, response) => {
        void forward(request).then(({ status, body }) =>
          response.writeHead(status, { 'content-type': 'application/json' }).end(body),
        );
      });
      await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    });
    afterAll(() => {
      proxy.closeAllConnections();
      proxy.close();
    });

    async function forward(request: IncomingMessage): Promise<{ status: number; body: string }> {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const answer = await fetch(`${service.url}${request.url ?? ''}`, {
        method: request.method ?? 'GET',
        headers: Object.fromEntries(
          ['apikey', 'content-type', 'idempotency-key'].flatMap((name) => {
            const value = request.headers[name];
            return typeof value === 'string' ? [[name, value]] : [];
          }),
        ),
        ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
      });
      const body = await answer.text();
      return change(`${request.method} ${request.url}`, body) ?? { status: answer.status, body };
    }

    it('fails on a webhook whose signature does not verify', async () => {
      change = (request, answer) =>
        request === 'POST /v1/webhooks/endpoints'
          ? { status: 201, body: answer.replace(/"secret":"[0-9a-f]{64}"/, `"secret":"${'0'.repeat(64)}"`) }
          : null;
      const { code, stdout, stderr } = await processes.run(DEMO, [], env());
      expect(code).toBe(1);
      expect(stderr).toContain('The signature does not match');
      expect(stdout).not.toContain('genuine');
    });

    it('waits for a refund to be REFUNDED', async () => {
      const refund = { id: 'd6a2d9ea-9d3c-4b6a-a6ba-1f2a7b2f2f3e', amount: 4_990, status: 'PENDING' };
      const states = ['PENDING', 'IN_PROGRESS', 'REFUNDED'];
      const asked: string[] = [];
      change = (request) => {
        if (/^POST \/v1\/payments\/[0-9a-f-]{36}\/refund$/.test(request)) {
          asked.push(request);
          return { status: 201, body: JSON.stringify(refund) };
        }
        if (!/^GET \/v1\/payments\/[0-9a-f-]{36}\/refunds$/.test(request)) return null;
        const status = states.shift() ?? 'REFUNDED';
        return { status: 200, body: JSON.stringify({ data: [{ ...refund, status }], total: 1 }) };
      };
      const { code, stdout, stderr } = await processes.run(DEMO, [], env());
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(asked).toHaveLength(1);
      expect(states).toEqual([]);
      expect(stdout).toMatch(/refund: d6a2d9ea-\S+, R\$ 49,90, PENDING\n[^]*\n {3}REFUNDED; the charge is /);
    });

    it('ends with an error when the refund fails or is refused', async () => {
      const refund = { id: 'd6a2d9ea-9d3c-4b6a-a6ba-1f2a7b2f2f3e', amount: 4_990, status: 'FAILED' };
      change = (request) => {
        if (/\/refund$/.test(request)) return { status: 201, body: JSON.stringify(refund) };
        return /\/refunds$/.test(request) ? { status: 200, body: JSON.stringify({ data: [refund], total: 1 }) } : null;
      };
      expect(await processes.run(DEMO, [], env())).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('failed'),
      });

      const error = { type: 'business_error', code: 'insufficient_balance', message: 'Not enough.' };
      change = (request) => (/\/refund$/.test(request) ? { status: 422, body: JSON.stringify({ error }) } : null);
      expect(await processes.run(DEMO, [], env())).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('422 insufficient_balance: Not enough.'),
      });
    });

    it.each([
      ['failed', { status: 'failed', failure: { reason: 'refused' } }, 'is failed: refused.'],
      ['waits for an approval', { status: 'pending', approval: { status: 'waiting' } }, 'waits for a second person'],
    ])('ends with an error when the payout %s', async (_what, now, words) => {
      change = (request, answer) =>
        /^GET \/v1\/payouts\//.test(request)
          ? { status: 200, body: JSON.stringify({ ...(JSON.parse(answer) as object), ...now }) }
          : null;
      const { code, stdout, stderr } = await processes.run(DEMO, [], env());
      expect(code).toBe(1);
      expect(stdout).toContain('POST /v1/payouts: po_');
      expect(stdout).not.toMatch(/^ {3}paid after/m);
      expect(stderr).toContain(words);
    });
  });

  it('reports that the service is gone since it wrote demo.json', async () => {
    await service.kill('SIGTERM');
    const { code, stderr } = await processes.run(DEMO, [], { DATA_DIR: dataDir });
    expect(code).toBe(1);
    expect(stderr).toContain(`No service answers at ${service.demo().base_url}. Start it with npm start`);
  });
});
