import { connect } from 'node:tls';
import { newTxid } from '../../brazil/index.js';
import { DAY_MS } from '../../core/clock.js';
import type { SecretBox } from '../../core/crypto/index.js';
import { type CallbackAnswer, probeCallback } from './callback-probe.js';
import { isSameCallback } from './callback-url.js';
import { secureContextOf, certificateExpiry } from './credentials.js';
import type { PixApiConnection } from './connection.js';
import { findDesk } from './desks/index.js';
import { cobAnswer, webhookAnswer } from './messages.js';
import { checkPayouts } from './doctor.payouts.js';
import type { DoctorStep, Finding } from './finding.js';
import { PixApiClient, type PixApiClientOptions, type PspAnswer } from './pix-api.client.js';
import { PixApiError } from './pix-api.errors.js';
import { type PspProfile, SCOPES } from './profile.js';
import { findProfile } from './profiles.js';
import { brCodeOf, cobRequest, toCents } from './translation.js';

/** When to register the callback's address at the PSP: never, if none is registered, or in place of any other. */
export type Registration = 'never' | 'missing' | 'replace';

export interface DoctorOptions {
  /** The address that the PSP calls; null: not known. */
  readonly callbackUrl: string | null;
  /** The keys of the service: the server that answers there must have them too. */
  readonly secrets: SecretBox;
  readonly registration: Registration;
  /** Whether a proxy checks the client certificates of PSPs and refuses other callers. */
  readonly certificatesChecked: boolean;
  readonly now: Date;
  readonly client?: PixApiClientOptions;
}

/** Days before the end of a client certificate at which a warning is sent. */
export const CERTIFICATE_WARNINGS = [60, 30, 7] as const;

const TLS_MS = 5_000;
/** The smallest amount, payable for a minute: if the removal of the charge fails, the charge expires soon. */
const TEST_CHARGE = { amount: 1, seconds: 60 } as const;

/**
 * Tests a connection step by step, up to creating and removing a charge, and receiving callbacks. If a step fails, the
 * steps that need it are reported as skipped.
 */
export async function* check(connection: PixApiConnection, options: DoctorOptions): AsyncGenerator<Finding> {
  const profile = findProfile(connection.profile);
  const settings = checkSettings(connection, profile);
  yield settings;
  const certificate = checkCertificate(connection, profile, options.now);
  yield certificate;
  const desk = findDesk(profile?.payouts.value ?? null);
  const last: DoctorStep[] = ['scope', 'charge', 'callback', 'webhook', ...(desk ? (['payouts'] as const) : [])];
  if (settings.ok === false || certificate.ok === false || !profile) {
    yield* skipped(['tls', 'token', ...last], 'settings and certificate');
    return;
  }
  const tls = await checkTls(connection, profile);
  yield tls;
  if (tls.ok === false) {
    yield* skipped(['token', ...last], 'a TLS connection');
    return;
  }
  const client = new PixApiClient(connection, profile, options.client);
  try {
    const { token, scope, granted } = await checkToken(client);
    yield token;
    if (token.ok === false) {
      yield* skipped(last, 'a token');
      return;
    }
    yield scope;
    yield await checkCharge(client, options.now);
    const callback = await checkCallback(connection.id, profile, options);
    yield callback;
    let webhook: Finding | null = null;
    if (callback.ok === false) yield* skipped(['webhook'], 'a callback address that reaches this service');
    else if (options.callbackUrl !== null) {
      webhook = await checkWebhook(client, options.callbackUrl, options.registration);
      yield webhook;
    }
    if (desk) yield await checkPayouts(client, desk, granted, webhook);
  } finally {
    await client.close();
  }
}

function finding(step: DoctorStep, ok: Finding['ok'], detail: string, remedy: string | null = null): Finding {
  return { step, ok, detail, remedy };
}

function* skipped(steps: readonly DoctorStep[], without: string): Generator<Finding> {
  for (const step of steps) yield finding(step, 'skipped', `it needs ${without}`);
}

function checkSettings(connection: PixApiConnection, profile: PspProfile | undefined): Finding {
  const again = 'Run `acquirer configure` again with it.';
  if (!profile) return finding('settings', false, `there is no profile "${connection.profile}"`, again);
  const missing = [
    ...((connection.baseUrl ?? profile.baseUrl.production.value) === null ? ['the base URL'] : []),
    ...((connection.tokenUrl ?? profile.tokenUrl.production.value) === null ? ['the token URL'] : []),
    ...Object.entries(profile.variables)
      .filter(([name]) => !connection.credentials.variables[name])
      .map(([name, what]) => `${name} (${what})`),
  ];
  if (missing.length > 0) return finding('settings', false, `missing: ${missing.join(', ')}`, again);
  return finding('settings', true, `profile ${profile.title}`);
}

function checkCertificate({ credentials }: PixApiConnection, profile: PspProfile | undefined, now: Date): Finding {
  const { certificate } = credentials;
  const renew = 'Have the PSP issue a new certificate and run `acquirer configure` with it.';
  if (certificate === null) {
    return profile?.mtls.value === false
      ? finding('certificate', true, 'this PSP asks for none')
      : finding('certificate', false, 'there is none', renew);
  }
  let until: Date;
  try {
    until = certificateExpiry(certificate);
  } catch (error) {
    const code = (error as { code?: unknown }).code;
    const detail = `it cannot be read (${typeof code === 'string' ? code : 'wrong form'})`;
    return finding(
      'certificate',
      false,
      detail,
      'Check the passphrase, and that certificate and key belong together. Old PFX files are sealed with a cipher that ' +
        'OpenSSL 3 no longer reads: convert with `openssl pkcs12 -legacy -in old.p12 -nodes -out new.pem` and configure ' +
        'the PEM.',
    );
  }
  const days = Math.floor((until.getTime() - now.getTime()) / DAY_MS);
  const detail = `valid until ${until.toISOString().slice(0, 10)} (${days} days)`;
  if (days < 0) return finding('certificate', false, detail, renew);
  return days < CERTIFICATE_WARNINGS[0]
    ? finding('certificate', 'warning', detail, renew)
    : finding('certificate', true, detail);
}

async function checkTls(connection: PixApiConnection, profile: PspProfile): Promise<Finding> {
  const urls = [
    connection.baseUrl ?? profile.baseUrl.production.value,
    connection.tokenUrl ?? profile.tokenUrl.production.value,
  ];
  const hosts = [...new Set(urls.flatMap((url) => (url === null ? [] : [new URL(url).origin])))];
  for (const origin of hosts) {
    const { hostname, port, protocol } = new URL(origin);
    if (protocol !== 'https:') {
      return finding(
        'tls',
        'warning',
        `${origin} is not encrypted`,
        'Only for a simulator on this machine: a bank speaks https.',
      );
    }
    const code = await handshake(connection, hostname, Number(port || 443));
    if (code !== null) return finding('tls', false, `${hostname}: ${code}`, tlsRemedy(code));
  }
  return finding(
    'tls',
    true,
    `the chains of ${hosts.map((origin) => new URL(origin).hostname).join(', ')} are trusted`,
  );
}

function tlsRemedy(code: string): string {
  if (/ENOTFOUND|EAI_AGAIN/.test(code))
    return 'The host name does not resolve: check the base URL and the name server.';
  if (/ECONNREFUSED|timeout|EHOSTUNREACH|ENETUNREACH/.test(code)) {
    return 'No server answers there: check the URL, the firewall, and whether the PSP lets this address in.';
  }
  if (/CERT|SELF_SIGNED|ISSUER|VERIFY|ALTNAME/.test(code)) {
    return "The PSP's certificate is not trusted: configure its authority's certificate (--ca), or check the host name.";
  }
  return 'The PSP broke the handshake off: check that the client certificate is of this environment and registered there.';
}

/** @returns null when the chain is trusted, else an error's code */
function handshake({ credentials }: PixApiConnection, host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, servername: host, secureContext: secureContextOf(credentials) });
    const end = (code: string | null): void => {
      socket.destroy();
      resolve(code);
    };
    socket.setTimeout(TLS_MS, () => end('timeout'));
    socket.once('secureConnect', () => end(null));
    socket.once('error', (error: NodeJS.ErrnoException) => end(error.code ?? 'handshake failed'));
  });
}

/** @returns also the scopes that the PSP reports; null: not reported */
async function checkToken(client: PixApiClient): Promise<{ token: Finding; scope: Finding; granted: string | null }> {
  let granted: string | null;
  try {
    ({ scope: granted } = await client.token());
  } catch (error) {
    const remedy =
      'Check client id and secret, that they are of this environment, and that the certificate is the one registered with them.';
    return { token: finding('token', false, codeOf(error), remedy), scope: finding('scope', false, ''), granted: null };
  }
  const token = finding('token', true, 'the PSP gave one');
  if (granted === null) {
    return { token, scope: finding('scope', 'warning', 'the PSP does not say what it granted'), granted };
  }
  const words = granted.split(/\s+/);
  const missing = SCOPES.split(' ').filter((scope) => !words.includes(scope));
  if (missing.length === 0) return { token, scope: finding('scope', true, 'all that is needed was granted'), granted };
  const remedy = 'Have the PSP grant them to this client.';
  return { token, scope: finding('scope', 'warning', `not granted: ${missing.join(', ')}`, remedy), granted };
}

async function checkCharge(client: PixApiClient, now: Date): Promise<Finding> {
  const txid = newTxid();
  const request = {
    txid,
    amount: TEST_CHARGE.amount,
    expiresAt: new Date(now.getTime() + TEST_CHARGE.seconds * 1000),
    merchant: { name: '', city: '' },
    payer: { name: null, document: null },
  };
  const remedy = 'Check that the Pix key belongs to this client at the PSP, and that the client may create charges.';
  try {
    const made = await client.putCob(txid, () => cobRequest(request, client.pixKey, now));
    if (made.kind !== 'ok') return finding('charge', false, `not created: ${refusalOf(made)}`, remedy);
    const read = cobAnswer.safeParse(made.body);
    const code = read.success ? brCodeOf(read.data, TEST_CHARGE.amount, null) : null;
    const removed = await client.patchCob(txid, { status: 'REMOVIDA_PELO_USUARIO_RECEBEDOR' });
    if (removed.kind !== 'ok') {
      return finding(
        'charge',
        'warning',
        `created, not removed: ${refusalOf(removed)}`,
        'It expires by itself in a minute.',
      );
    }
    if (read.success && toCents(read.data.valor.original) !== TEST_CHARGE.amount) {
      return finding('charge', false, 'its answer names another amount', 'Tell the PSP: no charge can be used.');
    }
    if (code !== null) return finding('charge', true, 'a test charge of R$ 0.01 was created and removed');
    return finding(
      'charge',
      false,
      'its answer gives no BR Code that can be read',
      'Tell us: the profile needs to know this PSP better.',
    );
  } catch (error) {
    return finding('charge', false, codeOf(error), remedy);
  }
}

async function checkCallback(connectionId: string, profile: PspProfile, options: DoctorOptions): Promise<Finding> {
  const { callbackUrl, secrets, registration, certificatesChecked } = options;
  if (callbackUrl === null) {
    return finding(
      'callback',
      registration === 'never' ? 'warning' : false,
      'the address of the service is not known: none runs here, and PUBLIC_BASE_URL is not set',
      'Start the service, or set PUBLIC_BASE_URL to the address at which the PSP reaches it.',
    );
  }
  const { mtls, addresses } = profile.inbound.value;
  const place = placeOf(callbackUrl);
  const answer = await probeCallback(callbackUrl, secrets, connectionId);
  if (answer.kind === 'this_service') return finding('callback', true, `${place} reaches this service`);
  if (answer.kind === 'refused' && (addresses !== null || (mtls && certificatesChecked))) {
    return finding('callback', 'warning', `${place} reaches this service, which lets in nobody but the PSP`);
  }
  return finding(
    'callback',
    false,
    `${place}: ${whoAnswers(answer)}`,
    'Set PUBLIC_BASE_URL, here and for the service, to the address at which the PSP reaches it, and let the service run.',
  );
}

function whoAnswers(answer: Exclude<CallbackAnswer, { kind: 'this_service' }>): string {
  switch (answer.kind) {
    case 'nobody':
      return `nobody answers (${answer.code})`;
    case 'somebody_else':
      return `somebody else answers (HTTP ${answer.status})`;
    case 'refused':
      return 'this service answers and refuses the call';
    case 'another_recebe':
      return 'another Recebe answers, or one with another ENCRYPTION_KEY, database or version';
  }
}

/** The address without its path and query, which may be secret. */
function placeOf(url: string): string {
  return URL.canParse(url) ? `${new URL(url).origin}/…` : 'something that is no URL';
}

async function checkWebhook(client: PixApiClient, callbackUrl: string, registration: Registration): Promise<Finding> {
  const remedy =
    'The URL must be reachable for the PSP from outside, by https; some PSPs call it while they register it.';
  try {
    const registered = urlOf(await client.webhook());
    if (registered !== null && isSameCallback(registered, callbackUrl)) return finding('webhook', true, 'registered');
    if (registered !== null && registration !== 'replace') {
      return finding(
        'webhook',
        registration === 'never' ? 'warning' : false,
        `another address is registered for this Pix key: ${placeOf(registered)}`,
        'The service that is called there may need it. If not: `acquirer check --replace-webhook`.',
      );
    }
    if (registration === 'never') {
      return finding('webhook', 'warning', 'none is registered', 'Register it: `acquirer check --register-webhook`.');
    }
    const made = await client.registerWebhook(callbackUrl);
    if (made.kind !== 'ok') return finding('webhook', false, `not registered: ${refusalOf(made)}`, remedy);
    const after = urlOf(await client.webhook());
    if (after !== null && isSameCallback(after, callbackUrl)) {
      const before = registered === null ? '' : `, in place of ${placeOf(registered)}`;
      return finding('webhook', true, `registered now${before}`);
    }
    return finding('webhook', 'warning', 'the PSP took it and does not show it yet', 'Check again in a minute.');
  } catch (error) {
    return finding('webhook', false, codeOf(error), remedy);
  }
}

function urlOf(answer: PspAnswer): string | null {
  const read = answer.kind === 'ok' ? webhookAnswer.safeParse(answer.body) : null;
  return read?.success ? read.data.webhookUrl : null;
}

/** The PSP's own words, for an operator: they are about a test charge without a payer. */
function refusalOf(answer: Exclude<PspAnswer, { kind: 'ok' }>): string {
  if (answer.kind === 'not_found') return 'not found';
  const { code, words } = answer.problem;
  return words === '' ? code : `${code}: ${words}`;
}

function codeOf(error: unknown): string {
  return error instanceof PixApiError ? error.message : 'failed';
}
