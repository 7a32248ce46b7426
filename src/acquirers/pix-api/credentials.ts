import { createHash, X509Certificate } from 'node:crypto';
import { Duplex } from 'node:stream';
import { createSecureContext, rootCertificates, type SecureContext, TLSSocket } from 'node:tls';
import type { ClientCertificate, PixApiConnection, PixApiCredentials } from './connection.js';
import type { PspProfile } from './profile.js';

/**
 * TLS context of a connection: its client certificate and its trusted authorities.
 * @throws Error when the certificate or its key cannot be read
 */
export function secureContextOf({ certificate, ca }: Pick<PixApiCredentials, 'certificate' | 'ca'>): SecureContext {
  return createSecureContext({
    minVersion: 'TLSv1.2',
    ...(ca === null ? {} : { ca: [...rootCertificates, ca] }),
    ...(certificate === null ? {} : certificateOptions(certificate)),
  });
}

function certificateOptions(certificate: ClientCertificate): Parameters<typeof createSecureContext>[0] {
  const passphrase = certificate.passphrase === null ? {} : { passphrase: certificate.passphrase };
  return certificate.kind === 'pfx'
    ? { pfx: Buffer.from(certificate.pfx, 'base64'), ...passphrase }
    : { cert: certificate.cert, key: certificate.key, ...passphrase };
}

/**
 * The client certificate itself, without its chain.
 * @throws Error when it or its key cannot be read
 */
export function x509Of(certificate: ClientCertificate): X509Certificate {
  const context = secureContextOf({ certificate, ca: null });
  // Node reads a PFX only for a connection, so we open one that leads nowhere.
  const socket = new TLSSocket(new Duplex({ read: () => undefined, write: (_chunk, _encoding, done) => done() }), {
    secureContext: context,
  });
  try {
    const { raw } = socket.getCertificate() as { raw?: Buffer };
    if (!raw) throw new Error('there is no certificate in it');
    return new X509Certificate(raw);
  } finally {
    socket.destroy();
  }
}

/**
 * When the client certificate expires.
 * @throws Error when it cannot be read
 */
export function certificateExpiry(certificate: ClientCertificate): Date {
  return new Date(x509Of(certificate).validTo);
}

/** Names the token of an account, PSP, client, certificate and scope, as a hash that reveals no secret. */
export function tokenKey({ accountId, tokenUrl, credentials }: PixApiConnection, profile: PspProfile): string {
  const { clientId, clientSecret, certificate } = credentials;
  const parts = [accountId, profile.name, tokenUrl, clientId, clientSecret, certificate, profile.token.value.scope];
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}
