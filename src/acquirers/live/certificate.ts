import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { isNativeError } from 'node:util/types';
import type { ClientCertificate } from '../pix-api/connection.js';
import { x509Of } from '../pix-api/credentials.js';
import type { Violation } from '../../core/errors/index.js';

/** The files of a client certificate as the PSP issued them: a PFX, or a certificate and its key. */
export interface CertificateFiles {
  readonly pfx: Buffer | null;
  readonly cert: Buffer | null;
  readonly key: Buffer | null;
  readonly passphrase: string | null;
}

/** A certificate that was read, and its faults. `found`: null if there is no readable certificate. */
export interface ReadCertificate {
  readonly found: { readonly certificate: ClientCertificate; readonly x509: X509Certificate } | null;
  readonly violations: readonly Violation[];
}

/** Reads and checks a client certificate. No message quotes the files. */
export function readCertificate(files: CertificateFiles, now: Date): ReadCertificate {
  const { pfx, cert, key } = files;
  if (pfx && (cert || key)) return wrong('pfx', 'stands for itself: give either --pfx, or --cert and --key-file');
  if (cert && !key) return wrong('key-file', 'is missing: a certificate serves with its key only');
  if (key && !cert) return wrong('cert', 'is missing: a key serves with its certificate only');
  const read = pfx ? readPfx(pfx, files.passphrase) : cert && key ? readPem(cert, key, files.passphrase) : NOTHING;
  return read.found ? { ...read, violations: lifetimeProblems(pfx ? 'pfx' : 'cert', read.found.x509, now) } : read;
}

/** Checks the PEM of the authority that signs the server's certificate. @returns the problem; null without one */
export function authorityProblem(ca: string): string | null {
  const certificates = ca.match(PEM_CERTIFICATE) ?? [];
  const isValid = certificates.length > 0 && certificates.every((pem) => attempt(() => new X509Certificate(pem)));
  return isValid ? null : 'must be certificates in PEM (-----BEGIN CERTIFICATE-----)';
}

/** The holder's name on one line. */
export function subjectOf({ subject }: X509Certificate): string {
  return subject.split('\n').join(', ');
}

const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;
const NOTHING: ReadCertificate = { found: null, violations: [] };

function wrong(param: string, message: string): ReadCertificate {
  return { found: null, violations: [{ param, code: 'invalid', message }] };
}

function readPem(certFile: Buffer, keyFile: Buffer, passphrase: string | null): ReadCertificate {
  const chain = certificatesOf(certFile);
  if (chain.length === 0) return wrong('cert', certProblem(certFile));
  const privateKey = readKey(keyFile, passphrase);
  if (!privateKey) return wrong('key-file', keyProblem(keyFile));
  // Why not the first: some bundles begin with the authority, and some still hold the previous certificate.
  const [x509] = chain
    .filter((one) => one.checkPrivateKey(privateKey))
    .sort((one, other) => Date.parse(other.validTo) - Date.parse(one.validTo));
  if (!x509) return wrong('key-file', 'is not the key of the certificate in --cert');
  const others = chain.filter((one) => one !== x509);
  const certificate = {
    kind: 'pem',
    cert: [x509, ...others].map((one) => one.toString()).join(''),
    key: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
    passphrase: null,
  } as const;
  return { found: { certificate, x509 }, violations: [] };
}

/** The certificates of a file: PEM, DER (which some PSPs call .cer), or bare base64 without header lines. */
function certificatesOf(file: Buffer): X509Certificate[] {
  const pems = file.toString('latin1').match(PEM_CERTIFICATE) ?? [];
  const read = pems.flatMap((pem) => attempt(() => new X509Certificate(pem)) ?? []);
  if (pems.length > 0) return read.length === pems.length ? read : [];
  const der = attempt(() => new X509Certificate(fromBase64(file) ?? file));
  return der ? [der] : [];
}

function readKey(file: Buffer, passphrase: string | null): KeyObject | null {
  const secret = passphrase === null ? {} : { passphrase };
  const pem = file.toString('latin1').replace(/^\u00ef\u00bb\u00bf/, '');
  const der = fromBase64(file) ?? file;
  return (
    attempt(() => createPrivateKey({ key: pem, ...secret })) ??
    (['pkcs8', 'pkcs1', 'sec1'] as const)
      .map((type) => attempt(() => createPrivateKey({ key: der, format: 'der', type, ...secret })))
      .find((key) => key !== null) ??
    null
  );
}

/** @returns null for a file that is not base64 */
function fromBase64(file: Buffer): Buffer | null {
  const text = file.toString('latin1').replace(/^\u00ef\u00bb\u00bf|\s+/g, '');
  return /^[A-Za-z0-9+/]{40,}={0,2}$/.test(text) ? Buffer.from(text, 'base64') : null;
}

function certProblem(file: Buffer): string {
  const text = file.toString('latin1');
  if (/-----BEGIN (?:PKCS7|CMS)-----/.test(text)) {
    return 'is a PKCS #7 bundle (.p7b). Convert it: openssl pkcs7 -print_certs -in file.p7b -out cert.pem';
  }
  if (/-----BEGIN (?:NEW )?CERTIFICATE REQUEST-----/.test(text)) {
    return 'is a certificate request (CSR): give the certificate that the PSP has issued for it';
  }
  return 'is not an X.509 certificate (PEM or DER)';
}

function keyProblem(file: Buffer): string {
  const text = file.toString('latin1');
  if (/-----BEGIN (?:RSA )?PUBLIC KEY-----/.test(text)) return 'is a public key: give the private one';
  return 'is not a private key in PEM or DER, or is encrypted and its passphrase (--passphrase-file) wrong';
}

function readPfx(file: Buffer, passphrase: string | null): ReadCertificate {
  const pfx = fromBase64(file) ?? file;
  const certificate = { kind: 'pfx', pfx: pfx.toString('base64'), passphrase } as const;
  try {
    return { found: { certificate, x509: x509Of(certificate) }, violations: [] };
  } catch (error) {
    return wrong('pfx', pfxProblem(file, isNativeError(error) ? error.message : ''));
  }
}

function pfxProblem(file: Buffer, message: string): string {
  if (file.toString('latin1').includes('-----BEGIN ')) {
    return 'is a file in PEM: give it as --cert, and the file with the private key as --key-file (they may be one)';
  }
  if (/mac verify/i.test(message)) return 'cannot be opened: its passphrase (--passphrase-file) is wrong or missing';
  if (/unsupported/i.test(message)) {
    return (
      'is encrypted in a way that is no longer supported (RC2). Convert it: ' +
      'openssl pkcs12 -legacy -in old.pfx -nodes -out all.pem && openssl pkcs12 -export -in all.pem -out new.pfx'
    );
  }
  if (/mismatch/i.test(message)) return 'has a key that is not its certificate’s';
  return 'is not a PFX (PKCS #12) file with a certificate and its key';
}

function lifetimeProblems(param: string, { validFrom, validTo }: X509Certificate, now: Date): Violation[] {
  const [from, to] = [new Date(validFrom), new Date(validTo)];
  if (to <= now) {
    const message = `has expired on ${to.toISOString().slice(0, 10)}: ask the PSP for a new certificate`;
    return [{ param, code: 'invalid', message }];
  }
  if (from > now) return [{ param, code: 'invalid', message: `is not valid before ${from.toISOString()}` }];
  return [];
}

function attempt<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}
