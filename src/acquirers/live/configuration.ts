import type { X509Certificate } from 'node:crypto';
import type { ConnectionSettings } from '../pix-api/connections.service.js';
import type { PspProfile } from '../pix-api/profile.js';
import { findProfile, PROFILES } from '../pix-api/profiles.js';
import { normalizePixKey } from '../../brazil/index.js';
import type { Violation } from '../../core/errors/index.js';
import { httpUrlProblem, isLoopbackHost } from '../../core/net/index.js';
import { withoutTrailingSlashes } from '../../core/text.js';
import { authorityProblem, type CertificateFiles, readCertificate } from './certificate.js';

/** The given configuration of an account's PSP, unchecked. */
export interface Configuration {
  readonly accountId: string;
  /** Name of the PSP's profile. */
  readonly psp: string;
  readonly pixKey: string;
  readonly clientId: string;
  /** Null: none was given, which is right if the certificate replaces the secret. */
  readonly clientSecret: string | null;
  readonly certificate: CertificateFiles;
  /** PEM. */
  readonly ca: string | null;
  readonly baseUrl: string | null;
  readonly tokenUrl: string | null;
  readonly variables: Readonly<Record<string, string>>;
}

export interface Circumstances {
  readonly now: Date;
  readonly production: boolean;
}

/**
 * The result of reading. `settings` are usable only without violations; violations use the names of the command line's
 * options.
 */
export interface ReadConfiguration {
  readonly settings: ConnectionSettings;
  readonly x509: X509Certificate | null;
  readonly violations: readonly Violation[];
}

/** Checks the whole configuration at once, without a call to the PSP. */
export function readConfiguration(input: Configuration, { now, production }: Circumstances): ReadConfiguration {
  const violations: Violation[] = [];
  const check = (param: string, message: string | null): void => {
    if (message !== null) violations.push({ param, code: 'invalid', message });
  };
  const profile = findProfile(input.psp);
  const pixKey = normalizePixKey(input.pixKey);
  check('psp', profile ? null : `must be one of ${Object.keys(PROFILES).join(', ')}`);
  check('key', pixKey ? null : 'must be a Pix key: CPF, CNPJ, e-mail, phone (+55…) or random key');
  check('client-id', credentialProblem(input.clientId));
  if (input.clientSecret !== null) check('client-secret', credentialProblem(input.clientSecret));
  else if (profile?.token.value.authentication !== 'mtls') {
    check('client-secret', 'is missing: give --client-secret-file, or RECEBE_CLIENT_SECRET in the environment');
  }
  const { found, violations: problems } = readCertificate(input.certificate, now);
  violations.push(...problems);
  check('ca', input.ca === null ? null : authorityProblem(input.ca));
  if (profile) {
    if (!found && problems.length === 0 && profile.mtls.value) {
      check('pfx', `is missing: ${profile.title} asks for a client certificate (--pfx, or --cert and --key-file)`);
    }
    check('base-url', urlProblem(input.baseUrl ?? profile.baseUrl.production.value, profile, production));
    check('token-url', urlProblem(input.tokenUrl ?? profile.tokenUrl.production.value, profile, production));
    violations.push(...variableProblems(profile, input.variables));
  }
  const settings: ConnectionSettings = {
    accountId: input.accountId,
    profile: input.psp,
    pixKey: pixKey?.key ?? '',
    baseUrl: input.baseUrl == null ? null : withoutTrailingSlashes(input.baseUrl),
    tokenUrl: input.tokenUrl,
    credentials: {
      clientId: input.clientId,
      clientSecret: input.clientSecret ?? '',
      certificate: found?.certificate ?? null,
      ca: input.ca,
      variables: input.variables,
    },
    certificate: found && { fingerprint: fingerprintOf(found.x509), expiresAt: new Date(found.x509.validTo) },
  };
  return { settings, x509: found?.x509 ?? null, violations };
}

const MAX_CREDENTIAL = 2_000;

/** Credentials are sent in a header, so they hold no blanks or line breaks. */
function credentialProblem(value: string): string | null {
  const isValid = value !== '' && value.length <= MAX_CREDENTIAL && !/[\s\p{Cc}]/u.test(value);
  return isValid ? null : `must have 1 to ${MAX_CREDENTIAL} characters and no blanks or line breaks`;
}

function urlProblem(url: string | null, { title }: PspProfile, production: boolean): string | null {
  if (url === null) return `is missing: ${title} has no address of its own`;
  const problem = httpUrlProblem(url);
  if (problem !== null) return problem;
  const { protocol, hostname, search, hash } = new URL(url);
  if (search !== '' || hash !== '') return 'must not have a query or a fragment';
  if (protocol === 'https:' || (!production && isLoopbackHost(hostname))) return null;
  return production ? 'must start with https://' : 'must start with https:// (http:// to this machine only)';
}

function variableProblems(
  { title, variables, optionalVariables }: PspProfile,
  given: Readonly<Record<string, string>>,
): Violation[] {
  const isKnown = (name: string): boolean => Object.hasOwn(variables, name) || Object.hasOwn(optionalVariables, name);
  const unknown = Object.keys(given)
    .filter((name) => !isKnown(name))
    .map((name) => `${name} is nothing that ${title} asks for`);
  const missing = Object.entries(variables)
    .filter(([name]) => given[name] === undefined || given[name] === '')
    .map(([name, meaning]) => `${name}=… is missing: ${meaning}`);
  const broken = Object.entries(given)
    .filter(([name, value]) => value !== '' && isKnown(name) && credentialProblem(value) !== null)
    .map(([name]) => `${name} must have no blanks or line breaks`);
  return [...unknown, ...missing, ...broken].map((message) => ({ param: 'set', code: 'invalid', message }));
}

function fingerprintOf({ fingerprint256 }: X509Certificate): string {
  return fingerprint256.replaceAll(':', '').toLowerCase();
}
