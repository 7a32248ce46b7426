import { setImmediate } from 'node:timers/promises';
import { isSame } from '../../core/crypto/index.js';
import type { EventFamily } from '../../outbox/index.js';
import { type BodyDifference, bodyDifferences, compactJson, isSameJson, readAsUtf8 } from './body-differences.js';
import { faultOfSecret, familyOf, parseSignature, type SignatureForm, USE_AS_TEXT } from './signature-form.js';
import { hmac, signedText } from '../sending/signature.js';

/** Usual tolerance of verifiers between signing and receiving. */
export const TOLERANCE_SECONDS = 300;

/** Most recent attempts whose times are tried: a body is hashed for each. */
const MAX_TIMES = 20;

/** Bytes hashed in one go: half a millisecond. */
const HASHED_AT_ONCE = 512 * 1024;

export const VERIFICATION_REASONS = [
  'signature_missing',
  'secret_malformed',
  'malformed_signature',
  'wrong_scheme',
  'wrong_secret',
  'old_secret',
  'body_reserialized',
  'body_changed',
  'timestamp_out_of_tolerance',
  'timestamp_changed',
  'signature_changed',
] as const;

export type VerificationReason = (typeof VERIFICATION_REASONS)[number];

/** A webhook as a merchant received it, and the secret they verify it with. */
export interface Received {
  readonly payload: string;
  /** Value of X-Service-Signature; null without one. */
  readonly signature: string | null;
  readonly secret: string;
}

/** A secret of the account in this mode; `owner` is the endpoint's UUID, null for the account's default secret. */
export interface HeldSecret {
  readonly secret: string;
  readonly owner: string | null;
  readonly age: 'current' | 'previous';
}

export type GivenSecret = HeldSecret | 'unknown';

/** The delivery that X-Service-Delivery-Id names, as we sent it. */
export interface SentDelivery {
  readonly id: string;
  /** The owner of the secret that signed it, as in HeldSecret. */
  readonly owner: string | null;
  readonly payload: string;
  /** Unix seconds of its recorded attempts. */
  readonly sentAt: readonly number[];
}

export interface Verification {
  readonly valid: boolean;
  readonly reason: VerificationReason | null;
  readonly message: string;
  /** The family of the header; null when it is of neither. */
  readonly scheme: EventFamily | null;
  /** `t` of the header, unix seconds. */
  readonly timestamp: number | null;
  /** Now minus `t`: positive when the webhook was signed in the past. */
  readonly secondsOff: number | null;
  /** The secret that the caller gave; null when it was not checked. */
  readonly given: GivenSecret | null;
  /** The owner of the secret that signed it, if known: the endpoint of the delivery. */
  readonly signer: Pick<HeldSecret, 'owner'> | null;
  readonly differences: readonly BodyDifference[];
}

type Finding = Pick<Verification, 'reason' | 'message'> & Partial<Verification>;

/**
 * Explains why a signature is refused. Looks first for a body or time that the signature fits with the given secret.
 * Looks next for another secret of the account that made the signature. The result contains no part of any secret.
 */
export async function verify(
  received: Received,
  held: readonly HeldSecret[],
  delivery: SentDelivery | null,
  now: Date,
): Promise<Verification> {
  const { payload, secret } = received;
  const result = (finding: Finding): Verification => ({ ...NOTHING, signer: delivery, ...finding });
  if (received.signature === null || received.signature.trim() === '') {
    return result({ reason: 'signature_missing', message: 'The headers have no X-Service-Signature.' });
  }
  const secretFault = faultOfSecret(secret);
  if (secretFault !== null) return result({ reason: 'secret_malformed', message: secretFault });
  const header = parseSignature(received.signature.trim());
  if ('reason' in header) return result(header);

  const { family, timestamp } = header;
  const secondsOff = family === 'canonical' ? Math.floor(now.getTime() / 1000) - timestamp : null;
  const given: GivenSecret = held.find((candidate) => isSame(candidate.secret, secret)) ?? 'unknown';
  const known = { scheme: family, timestamp: family === 'canonical' ? timestamp : null, secondsOff, given };
  const expected = familyOf(delivery?.payload ?? payload);
  if (expected !== null && expected !== family) {
    return result({ ...known, reason: 'wrong_scheme', message: SCHEME_OF[expected] });
  }
  if (fits(header, secret, payload, timestamp)) return result({ ...known, ...rightSignature(given, secondsOff) });
  const finding =
    provenBySecret(received, header, delivery) ?? (await explainedBySecrets(received, header, held, delivery, given));
  return result({ ...known, ...finding });
}

/** Finds the body or time that the signature fits with the given secret; null when it fits none. */
function provenBySecret(
  { payload, secret }: Received,
  header: SignatureForm,
  delivery: SentDelivery | null,
): Finding | null {
  const { timestamp } = header;
  const originals = (delivery ? [delivery.payload] : [compactJson(payload), readAsUtf8(payload)]).filter(
    (text) => text !== null,
  );
  const original = originals.find((body) => fits(header, secret, body, timestamp));
  if (original !== undefined) return changedBody(original, payload);

  const time = timesOf(header, delivery).find((at) =>
    [payload, ...originals].some((body) => fits(header, secret, body, at)),
  );
  if (time !== undefined) {
    const message = `The signature was made for t=${time}, the header says t=${timestamp}.`;
    return { reason: 'timestamp_changed', message, differences: differencesOf(payload, delivery) };
  }
  if (fits(header, Buffer.from(secret, 'hex'), payload, timestamp)) {
    const message = `The signature was made with the secret decoded from hex; ${USE_AS_TEXT}`;
    return { reason: 'secret_malformed', message };
  }
  return null;
}

/** Compares the owners of secret and signature: if they are the same, something else was changed. */
async function explainedBySecrets(
  { payload }: Received,
  header: SignatureForm,
  held: readonly HeldSecret[],
  delivery: SentDelivery | null,
  given: GivenSecret,
): Promise<Finding> {
  const { family, timestamp } = header;
  const times = timesOf(header, delivery);
  const texts = [payload, ...(delivery ? [delivery.payload] : [])].flatMap((body) =>
    [timestamp, ...times].map((at) => () => Buffer.from(signedText(family, body, at))),
  );
  const candidates = held.filter(({ owner }) => !delivery || owner === delivery.owner);
  const signer = await signerAmong(candidates, header, texts);
  const owner = delivery ?? signer;
  const differences = differencesOf(payload, delivery);
  const known = { signer: owner, differences };
  if (given === 'unknown') {
    const isErased = delivery !== null && !held.some((candidate) => candidate.owner === delivery.owner);
    return { ...known, reason: 'wrong_secret', message: isErased ? ERASED : UNKNOWN };
  }
  if (owner && given.owner !== owner.owner) {
    return { ...known, reason: 'wrong_secret', message: given.owner === null ? DEFAULT : OTHER };
  }
  if (signer) return { ...known, reason: 'old_secret', message: OLD[given.age] };
  if (!delivery) return { ...known, reason: 'body_changed', message: UNEXPLAINED[family] };
  if (differences.length > 0) return { ...known, ...changedBody(delivery.payload, payload) };
  if (family === 'canonical' && !times.includes(timestamp)) {
    const message = `t=${timestamp} is not the time of any recorded attempt of this delivery.`;
    return { ...known, reason: 'timestamp_changed', message };
  }
  return { ...known, reason: 'signature_changed', message: ALTERED };
}

/** Finds the secret that signed. Two hundred secrets mean megabytes to hash, so it yields to other work in between. */
async function signerAmong(
  candidates: readonly HeldSecret[],
  header: SignatureForm,
  texts: readonly (() => Buffer)[],
): Promise<HeldSecret | null> {
  let hashed = 0;
  for (const make of texts) {
    // Encodes the text once, not for each of two hundred secrets, and keeps one in memory at a time.
    const text = make();
    for (const candidate of candidates) {
      if (isSignature(header, hmac(candidate.secret, text))) return candidate;
      hashed += text.length;
      if (hashed < HASHED_AT_ONCE) continue;
      hashed = 0;
      await setImmediate();
    }
  }
  return null;
}

function fits(header: SignatureForm, key: string | Buffer, body: string, time: number): boolean {
  return isSignature(header, hmac(key, signedText(header.family, body, time)));
}

function isSignature(header: SignatureForm, made: string): boolean {
  return header.signatures.some((signature) => isSame(signature, made));
}

function timesOf({ family }: SignatureForm, delivery: SentDelivery | null): readonly number[] {
  return family === 'canonical' ? (delivery?.sentAt.slice(-MAX_TIMES) ?? []) : [];
}

function differencesOf(payload: string, delivery: SentDelivery | null): readonly BodyDifference[] {
  return delivery ? bodyDifferences(delivery.payload, payload) : [];
}

const SCHEME_OF: Record<EventFamily, string> = {
  canonical:
    'This is a canonical event: its signature is `t=<unix>,v1=<hex>`, the HMAC-SHA256 of "<t>.<raw body>". The header has the scheme of legacy events.',
  legacy:
    'This is a legacy event: its signature is `sha256=<hex>`, the HMAC-SHA256 of the raw body. The header has the scheme of canonical events.',
};
const UNKNOWN =
  'The secret given is of no endpoint of this account in this mode. Test and live mode have endpoints and secrets of their own, and a second rotation forgets the secret before the last one.';
const ERASED =
  'The signature was not made with the secret given. The endpoint it was sent to is deleted and its secrets are erased, so no more can be said.';
const DEFAULT =
  'The secret given is the account’s default secret, which signs only what is sent to the `webhookUrl` of a payment.';
const OTHER = 'The secret given belongs to another endpoint of the account.';
const OLD: Record<HeldSecret['age'], string> = {
  current:
    'The signature was made before the last rotation, with the previous secret. Accept both across a deploy, or rotate with overlap_seconds.',
  previous: 'The secret given was replaced by a rotation: the signature was made with the new one.',
};
const UNEXPLAINED: Record<EventFamily, string> = {
  canonical:
    'The secret given is right, so the body or the time is not what was signed. Send X-Service-Delivery-Id along to have them compared with what was sent.',
  legacy:
    'The secret given is right, so the body is not what was signed. Send X-Service-Delivery-Id along to have it compared with what was sent.',
};
const ALTERED =
  'Body, time and secret are right, so the signature is not the one of this delivery: altered on its way, or of another delivery.';

function rightSignature(given: GivenSecret, secondsOff: number | null): Finding {
  if (secondsOff !== null && Math.abs(secondsOff) > TOLERANCE_SECONDS) {
    const message =
      secondsOff > 0
        ? `The signature is right, but ${secondsOff} s old by our clock; verifiers refuse more than ${TOLERANCE_SECONDS} s. If that happens to fresh deliveries, your clock is ahead.`
        : `The signature is right, but its time is ${-secondsOff} s ahead of our clock; verifiers refuse more than ${TOLERANCE_SECONDS} s.`;
    return { reason: 'timestamp_out_of_tolerance', message };
  }
  const right = 'The signature is right.';
  if (given === 'unknown') {
    const message = `${right} But no endpoint of this account in this mode has this secret: this service would not have sent it like this.`;
    return { valid: true, reason: null, message };
  }
  if (given.age === 'previous') {
    const message = `${right} It was made with the secret before the last rotation; change to the new one.`;
    return { valid: true, reason: null, message };
  }
  const message = `${right} Where your own code refuses it, look at three things: the raw bytes of the body, before any parser; the secret as text, not decoded from hex; your clock.`;
  return { valid: true, reason: null, message };
}

function changedBody(original: string, payload: string): Finding {
  const differences = bodyDifferences(original, payload);
  if (isSameJson(original, payload)) {
    const message = `The body is the same JSON, but not the bytes that were signed (${differences.join(', ')}). Verify the raw body before any parser touches it.`;
    return { reason: 'body_reserialized', message, differences };
  }
  return {
    reason: 'body_changed',
    message: `The body is not what was signed (${differences.join(', ')}).`,
    differences,
  };
}

const NOTHING = {
  valid: false,
  scheme: null,
  timestamp: null,
  secondsOff: null,
  given: null,
  differences: [],
} as const;
