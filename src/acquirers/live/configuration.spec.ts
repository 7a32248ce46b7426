import { createPrivateKey } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { CERTIFICATES } from '../../../test/support/client-certificates.js';
import { SELF_SIGNED } from '../../../test/support/self-signed.js';
import { x509Of } from '../pix-api/credentials.js';
import { type Configuration, readConfiguration } from './configuration.js';

const NOW = new Date('2026-11-21T12:00:00Z');
const NO_FILES = { pfx: null, cert: null, key: null, passphrase: null };
const PEM = { ...NO_FILES, cert: Buffer.from(CERTIFICATES.cert), key: Buffer.from(CERTIFICATES.key) };
const PFX = { ...NO_FILES, pfx: Buffer.from(CERTIFICATES.pfx, 'base64'), passphrase: CERTIFICATES.passphrase };
const INPUT: Configuration = {
  accountId: '019aa0f0-0000-7000-8000-000000000001',
  psp: 'efi',
  pixKey: '11.222.333/0001-81',
  clientId: 'Client_Id_1',
  clientSecret: 'Client_Secret_1',
  certificate: PEM,
  ca: null,
  baseUrl: null,
  tokenUrl: null,
  variables: {},
};

function violationsOf(changes: Partial<Configuration>, production = false): string[] {
  const { violations } = readConfiguration({ ...INPUT, ...changes }, { now: NOW, production });
  return violations.map(({ param, message }) => `${param}: ${message}`);
}

describe('the configuration of a live acquirer', () => {
  it.each([
    ['PEM', PEM],
    ['a PFX', PFX],
    ['PEM with an encrypted key', { ...PEM, key: Buffer.from(CERTIFICATES.encryptedKey), passphrase: PFX.passphrase }],
  ])('is accepted with a certificate as %s', (_kind, certificate) => {
    const read = readConfiguration({ ...INPUT, certificate }, { now: NOW, production: true });
    expect(read.violations).toEqual([]);
    expect(read.settings).toMatchObject({
      profile: 'efi',
      pixKey: '11222333000181',
      baseUrl: null,
      certificate: { expiresAt: new Date('2120-01-01T00:00:00Z') },
    });
    expect(read.settings.certificate?.fingerprint).toMatch(/^[0-9a-f]{64}$/);
    expect(read.x509?.subject).toContain('CN=padaria-de-teste');
  });

  it('accepts a certificate in DER too, and keeps the whole chain of a PEM', () => {
    const der = Buffer.from(CERTIFICATES.cert.replace(/-----[^-]+-----/g, ''), 'base64');
    const chain = `${CERTIFICATES.cert}\n${CERTIFICATES.expired}\n`;
    for (const [cert, kept] of [
      [der, `${CERTIFICATES.cert}\n`],
      [Buffer.from(chain), chain],
    ] as const) {
      const { settings, violations } = readConfiguration(
        { ...INPUT, certificate: { ...PEM, cert } },
        { now: NOW, production: true },
      );
      expect(violations).toEqual([]);
      expect(settings.credentials.certificate).toMatchObject({ kind: 'pem', cert: kept });
    }
  });

  const read = (certificate: Partial<Configuration['certificate']>): ReturnType<typeof readConfiguration> =>
    readConfiguration({ ...INPUT, certificate: { ...NO_FILES, ...certificate } }, { now: NOW, production: true });
  const authority = SELF_SIGNED.cert;

  it.each([
    ['first', [CERTIFICATES.cert, authority]],
    ['last', [authority, CERTIFICATES.cert]],
    ['in the middle', [authority, CERTIFICATES.cert, authority]],
    ['behind the one before it, which has the same key', [CERTIFICATES.expired, CERTIFICATES.cert]],
    ['among words', ['Bag Attributes\n    friendlyName: x\nsubject=CN = y', authority, 'z', CERTIFICATES.cert]],
    ['beside its key', [CERTIFICATES.key, authority, CERTIFICATES.cert]],
  ])('finds the certificate that fits the key %s', (_, parts) => {
    const { settings, x509, violations } = read({ ...PEM, cert: Buffer.from(parts.join('\n')) });
    expect(violations).toEqual([]);
    expect(x509?.toString()).toBe(`${CERTIFICATES.cert}\n`);
    const { certificate } = settings.credentials;
    expect(certificate?.kind === 'pem' && certificate.cert.startsWith(CERTIFICATES.cert)).toBe(true);
    // A TLS connection presents the same certificate.
    expect(certificate && x509Of(certificate).fingerprint256).toBe(x509?.fingerprint256);
  });

  const derOf = (pem: string): Buffer => Buffer.from(pem.replace(/-----[^-]+-----/g, ''), 'base64');
  const key = createPrivateKey(CERTIFICATES.key);
  const encrypted = { cipher: 'aes-256-cbc', passphrase: 'geheim' } as const;
  const base64Lines = (bytes: Buffer): string => bytes.toString('base64').replace(/.{64}/g, '$&\r\n');
  const pfxBytes = Buffer.from(CERTIFICATES.pfx, 'base64');
  it.each<[string, Partial<Configuration['certificate']>]>([
    ['a key in DER', { ...PEM, key: derOf(CERTIFICATES.key) }],
    ['a key in SEC1 DER', { ...PEM, key: key.export({ format: 'der', type: 'sec1' }) }],
    [
      'an encrypted key in DER',
      { ...PEM, key: key.export({ format: 'der', type: 'pkcs8', ...encrypted }), passphrase: 'geheim' },
    ],
    ['a key in base64', { ...PEM, key: Buffer.from(base64Lines(derOf(CERTIFICATES.key))) }],
    ['a key with a byte-order mark', { ...PEM, key: Buffer.from(`\ufeff${CERTIFICATES.key}`) }],
    ['a certificate in base64', { ...PEM, cert: Buffer.from(base64Lines(derOf(CERTIFICATES.cert))) }],
    ['one file of both', { cert: Buffer.from(`${CERTIFICATES.cert}\n${CERTIFICATES.key}`), key: PEM.key }],
    ['a PFX in base64', { ...PFX, pfx: Buffer.from(CERTIFICATES.pfx) }],
    ['a PFX in lines of base64', { ...PFX, pfx: Buffer.from(`\ufeff${base64Lines(pfxBytes)}\r\n`) }],
  ])('reads certificate files: %s', (_, files) => {
    const { settings, violations } = read(files);
    expect(violations).toEqual([]);
    expect(settings.credentials.certificate && x509Of(settings.credentials.certificate).subject).toContain('padaria');
  });

  it('keeps variables that only some accounts need, and drops unknown ones', () => {
    const inter = { psp: 'inter', variables: { conta_corrente: '12345678' } };
    expect([violationsOf(inter), violationsOf({ psp: 'inter' })]).toEqual([[], []]);
    expect(violationsOf({ psp: 'inter', variables: { conta_corrente: '1 2', conta: '1' } })).toEqual([
      'set: conta is nothing that Inter asks for',
      'set: conta_corrente must have no blanks or line breaks',
    ]);
  });

  it('reports every fault of a configuration at once', () => {
    const wrong = violationsOf({
      psp: 'bb',
      pixKey: '123',
      clientId: 'a b',
      clientSecret: null,
      certificate: { ...PEM, cert: Buffer.from(CERTIFICATES.expired) },
      ca: 'nobody',
      baseUrl: 'http://psp.example',
      tokenUrl: 'ftp://psp.example',
      variables: { app_key: '1' },
    });
    expect(wrong).toEqual([
      expect.stringMatching(/^key: must be a Pix key/),
      expect.stringMatching(/^client-id: must have 1 to 2000 characters and no blanks/),
      expect.stringMatching(/^client-secret: is missing: give --client-secret-file, or RECEBE_CLIENT_SECRET/),
      'cert: has expired on 2021-01-01: ask the PSP for a new certificate',
      expect.stringMatching(/^ca: must be certificates in PEM/),
      expect.stringMatching(/^base-url: must start with https:/),
      expect.stringMatching(/^token-url: must be an absolute URL/),
      'set: app_key is nothing that Banco do Brasil asks for',
      expect.stringMatching(/^set: application_key=… is missing: the application key of the BB developers portal/),
    ]);
  });

  it('refuses an unknown PSP and lists the known profiles', () => {
    expect(violationsOf({ psp: 'constructor' })).toEqual([
      expect.stringMatching(/^psp: must be one of standard, efi, /),
    ]);
  });

  it.each<[string, Partial<Configuration['certificate']>, RegExp]>([
    ['a passphrase that is wrong', { ...PFX, passphrase: 'another' }, /^pfx: cannot be opened: its passphrase/],
    ['none where one is needed', { ...PFX, passphrase: null }, /^pfx: cannot be opened: its passphrase/],
    ['RC2', { ...PFX, pfx: Buffer.from(CERTIFICATES.oldPfx, 'base64') }, /^pfx: .*no longer supported.*-legacy/],
    ['another file', { ...PFX, pfx: Buffer.from('no PFX') }, /^pfx: is not a PFX/],
    ['PEM', { ...PFX, pfx: PEM.cert }, /^pfx: is a file in PEM: give it as --cert/],
    ['PKCS #7', { ...PEM, cert: Buffer.from('-----BEGIN PKCS7-----\nMII=\n') }, /^cert: is a PKCS #7 bundle/],
    [
      'a request',
      { ...PEM, cert: Buffer.from('-----BEGIN CERTIFICATE REQUEST-----\n') },
      /^cert: is a certificate request/,
    ],
    ['a public key', { ...PEM, key: Buffer.from('-----BEGIN PUBLIC KEY-----\nMII=\n') }, /^key-file: is a public key/],
    ['both kinds', { ...PFX, ...PEM, pfx: PFX.pfx }, /^pfx: stands for itself/],
    ['no key', { ...PEM, key: null }, /^key-file: is missing/],
    ['no certificate', { ...PEM, cert: null }, /^cert: is missing/],
    ['no certificate in the file', { ...PEM, cert: Buffer.from('nothing') }, /^cert: is not an X.509 certificate/],
    ['no key in the file', { ...PEM, key: Buffer.from('nothing') }, /^key-file: is not a private key/],
    ['an encrypted key alone', { ...PEM, key: Buffer.from(CERTIFICATES.encryptedKey) }, /^key-file: .*is encrypted/],
    ['the key of another', { ...PEM, key: Buffer.from(CERTIFICATES.otherKey) }, /^key-file: is not the key of/],
    ['nothing', {}, /^pfx: is missing: Efí asks for a client certificate/],
  ])('names the fault of a certificate: %s', (_what, files, message) => {
    expect(violationsOf({ certificate: { ...NO_FILES, ...files } })).toEqual([expect.stringMatching(message)]);
  });

  it('requires https, except for a simulator on this machine outside production', () => {
    const at = (baseUrl: string, production: boolean): string[] => violationsOf({ baseUrl }, production);
    for (const url of ['http://localhost:3000', 'http://127.0.0.1:1', 'http://[::1]:1']) {
      expect([url, at(url, false)]).toEqual([url, []]);
      expect(at(url, true)).toEqual(['base-url: must start with https://']);
    }
    for (const url of ['http://10.0.0.1', 'http://localhost.example']) expect(at(url, false)).toHaveLength(1);
    expect(at('https://psp.example/a?b=c', true)).toEqual(['base-url: must not have a query or a fragment']);
  });

  it('requires URLs that the profile does not have, and a secret unless the certificate replaces it', () => {
    expect(violationsOf({ psp: 'standard' })).toEqual([
      expect.stringMatching(/^base-url: is missing/),
      expect.stringMatching(/^token-url: is missing/),
    ]);
    const urls = { baseUrl: 'https://psp.example/api//', tokenUrl: 'https://psp.example/token' };
    const { settings, violations } = readConfiguration(
      { ...INPUT, psp: 'standard', ...urls },
      { now: NOW, production: true },
    );
    expect([violations, settings.baseUrl]).toEqual([[], 'https://psp.example/api']);
    expect(violationsOf({ psp: 'sicoob', clientSecret: null })).toEqual([]);
  });
});
