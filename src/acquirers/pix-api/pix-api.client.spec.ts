import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ENDLESS_ANSWERS, ENDLESS_BODIES, EndlessPeer } from '../../../test/support/endless-answers.js';
import { SELF_SIGNED, SELF_SIGNED_PFX } from '../../../test/support/self-signed.js';
import { waitFor } from '../../../test/support/wait.js';
import { PixApiClient, type PixApiClientOptions, type PspAnswer } from './pix-api.client.js';
import { PixApiError } from './pix-api.errors.js';
import { findProfile, PROFILES } from './profiles.js';
import type { PspProfile } from './profile.js';
import type { PixApiConnection } from './connection.js';
import { aCob, aConnection, aProblem, E2E, type FakePsp, type Reply, startPsp, TXID } from './psp.fixture.js';
import { TokenCache } from './token-cache.js';
import { freePort } from '../../../tools/harness/free-port.js';

const STANDARD = findProfile('standard')!;
const COB = { calendario: { expiracao: 3600 }, valor: { original: '110.00' }, chave: 'k' };
const BODY = () => COB;

describe('PixApiClient', () => {
  let psp: FakePsp;
  const clients: PixApiClient[] = [];

  beforeEach(async () => {
    psp = await startPsp();
  });
  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.close()));
    await psp.stop();
  });

  function make(
    own: Partial<PixApiConnection> = {},
    options: PixApiClientOptions = {},
    profile: PspProfile = STANDARD,
  ): PixApiClient {
    const client = new PixApiClient(aConnection(psp, own), profile, options);
    clients.push(client);
    return client;
  }

  async function errorOf(call: Promise<unknown>): Promise<PixApiError> {
    const error: unknown = await call.then(
      () => null,
      (reason: unknown) => reason,
    );
    if (!(error instanceof PixApiError)) throw new Error(`no PixApiError but ${String(error)}`);
    return error;
  }

  it('fetches one token for many calls at once and uses it', async () => {
    psp.script = () => ({ status: 200, body: aCob() });
    const client = make();
    const answers = await Promise.all(Array.from({ length: 10 }, () => client.getCob(TXID)));
    expect(answers.every(({ kind }) => kind === 'ok')).toBe(true);
    expect(psp.tokenRequests).toHaveLength(1);
    expect(psp.tokenRequests[0]?.headers.authorization).toBe(
      `Basic ${Buffer.from('the-client:the-secret').toString('base64')}`,
    );
    expect(new URLSearchParams(psp.tokenRequests[0]?.text).get('grant_type')).toBe('client_credentials');
    expect(psp.exchanges.map(({ asked }) => asked.headers.authorization)).toEqual(Array(10).fill('Bearer t1'));
  });

  it('keeps its connections alive', async () => {
    psp.script = () => ({ status: 200, body: aCob() });
    const client = make();
    for (let call = 0; call < 5; call += 1) await client.getCob(TXID);
    // The first call may start before the token's connection is free again.
    expect(psp.connections()).toBeLessThanOrEqual(2);
  });

  it('shares a token between clients of one account, PSP and client id, and with nobody else', async () => {
    psp.script = () => ({ status: 200, body: aCob() });
    const tokens = new TokenCache();
    await make({ id: 'c1' }, { tokens }).getCob(TXID);
    await make({ id: 'c2', pixKey: 'other@example.com' }, { tokens }).getCob(TXID);
    expect(psp.tokenRequests).toHaveLength(1);
    await make({ accountId: 'a2' }, { tokens }).getCob(TXID);
    expect(psp.tokenRequests).toHaveLength(2);
  });

  describe('with a refused token', () => {
    const OLD: readonly (readonly [string, Reply])[] = [
      ['401', { status: 401 }],
      ['401 with any body', { status: 401, text: '<html>' }],
      ['403 invalid_token', { status: 403, body: { error: 'invalid_token' } }],
      ['400 invalid_token', { status: 400, body: { error: 'invalid_token', error_description: 'expired' } }],
      ['403 in its own words', { status: 403, body: { message: 'Token expirado' } }],
      ['403 with a challenge', { status: 403, headers: { 'www-authenticate': 'Bearer error="invalid_token"' } }],
    ];

    it.each(OLD)('takes one new token after %s, for writes too', async (_, reply) => {
      psp.script = ({ headers }) => (headers.authorization === 'Bearer t1' ? reply : { status: 201, body: aCob() });
      expect((await make().putCob(TXID, BODY)).kind).toBe('ok');
      expect(psp.tokenRequests).toHaveLength(2);
      expect(psp.exchanges).toHaveLength(2);
    });

    it.each(OLD)('is unavailable when the new token is refused too, after %s', async (_, reply) => {
      psp.script = () => reply;
      expect(await errorOf(make().putCob(TXID, BODY))).toMatchObject({
        kind: 'unavailable',
        reason: `http_${reply.status}`,
      });
      expect(psp.tokenRequests).toHaveLength(2);
      expect(psp.exchanges).toHaveLength(2);
    });

    it.each([{ expires_in: 0 }, { expires_in: '3600', scope: ['cob.read'] }, {}])(
      'uses one token for several calls if its answer has %j',
      async (own) => {
        psp.tokenScript = () => ({ status: 201, text: `\ufeff${JSON.stringify({ access_token: 't1', ...own })}` });
        psp.script = () => ({ status: 200, body: aCob() });
        const client = make();
        for (let call = 0; call < 3; call += 1) await client.getCob(TXID);
        expect(psp.tokenRequests).toHaveLength(1);
      },
    );
  });

  describe.each(Object.keys(PROFILES))('at %s', (name) => {
    const OPERATIONS: Readonly<Record<string, (client: PixApiClient) => Promise<PspAnswer>>> = {
      'cob.put': (client) => client.putCob(TXID, BODY),
      'cob.get': (client) => client.getCob(TXID),
      'cob.patch': (client) => client.patchCob(TXID, { status: 'REMOVIDA_PELO_USUARIO_RECEBEDOR' }),
      'pix.get': (client) => client.getPix(E2E),
      'pix.list': (client) => client.listPix({}),
      'return.put': (client) => client.putReturn(E2E, 'r1', { valor: '1.00' }),
      'return.get': (client) => client.getReturn(E2E, 'r1'),
      'webhook.put': (client) => client.registerWebhook('https://example.com/x'),
      'webhook.get': (client) => client.webhook(),
    };

    it('accepts every 2xx with a readable body as success, in every operation', async () => {
      const variables = Object.fromEntries(
        Object.keys(findProfile(name)!.variables).map((variable) => [variable, '1']),
      );
      const client = make({ credentials: { ...aConnection(psp).credentials, variables } }, {}, findProfile(name));
      for (const [operation, call] of Object.entries(OPERATIONS)) {
        for (const status of [200, 201, 202, 203, 206, 207]) {
          psp.script = () => ({ status, text: `\ufeff${JSON.stringify({ operation })}` });
          expect(await call(client)).toEqual({ kind: 'ok', body: { operation } });
        }
        for (const status of [200, 201, 204]) {
          psp.script = () => ({ status });
          expect(await call(client)).toEqual({ kind: 'ok', body: null });
        }
      }
    });
  });

  it.each([
    ['a million levels', '['.repeat(1_000_000)],
    ['a million levels that end', `${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}`],
    ['half a million values', `[${'1,'.repeat(500_000)}1]`],
    ['HTML', '<html>'],
  ])('does not parse an answer of %s', async (_, text) => {
    psp.script = () => ({ status: 200, text });
    expect(await make().getPix(E2E)).toEqual({ kind: 'ok', body: text });
    psp.script = () => ({ status: 400, text });
    expect(await errorOf(make().putCob(TXID, BODY))).toMatchObject({ kind: 'unknown', reason: 'http_400' });
  });

  it('gives up on a body that arrives too slowly', async () => {
    const drips = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const timer = setInterval(() => response.write(' '), 10);
      response.on('close', () => clearInterval(timer));
    });
    await new Promise<void>((resolve) => drips.listen(0, '127.0.0.1', resolve));
    const { port } = drips.address() as AddressInfo;
    const client = make({ baseUrl: `http://127.0.0.1:${port}` }, { limits: { answerMs: 150 } });
    expect(await errorOf(client.putCob(TXID, BODY))).toMatchObject({ kind: 'unknown', reason: 'timeout' });
    await new Promise((resolve) => drips.close(resolve));
  });

  it.each([
    ['efi', '/v2/webhook/+5511987654321'],
    ['inter', '/pix/v2/webhook/%2B5511987654321'],
    ['standard', '/webhook/%2B5511987654321'],
  ])('writes a phone key in the webhook path in the form that %s expects', async (name, path) => {
    psp.script = () => ({ status: 200, body: {} });
    await make({ pixKey: '+5511987654321' }, {}, findProfile(name)).webhook();
    expect(psp.exchanges[0]?.asked.path).toBe(path);
  });

  it('sends the account number to Inter in all calls if the connection has one, and nowhere else', async () => {
    psp.script = () => ({ status: 200, body: {} });
    const named = (variables: Record<string, string>): PixApiClient =>
      make({ credentials: { ...aConnection(psp).credentials, variables } }, {}, findProfile('inter'));
    for (const client of [named({ conta_corrente: '12345678' }), named({})]) {
      await client.getCob(TXID);
      await client.putReturn(E2E, 'r1', { valor: '1.00' });
      await client.registerWebhook('https://example.com/x');
    }
    const sent = psp.exchanges.map(({ asked }) => asked.headers['x-conta-corrente']);
    expect(sent).toEqual([...Array<string>(3).fill('12345678'), undefined, undefined, undefined]);
  });

  it.each([
    ['basic', 'form', 'body'],
    ['body', 'json', 'body'],
    ['mtls', 'form', 'query'],
  ] as const)(
    'requests a token in the style %s, %s, grant in the %s',
    async (authentication, contentType, grantType) => {
      psp.script = () => ({ status: 200, body: aCob() });
      const style = { authentication, contentType, grantType, scope: 'cob.read', headers: { 'x-app': '{app}' } };
      const profile = { ...STANDARD, token: { value: style, source: null } };
      const connection = aConnection(psp);
      const credentials = { ...connection.credentials, variables: { app: 'a7' } };
      await make({ credentials }, {}, profile).getCob(TXID);
      const [asked] = psp.tokenRequests;
      const fields = contentType === 'json' ? asked?.body : Object.fromEntries(new URLSearchParams(asked?.text));
      expect(fields).toEqual({
        scope: 'cob.read',
        ...(grantType === 'body' ? { grant_type: 'client_credentials' } : {}),
        ...(authentication === 'basic' ? {} : { client_id: 'the-client' }),
        ...(authentication === 'body' ? { client_secret: 'the-secret' } : {}),
      });
      expect(asked?.query).toEqual(grantType === 'query' ? { grant_type: 'client_credentials' } : {});
      expect(asked?.headers['x-app']).toBe('a7');
      expect(asked?.headers.authorization !== undefined).toBe(authentication === 'basic');
    },
  );

  it('adds the prefix, query and headers of the profile, each in its place', async () => {
    psp.script = ({ method }) => ({ status: method === 'PUT' ? 201 : 200, body: aCob() });
    const profile: PspProfile = {
      ...STANDARD,
      prefix: { value: { all: '/api/v1', only: { 'cob.patch': '/api/v2' } }, source: null },
      query: { value: { 'gw-dev-app-key': '{application_key}' }, source: null },
      headers: { value: { 'x-correlationID': '{uuid}', client_id: '{client_id}' }, source: null },
      webhookHeaders: { value: { 'x-skip': 'true' }, source: null },
    };
    const connection = aConnection(psp);
    const client = make(
      { credentials: { ...connection.credentials, variables: { application_key: 'k 7' } } },
      {},
      profile,
    );
    await client.putCob(TXID, BODY);
    await client.patchCob(TXID, { status: 'REMOVIDA_PELO_USUARIO_RECEBEDOR' });
    await client.registerWebhook('https://example.com/x');
    const asked = psp.exchanges.map((each) => each.asked);
    expect(asked.map(({ path }) => path)).toEqual([
      `/api/v1/cob/${TXID}`,
      `/api/v2/cob/${TXID}`,
      `/api/v1/webhook/${client.pixKey}`,
    ]);
    expect(asked.every(({ query }) => query['gw-dev-app-key'] === 'k 7')).toBe(true);
    expect(asked.every(({ headers }) => headers['client_id'] === 'the-client')).toBe(true);
    expect(new Set(asked.map(({ headers }) => headers['x-correlationid'])).size).toBe(3);
    expect(asked.map(({ headers }) => headers['x-skip'])).toEqual([undefined, undefined, 'true']);
  });

  it('repeats a GET on 500, 503, 429 and a broken connection, a limited number of times', async () => {
    const replies = [{ status: 500 }, 'drop', { status: 429, headers: { 'retry-after': '0' } }] as const;
    let call = 0;
    psp.script = () => replies[call++] ?? { status: 200, body: aCob() };
    expect((await make().getCob(TXID)).kind).toBe('ok');
    expect(psp.exchanges).toHaveLength(4);
    psp.script = () => ({ status: 503, headers: { 'retry-after': '0' } });
    expect(await errorOf(make().getCob(TXID))).toMatchObject({ kind: 'unknown', reason: 'http_503' });
    expect(psp.exchanges).toHaveLength(8);
  });

  it('waits for Retry-After, and gives up at once when that is too long', async () => {
    let call = 0;
    psp.script = () =>
      call++ === 0 ? { status: 429, headers: { 'retry-after': '1' } } : { status: 200, body: aCob() };
    const started = performance.now();
    expect((await make().getCob(TXID)).kind).toBe('ok');
    expect(performance.now() - started).toBeGreaterThan(900);
    psp.script = () => ({ status: 429, headers: { 'retry-after': '3600' } });
    expect(await errorOf(make().getCob(TXID))).toMatchObject({ kind: 'unavailable', reason: 'http_429' });
  });

  describe('a write', () => {
    it.each([
      ['a 500', { status: 500 } as const, 'http_500'],
      ['a 503, which a gateway says of what it has passed on', { status: 503 } as const, 'http_503'],
      ['a broken connection', 'drop' as const, 'UND_ERR_SOCKET'],
      ["a gateway's HTML", { status: 400, text: '<html>' } as const, 'http_400'],
      ['a redirect', { status: 307, headers: { location: '/' } } as const, 'http_307'],
    ])('has an unknown outcome and is not repeated after %s', async (_, reply, code) => {
      psp.script = () => reply;
      expect(await errorOf(make().putCob(TXID, BODY))).toMatchObject({ kind: 'unknown', reason: code });
      expect(psp.exchanges).toHaveLength(1);
    });

    it('has an unknown outcome when no answer comes in time', async () => {
      psp.script = () => 'hang';
      const client = make({}, { limits: { answerMs: 100 } });
      expect(await errorOf(client.putCob(TXID, BODY))).toMatchObject({ kind: 'unknown', reason: 'timeout' });
    });

    it('has an unknown outcome when the answer is too large', async () => {
      psp.script = () => ({ status: 201, text: 'x'.repeat(5 * 1024 * 1024) });
      expect(await errorOf(make().putCob(TXID, BODY))).toMatchObject({ kind: 'unknown', reason: 'answer_too_large' });
    });

    it.each(
      Object.keys({ ...ENDLESS_ANSWERS, ...ENDLESS_BODIES }).filter((name) => name !== 'blank lines after the answer'),
    )('has an unknown outcome when the answer never ends, with %s', async (name) => {
      const peer = await EndlessPeer.listen({ ...ENDLESS_ANSWERS, ...ENDLESS_BODIES }[name] ?? ['', '']);
      const client = make({ baseUrl: peer.url }, { limits: { answerMs: 30_000, callMs: 30_000 } });
      const { kind, reason } = await errorOf(client.putCob(TXID, BODY));
      expect(kind).toBe('unknown');
      expect(reason).toMatch(/^(?:endless_answer|answer_too_large|UND_ERR_HEADERS_OVERFLOW|HPE_\w+)$/);
      await waitFor('the connection to be closed', () => peer.closed.length > 0);
      expect(peer.closed[0]).toBeLessThan(32 * 1024 * 1024);
      await peer.stop();
    });

    it('is repeated once after a 429, and is unavailable after a second one', async () => {
      psp.script = () => ({ status: 429, headers: { 'retry-after': '0' } });
      expect(await errorOf(make().putCob(TXID, BODY))).toMatchObject({ kind: 'unavailable', reason: 'http_429' });
      expect(psp.exchanges).toHaveLength(2);
    });

    it('sends the current body at each attempt, and stops once the body is null', async () => {
      psp.script = () => ({ status: 429, headers: { 'retry-after': '0' } });
      const bodies = [7, 3].map((expiracao) => ({ ...COB, calendario: { expiracao } }));
      const left = [...bodies];
      await errorOf(make().putCob(TXID, () => left.shift() ?? null));
      expect(psp.exchanges.map(({ asked }) => asked.body)).toEqual(bodies);
      const once = [COB];
      expect(await errorOf(make().putCob(TXID, () => once.shift() ?? null))).toMatchObject({
        kind: 'unavailable',
        reason: 'too_late',
      });
      expect(psp.exchanges).toHaveLength(3);
    });

    it('is unavailable when nobody listens, the name does not resolve or access is denied', async () => {
      const port = await freePort();
      const away = { baseUrl: `http://127.0.0.1:${port}` };
      expect(await errorOf(make(away).putCob(TXID, BODY))).toMatchObject({
        kind: 'unavailable',
        reason: 'ECONNREFUSED',
      });
      const nowhere = { baseUrl: 'http://no-such-host.invalid' };
      expect((await errorOf(make(nowhere).putCob(TXID, BODY))).kind).toBe('unavailable');
      psp.script = () => ({ status: 403, body: aProblem('AcessoNegado', 403) });
      expect(await errorOf(make().putCob(TXID, BODY))).toMatchObject({ kind: 'unavailable', reason: 'http_403' });
      expect(psp.exchanges).toHaveLength(1);
    });

    it('is unavailable without a token, whatever the reason', async () => {
      for (const reply of [{ status: 500 }, { status: 401 }, { status: 200, body: {} }, 'drop'] as const) {
        psp.tokenScript = () => reply;
        expect((await errorOf(make().putCob(TXID, BODY))).kind).toBe('unavailable');
      }
      expect(psp.exchanges).toHaveLength(0);
    });

    it('is refused with the cause that the PSP names', async () => {
      const violacoes = [{ razao: 'zero', propriedade: 'cob.valor.original', valor: '0.00' }];
      psp.script = () => ({ status: 400, body: aProblem('CobOperacaoInvalida', 400, violacoes) });
      expect(await make().putCob(TXID, BODY)).toMatchObject({
        kind: 'refused',
        status: 400,
        problem: { code: 'CobOperacaoInvalida', properties: ['cob.valor.original'] },
      });
    });
  });

  it("keeps to the profile's rate limit", async () => {
    psp.script = () => ({ status: 200, body: aCob() });
    const client = make({}, {}, { ...STANDARD, rateLimit: { value: { rate: 10, burst: 2 }, source: null } });
    const started = performance.now();
    await Promise.all(Array.from({ length: 5 }, () => client.getCob(TXID)));
    expect(performance.now() - started).toBeGreaterThan(250);
  });

  it('puts nothing secret or personal in an error', async () => {
    psp.script = () => ({ status: 500, text: 'the-secret 12345678909' });
    const error = await errorOf(make().getPix(E2E));
    expect(`${error.message} ${error.stack}`).not.toMatch(/the-secret|12345678909|t1\b|Bearer/);
  });

  it('reports how each call ended', async () => {
    const seen: string[] = [];
    const observe = (operation: string, outcome: string): void => void seen.push(`${operation} ${outcome}`);
    const client = make({}, { observe });
    psp.script = () => ({ status: 200, body: aCob() });
    await client.getCob(TXID);
    psp.script = () => ({ status: 404, body: aProblem('NaoEncontrado', 404) });
    await client.getCob(TXID);
    psp.script = () => ({ status: 500 });
    await errorOf(client.putCob(TXID, BODY));
    expect(seen).toEqual(['cob.get ok', 'cob.get not_found', 'cob.put unknown']);
  });

  describe('with mutual TLS', () => {
    let bank: FakePsp;
    const certificate = { kind: 'pem', cert: SELF_SIGNED.cert, key: SELF_SIGNED.key, passphrase: null } as const;

    beforeEach(async () => {
      bank = await startPsp({ ...SELF_SIGNED, ca: SELF_SIGNED.cert, requestCert: true, rejectUnauthorized: true });
      bank.script = () => ({ status: 201, body: aCob() });
    });
    afterEach(() => bank.stop());

    function secured(own: Partial<PixApiConnection['credentials']>): PixApiClient {
      const connection = aConnection(bank);
      const client = new PixApiClient({ ...connection, credentials: { ...connection.credentials, ...own } }, STANDARD);
      clients.push(client);
      return client;
    }

    it('shows its certificate, also to the token endpoint', async () => {
      expect((await secured({ certificate, ca: SELF_SIGNED.cert }).putCob(TXID, BODY)).kind).toBe('ok');
    });

    it('shows a certificate from a PFX', async () => {
      const pfx = { kind: 'pfx', ...SELF_SIGNED_PFX } as const;
      expect((await secured({ certificate: pfx, ca: SELF_SIGNED.cert }).putCob(TXID, BODY)).kind).toBe('ok');
    });

    it('is unavailable without its certificate, and the PSP has received nothing', async () => {
      expect((await errorOf(secured({ ca: SELF_SIGNED.cert }).putCob(TXID, BODY))).kind).toBe('unavailable');
      expect(bank.tokenRequests).toHaveLength(0);
    });

    it('is unavailable when the server is not trusted', async () => {
      const error = await errorOf(secured({ certificate }).putCob(TXID, BODY));
      expect(error).toMatchObject({ kind: 'unavailable' });
      expect(bank.tokenRequests).toHaveLength(0);
    });
  });

  it('cannot be created without a URL or with an unreadable certificate', () => {
    expect(() => make({ baseUrl: null })).toThrow('base URL');
    const certificate = { kind: 'pem', cert: 'x', key: 'y', passphrase: null } as const;
    expect(() => make({ credentials: { ...aConnection(psp).credentials, certificate } })).toThrow();
  });
});
