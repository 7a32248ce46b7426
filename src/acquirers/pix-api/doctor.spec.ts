import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { SELF_SIGNED, SELF_SIGNED_PFX } from '../../../test/support/self-signed.js';
import { SecretBox } from '../../core/crypto/index.js';
import { callbackProof } from './callback-probe.js';
import type { PixApiConnection } from './connection.js';
import { certificateExpiry } from './credentials.js';
import { findDesk } from './desks/index.js';
import { check, type DoctorOptions } from './doctor.js';
import type { Finding } from './finding.js';
import { SCOPES } from './profile.js';
import { aCob, aConnection, aProblem, type FakePsp, type Reply, type Script, startPsp } from './psp.fixture.js';

const NOW = new Date('2026-09-09T20:15:00Z');
const CERTIFICATE = { kind: 'pem', cert: SELF_SIGNED.cert, key: SELF_SIGNED.key, passphrase: null } as const;
const SECRETS = new SecretBox('11'.repeat(32));
const OLD_PROOF = SECRETS.sign('pix-callback-probe', `c1.${'a'.repeat(43)}`);
const END = new Date('2120-01-01T00:00:00Z');

describe('the doctor', () => {
  let psp: FakePsp;
  let registered: string | null;
  let service: Server;
  let callbackUrl: string;
  let answer: { status: number; headers: Record<string, string> };
  /** The service that answers the probe; null: a server that proves nothing. */
  let answering: { secrets: SecretBox; connectionId: string } | null;

  const healthy: Script = ({ method, path, body }) => {
    if (path.startsWith('/webhook')) {
      if (method === 'PUT') registered = (body as { webhookUrl: string }).webhookUrl;
      return registered === null
        ? { status: 404, body: aProblem('WebhookNaoEncontrado', 404) }
        : { status: 200, body: { webhookUrl: registered } };
    }
    return { status: method === 'PUT' ? 201 : 200, body: aCob({ valor: { original: '0.01' } }) };
  };

  beforeEach(async () => {
    psp = await startPsp({ ...SELF_SIGNED, ca: SELF_SIGNED.cert, requestCert: true, rejectUnauthorized: true });
    registered = null;
    answer = { status: 200, headers: { 'X-Api-Version': '2026-11-01' } };
    answering = { secrets: SECRETS, connectionId: aConnection(psp).id };
    service = createServer(({ headers }, response) => {
      const nonce = headers['x-callback-nonce'];
      const proof = answering && callbackProof(answering.secrets, answering.connectionId, nonce);
      response
        .writeHead(answer.status, { ...answer.headers, ...(proof !== null && { 'X-Callback-Proof': proof }) })
        .end();
    });
    await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
    callbackUrl = `http://127.0.0.1:${(service.address() as AddressInfo).port}/callbacks/pix/c1/its-own-word`;
    psp.script = healthy;
    const body = { access_token: 't', expires_in: 300, scope: SCOPES };
    psp.tokenScript = () => ({ status: 200, body });
  });
  afterEach(async () => {
    await psp.stop();
    await new Promise((resolve) => service.close(resolve).closeAllConnections());
  });

  function connection(own: Partial<PixApiConnection> = {}): PixApiConnection {
    const base = aConnection(psp);
    const credentials = { ...base.credentials, certificate: CERTIFICATE, ca: SELF_SIGNED.cert };
    return { ...base, credentials, ...own };
  }

  async function examine(own: Partial<PixApiConnection> = {}, more: Partial<DoctorOptions> = {}): Promise<Finding[]> {
    const findings: Finding[] = [];
    const usual = { callbackUrl, secrets: SECRETS, registration: 'missing', certificatesChecked: false } as const;
    for await (const finding of check(connection(own), { ...usual, now: NOW, ...more })) findings.push(finding);
    expect(JSON.stringify(findings)).not.toMatch(/the-secret|its-own-word/);
    return findings;
  }
  const brief = (findings: Finding[]): unknown[] => findings.map(({ step, ok }) => [step, ok]);

  it('finds a healthy connection healthy, and registers its callback', async () => {
    expect(brief(await examine())).toEqual(
      ['settings', 'certificate', 'tls', 'token', 'scope', 'charge', 'callback', 'webhook'].map((step) => [step, true]),
    );
    expect(registered).toBe(callbackUrl);
    const charge = psp.exchanges.filter(({ asked }) => asked.path.startsWith('/cob/'));
    expect(charge.map(({ asked }) => asked.method)).toEqual(['PUT', 'PATCH']);
    expect(charge[0]?.asked.body).toMatchObject({ valor: { original: '0.01' }, calendario: { expiracao: 60 } });
    expect((await examine()).at(-1)).toMatchObject({ ok: true, detail: 'registered' });
  });

  it.each(['/', '/pix', '/pix/'])('recognizes its address if the PSP shows %s behind it', async (suffix) => {
    registered = `${callbackUrl}${suffix}`;
    expect((await examine()).at(-1)).toMatchObject({ ok: true, detail: 'registered' });
  });

  it('reports a PSP that makes a charge with another amount', async () => {
    psp.script = (asked) => (asked.path.startsWith('/cob') ? { status: 201, body: aCob() } : healthy(asked));
    const charge = (await examine()).find(({ step }) => step === 'charge');
    expect(charge).toMatchObject({ ok: false, detail: 'its answer names another amount' });
  });

  it('replaces a registered URL only if told to, and names its host without its path', async () => {
    const other = 'https://somebody.example.com/its-own-word';
    registered = other;
    const kept = { step: 'webhook', detail: expect.stringContaining('https://somebody.example.com/…') };
    expect((await examine()).at(-1)).toMatchObject({
      ...kept,
      ok: false,
      remedy: expect.stringContaining('--replace'),
    });
    expect((await examine({}, { registration: 'never' })).at(-1)).toMatchObject({ ...kept, ok: 'warning' });
    expect(registered).toBe(other);
    expect((await examine({}, { registration: 'replace' })).at(-1)).toMatchObject({ ...kept, ok: true });
    expect(registered).toBe(callbackUrl);
  });

  it('reports without registering that no URL is registered', async () => {
    expect((await examine({}, { registration: 'never' })).at(-1)).toMatchObject({ step: 'webhook', ok: 'warning' });
    expect(registered).toBeNull();
  });

  it.each([
    ['somebody else', { status: 200, headers: {} }, 'somebody else answers (HTTP 200)'],
    ['a page that leads elsewhere', { status: 302, headers: { Location: '/' } }, 'somebody else answers (HTTP 302)'],
    ['another Recebe', { status: 404, headers: { 'X-Api-Version': '1' } }, 'another Recebe'],
    ['another Recebe that takes anything', { status: 200, headers: { 'X-Api-Version': '1' } }, 'another Recebe'],
    [
      'one that repeats an old proof',
      { status: 200, headers: { 'X-Api-Version': '1', 'X-Callback-Proof': OLD_PROOF } },
      'another Recebe',
    ],
  ])('registers no address at which %s answers', async (_who, given, words) => {
    [answer, answering] = [given, null];
    const [callback, webhook] = (await examine()).slice(-2);
    expect(callback).toMatchObject({ step: 'callback', ok: false, detail: expect.stringContaining(words) });
    expect(callback?.remedy).toContain('PUBLIC_BASE_URL');
    expect(webhook).toMatchObject({ step: 'webhook', ok: 'skipped' });
    expect(registered).toBeNull();
  });

  it.each([
    ['with other keys', new SecretBox('22'.repeat(32)), null],
    ['of another connection', SECRETS, 'another'],
  ])('registers no address at which a Recebe %s answers', async (_which, secrets, connectionId) => {
    answering = { secrets, connectionId: connectionId ?? aConnection(psp).id };
    expect((await examine()).at(-2)).toMatchObject({ ok: false, detail: expect.stringContaining('another Recebe') });
    // If only the PSP may call, a refusal is expected, but another Recebe is still found.
    answer = { ...answer, status: 404 };
    const [callback] = (await examine({}, { certificatesChecked: true })).slice(-2);
    expect(callback).toMatchObject({ ok: false, detail: expect.stringContaining('another Recebe') });
    expect(registered).toBeNull();
  });

  it('registers no address at which this service refuses the call', async () => {
    answer = { ...answer, status: 404 };
    expect((await examine()).at(-2)).toMatchObject({ ok: false, detail: expect.stringContaining('this service') });
    expect(registered).toBeNull();
  });

  it('registers no address at which nobody answers, and none when the address of the service is unknown', async () => {
    const nobody = await examine({}, { callbackUrl: 'http://127.0.0.1:1/' });
    expect(nobody.at(-2)).toMatchObject({ ok: false, detail: expect.stringContaining('nobody answers') });
    const unknown = await examine({}, { callbackUrl: null });
    expect(unknown.at(-2)).toMatchObject({ step: 'callback', ok: false, remedy: expect.stringContaining('Start') });
    expect(unknown.at(-1)).toMatchObject({ step: 'webhook', ok: 'skipped' });
    const looking = await examine({}, { callbackUrl: null, registration: 'never' });
    expect(looking.at(-1)).toMatchObject({ step: 'callback', ok: 'warning' });
    expect(registered).toBeNull();
  });

  it('registers an address behind a proxy that accepts only the PSP', async () => {
    answer = { ...answer, status: 404 };
    const [callback, webhook] = (await examine({}, { certificatesChecked: true })).slice(-2);
    expect(callback).toMatchObject({ step: 'callback', ok: 'warning' });
    expect(webhook).toMatchObject({ step: 'webhook', ok: true });
  });

  it.each([
    [61, true],
    [59, 'warning'],
    [6, 'warning'],
    [-2, false],
  ])('a certificate with %i days left is %s', async (days, ok) => {
    const findings = await examine({}, { now: new Date(END.getTime() - days * 86_400_000) });
    expect(findings[1]).toMatchObject({ step: 'certificate', ok });
    if (ok !== true) expect(findings[1]?.remedy).toContain('new certificate');
    expect(findings.slice(2).every((one) => one.ok === 'skipped')).toBe(ok === false);
  });

  it('reports missing settings, and skips the other steps', async () => {
    const findings = await examine({ profile: 'bb' });
    expect(findings[0]).toMatchObject({ step: 'settings', ok: false });
    expect(findings[0]?.detail).toContain('gw-dev-app-key');
    expect(findings).toHaveLength(8);
    expect(psp.tokenRequests).toHaveLength(0);
    expect((await examine({ profile: 'nobody' }))[0]?.ok).toBe(false);
  });

  it('reports that a certificate cannot be read', async () => {
    const certificate = { kind: 'pfx', pfx: SELF_SIGNED_PFX.pfx, passphrase: 'wrong' } as const;
    const credentials = { ...connection().credentials, certificate };
    const [, found] = await examine({ credentials });
    expect(found).toMatchObject({ step: 'certificate', ok: false });
    expect(found?.remedy).toContain('passphrase');
  });

  it('reports a server that is not trusted, or does not exist', async () => {
    const untrusted = await examine({ credentials: { ...connection().credentials, ca: null } });
    expect(untrusted[2]).toMatchObject({ step: 'tls', ok: false });
    expect(untrusted[2]?.remedy).toContain('authority');
    const away = await examine({ baseUrl: 'https://no-such-host.invalid' });
    expect(away[2]).toMatchObject({ step: 'tls', ok: false });
  });

  describe('at a PSP that can send money', () => {
    const ALL = `${SCOPES} ${findDesk('efi')
      ?.scopes.map(({ scope }) => scope)
      .join(' ')}`;
    const grant = (scope: string | undefined): void => {
      psp.tokenScript = () => ({ status: 200, body: { access_token: 't', expires_in: 300, scope } });
    };
    const payouts = async (more: Partial<DoctorOptions> = {}): Promise<Finding | undefined> => {
      const finding = (await examine({ profile: 'efi' }, more)).at(-1);
      expect(finding?.step).toBe('payouts');
      return finding;
    };
    let lookUp: Reply;
    beforeEach(() => {
      lookUp = { status: 404, body: aProblem('PixEnviadoNaoEncontrado', 404) };
      grant(ALL);
      psp.script = (asked) =>
        asked.path.startsWith('/v2/gn/') ? lookUp : healthy({ ...asked, path: asked.path.replace('/v2', '') });
    });

    it('proves the scopes, the webhook and a look-up, and sends nothing', async () => {
      expect(await payouts()).toMatchObject({ ok: true, remedy: null });
      const asked = psp.exchanges.filter(({ asked: { path } }) => path.startsWith('/v2/gn/'));
      expect(asked.map(({ asked: { method } }) => method)).toEqual(['GET']);
    });

    it.each<[string, string | undefined, unknown]>([
      ['without the scope to send', SCOPES, { ok: 'warning', detail: expect.stringContaining('pix.send') }],
      [
        'without another scope',
        ALL.replace(' gn.balance.read', ''),
        { ok: 'warning', detail: expect.stringContaining('gn.balance.read') },
      ],
      ['without a report of its scopes', undefined, { ok: 'warning', remedy: null }],
    ])('warns %s', async (_, scope, expected) => {
      grant(scope);
      expect(await payouts()).toMatchObject(expected as object);
    });

    it('names the strategy that serves until money can be sent', async () => {
      grant(SCOPES);
      expect((await payouts())?.remedy).toContain('"strategy": "devolution"');
    });

    it('reports that the webhook is not registered', async () => {
      const missing = { remedy: expect.stringContaining('--register-webhook') };
      expect(await payouts({ registration: 'never' })).toMatchObject({ ok: 'warning', ...missing });
      registered = 'https://somebody.example.com/';
      expect(await payouts()).toMatchObject({ ok: false, ...missing });
    });

    it.each<[string, Reply]>([
      ['is not allowed', { status: 403, body: { error: 'insufficient_scope' } }],
      ['ends at a gateway', { status: 404, body: { message: 'no Route matched' } }],
    ])('fails when a look-up %s', async (_, answer) => {
      lookUp = answer;
      expect(await payouts()).toMatchObject({ ok: false });
    });

    it('skips the step without a token', async () => {
      psp.tokenScript = () => ({ status: 401 });
      expect(await payouts()).toMatchObject({ ok: 'skipped' });
    });
  });

  it('reports a missing token, missing scopes, or a refused charge', async () => {
    psp.script = () => ({ status: 400, body: aProblem('CobOperacaoInvalida', 400) });
    psp.tokenScript = () => ({ status: 200, body: { access_token: 't', expires_in: 300, scope: 'cob.read' } });
    const findings = await examine();
    expect(findings[4]).toMatchObject({ step: 'scope', ok: 'warning' });
    expect(findings[5]).toMatchObject({ step: 'charge', ok: false });
    expect(findings[5]?.detail).toContain('CobOperacaoInvalida');
    psp.tokenScript = () => ({ status: 401 });
    const denied = await examine();
    expect(denied[3]).toMatchObject({ step: 'token', ok: false });
    expect(brief(denied.slice(4))).toEqual(['scope', 'charge', 'callback', 'webhook'].map((step) => [step, 'skipped']));
  });
});

describe('certificateExpiry', () => {
  it('reads the expiry from a PEM certificate and from a PFX', () => {
    expect(certificateExpiry(CERTIFICATE)).toEqual(END);
    expect(certificateExpiry({ kind: 'pfx', ...SELF_SIGNED_PFX })).toEqual(END);
    expect(() => certificateExpiry({ kind: 'pfx', pfx: 'AAAA', passphrase: null })).toThrow();
  });
});
