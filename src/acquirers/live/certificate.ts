import { createPrivateKey, X509Certificate } from 'node:crypto';
import { isNativeError } from 'node:util/types';
import type { ClientCertificate } from '../pix-api/connection.js';
import { x509Of } from '../pix-api/credentials.js';
import type { Violation } from '../../core/errors/index.js';

/** The files of a client certificate as the PSP has handed them out: a PFX, or a certificate and its key. */
export interface CertificateFiles {
  readonly pfx: Buffer | null;
  readonly cert: Buffer | null;
  readonly key: Buffer | null;
  readonly passphrase: string | null;
}

/** Read, with what is wrong of it. `found`: null when there is none, or none that can be read. */
export interface ReadCertificate {
  readonly found: { readonly certificate: ClientCertificate; readonly x509: X509Certificate } | null;
  readonly violations: readonly Violation[];
}

/** Nothing of the files gets into a message. */
export function readCertificate(files: CertificateFiles, now: Date): ReadCertificate {
  const { pfx, cert, key } = files;
  if (pfx && (cert || key)) return wrong('pfx', 'stands for itself: give either --pfx, or --cert and --key-file');
  if (cert && !key) return wrong('key-file', 'is missing: a certificate serves with its key only');
  if (key && !cert) return wrong('cert', 'is missing: a key serves with its certificate only');
  const read = pfx ? readPfx(pfx, files.passphrase) : cert && key ? readPem(cert, key, files.passphrase) : NOTHING;
  return read.found ? { ...read, violations: lifetimeProblems(pfx ? 'pfx' : 'cert', read.found.x509, now) } : read;
}

/** PEM of the authority that vouches for the server. @returns what is wrong; null when nothing is */
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

function readPem(cert: Buffer, key: Buffer, passphrase: string | null): ReadCertificate {
  // DER, which some PSPs call .cer, becomes PEM; of PEM the whole chain is kept.
  const x509 = attempt(() => new X509Certificate(cert));
  if (!x509) return wrong('cert', 'is not an X.509 certificate (PEM or DER)');
  const text = cert.toString('latin1');
  const pem = text.includes('-----BEGIN CERTIFICATE-----') ? text : x509.toString();
  const privateKey = attempt(() => createPrivateKey({ key, ...(passphrase === null ? {} : { passphrase }) }));
  if (!privateKey) {
    return wrong(
      'key-file',
      'is not a private key in PEM, or is encrypted and its passphrase (--passphrase-file) wrong',
    );
  }
  if (!x509.checkPrivateKey(privateKey)) return wrong('key-file', 'is not the key of the certificate in --cert');
  const certificate = { kind: 'pem', cert: pem, key: key.toString('utf8'), passphrase } as const;
  return { found: { certificate, x509 }, violations: [] };
}

function readPfx(pfx: Buffer, passphrase: string | null): ReadCertificate {
  const certificate = { kind: 'pfx', pfx: pfx.toString('base64'), passphrase } as const;
  try {
    return { found: { certificate, x509: x509Of(certificate) }, violations: [] };
  } catch (error) {
    return wrong('pfx', pfxProblem(isNativeError(error) ? error.message : ''));
  }
}

function pfxProblem(message: string): string {
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
