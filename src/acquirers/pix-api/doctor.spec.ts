import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { SELF_SIGNED, SELF_SIGNED_PFX } from '../../../test/support/self-signed.js';
import type { PixApiConnection } from './connection.js';
import { certificateExpiry } from './credentials.js';
import { check, type Finding } from './doctor.js';
import { SCOPES } from './profile.js';
import { aCob, aConnection, aProblem, type FakePsp, type Script, startPsp } from './psp.fixture.js';

const CALLBACK = 'https://recebe.example.com/callbacks/pix/c1/secret';
const NOW = new Date('2026-09-09T20:15:00Z');
const CERTIFICATE = { kind: 'pem', cert: SELF_SIGNED.cert, key: SELF_SIGNED.key, passphrase: null } as const;
const END = new Date('2120-01-01T00:00:00Z');

describe('the doctor', () => {
  let psp: FakePsp;
  let registered: string | null;

  const healthy: Script = ({ method, path, body }) => {
    if (path.startsWith('/webhook')) {
      if (method === 'PUT') registered = (body as { webhookUrl: string }).webhookUrl;
      return registered === null
        ? { status: 404, body: aProblem('WebhookNaoEncontrado', 404) }
        : { status: 200, body: { webhookUrl: registered } };
    }
    return { status: method === 'PUT' ? 201 : 200, body: aCob() };
  };

  beforeEach(async () => {
    psp = await startPsp({ ...SELF_SIGNED, ca: SELF_SIGNED.cert, requestCert: true, rejectUnauthorized: true });
    registered = null;
    psp.script = healthy;
    const body = { access_token: 't', expires_in: 300, scope: SCOPES };
    psp.tokenScript = () => ({ status: 200, body });
  });
  afterEach(() => psp.stop());

  function connection(own: Partial<PixApiConnection> = {}): PixApiConnection {
    const base = aConnection(psp);
    const credentials = { ...base.credentials, certificate: CERTIFICATE, ca: SELF_SIGNED.cert };
    return { ...base, credentials, ...own };
  }

  async function examine(own: Partial<PixApiConnection> = {}, now = NOW): Promise<Finding[]> {
    const findings: Finding[] = [];
    for await (const finding of check(connection(own), { callbackUrl: CALLBACK, now })) findings.push(finding);
    expect(JSON.stringify(findings)).not.toContain('the-secret');
    return findings;
  }
  const brief = (findings: Finding[]): unknown[] => findings.map(({ step, ok }) => [step, ok]);

  it('finds a healthy connection healthy, and registers its callback', async () => {
    expect(brief(await examine())).toEqual(
      ['settings', 'certificate', 'tls', 'token', 'scope', 'charge', 'webhook'].map((step) => [step, true]),
    );
    expect(registered).toBe(CALLBACK);
    const charge = psp.exchanges.filter(({ asked }) => asked.path.startsWith('/cob/'));
    expect(charge.map(({ asked }) => asked.method)).toEqual(['PUT', 'PATCH']);
    expect(charge[0]?.asked.body).toMatchObject({ valor: { original: '0.01' }, calendario: { expiracao: 60 } });
    expect((await examine()).at(-1)).toMatchObject({ ok: true, detail: 'registered' });
  });

  it('never takes a registered URL away', async () => {
    registered = 'https://somebody.example.com/';
    expect((await examine()).at(-1)).toMatchObject({ step: 'webhook', ok: false });
    expect(registered).toBe('https://somebody.example.com/');
  });

  it.each([
    [61, true],
    [59, 'warning'],
    [6, 'warning'],
    [-2, false],
  ])('a certificate with %i days left is %s', async (days, ok) => {
    const findings = await examine({}, new Date(END.getTime() - days * 86_400_000));
    expect(findings[1]).toMatchObject({ step: 'certificate', ok });
    if (ok !== true) expect(findings[1]?.remedy).toContain('new certificate');
    expect(findings.slice(2).every(({ detail }) => detail.startsWith('skipped'))).toBe(ok === false);
  });

  it('says what is missing, and skips the rest', async () => {
    const findings = await examine({ profile: 'bb' });
    expect(findings[0]).toMatchObject({ step: 'settings', ok: false });
    expect(findings[0]?.detail).toContain('gw-dev-app-key');
    expect(findings).toHaveLength(7);
    expect(psp.tokenRequests).toHaveLength(0);
    expect((await examine({ profile: 'nobody' }))[0]?.ok).toBe(false);
  });

  it('says that a certificate cannot be read', async () => {
    const certificate = { kind: 'pfx', pfx: SELF_SIGNED_PFX.pfx, passphrase: 'wrong' } as const;
    const credentials = { ...connection().credentials, certificate };
    const [, found] = await examine({ credentials });
    expect(found).toMatchObject({ step: 'certificate', ok: false });
    expect(found?.remedy).toContain('passphrase');
  });

  it('says that the server is not trusted, or not there', async () => {
    const untrusted = await examine({ credentials: { ...connection().credentials, ca: null } });
    expect(untrusted[2]).toMatchObject({ step: 'tls', ok: false });
    expect(untrusted[2]?.remedy).toContain('authority');
    const away = await examine({ baseUrl: 'https://no-such-host.invalid' });
    expect(away[2]).toMatchObject({ step: 'tls', ok: false });
  });

  it('says that no token is to be had, that scopes are missing, or that the charge is refused', async () => {
    psp.script = () => ({ status: 400, body: aProblem('CobOperacaoInvalida', 400) });
    psp.tokenScript = () => ({ status: 200, body: { access_token: 't', expires_in: 300, scope: 'cob.read' } });
    const findings = await examine();
    expect(findings[4]).toMatchObject({ step: 'scope', ok: 'warning' });
    expect(findings[5]).toMatchObject({ step: 'charge', ok: false });
    expect(findings[5]?.detail).toContain('CobOperacaoInvalida');
    psp.tokenScript = () => ({ status: 401 });
    const denied = await examine();
    expect(denied[3]).toMatchObject({ step: 'token', ok: false });
    expect(brief(denied.slice(4))).toEqual(['scope', 'charge', 'webhook'].map((step) => [step, false]));
  });
});

describe('certificateExpiry', () => {
  it('reads both forms', () => {
    expect(certificateExpiry(CERTIFICATE)).toEqual(END);
    expect(certificateExpiry({ kind: 'pfx', ...SELF_SIGNED_PFX })).toEqual(END);
    expect(() => certificateExpiry({ kind: 'pfx', pfx: 'AAAA', passphrase: null })).toThrow();
  });
});
