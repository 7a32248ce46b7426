import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { signatureHeader } from '../sending/signature.js';
import {
  type HeldSecret,
  type Received,
  type SentDelivery,
  type Verification,
  VERIFICATION_REASONS,
  verify,
} from './verification.js';

const now = new Date('2026-11-03T12:00:00.500Z');
const t = 1_793_707_200; // 2026-11-03T12:00:00Z
const secretOf = (): string => randomBytes(32).toString('hex');
const [current, previous, other, ofAccount] = [secretOf(), secretOf(), secretOf(), secretOf()];
const held: readonly HeldSecret[] = [
  { secret: other, owner: 'other', age: 'current' },
  { secret: current, owner: 'endpoint', age: 'current' },
  { secret: previous, owner: 'endpoint', age: 'previous' },
  { secret: ofAccount, owner: null, age: 'current' },
];
const canonical = JSON.stringify({
  id: 'evt_1',
  object: 'event',
  type: 'charge.paid',
  data: { object: { n: 'João' } },
});
const legacy = JSON.stringify({ event: 'payment.completed', data: { amount: 1990, name: 'João' } });
const sentAt = [t - 40, t - 10, t];

const deliveryOf = (payload: string, owner: string | null = 'endpoint'): SentDelivery => ({
  id: 'delivery',
  owner,
  payload,
  sentAt,
});
const sign = (secret: string, payload = canonical, time = t): string =>
  signatureHeader(payload === legacy ? 'legacy' : 'canonical', [secret], payload, time);

async function explain(
  changes: Partial<Received>,
  delivery: SentDelivery | null = deliveryOf(canonical),
): Promise<Verification> {
  return verify({ payload: canonical, signature: sign(current), secret: current, ...changes }, held, delivery, now);
}
const reasons = new Set<string>();
/** Returns the reasons with and without a known delivery. */
async function reasonOf(
  changes: Partial<Received>,
  delivery: SentDelivery | null = deliveryOf(canonical),
): Promise<string | null> {
  const { reason, valid } = await explain(changes, delivery);
  expect(valid).toBe(reason === null);
  if (reason !== null) reasons.add(reason);
  return reason;
}

describe('verifying a signature', () => {
  it.each([
    ['canonical', canonical],
    ['legacy', legacy],
  ] as const)('accepts an unchanged webhook: %s', async (scheme, payload) => {
    for (const delivery of [deliveryOf(payload), null]) {
      const answer = await explain({ payload, signature: sign(current, payload) }, delivery);
      expect(answer).toMatchObject({ valid: true, reason: null, scheme, differences: [] });
      expect(answer.timestamp).toBe(scheme === 'canonical' ? t : null);
      expect(answer.secondsOff).toBe(scheme === 'canonical' ? 0 : null);
    }
  });

  it.each(['canonical', 'legacy'] as const)('accepts either secret of an overlap: %s', async (family) => {
    const payload = family === 'canonical' ? canonical : legacy;
    const signature = signatureHeader(family, [current, previous], payload, t);
    for (const secret of [current, previous]) expect(await reasonOf({ payload, signature, secret }, null)).toBeNull();
    expect((await explain({ payload, signature, secret: previous }, null)).message).toMatch(/before the last rotation/);
  });

  it('accepts a right signature by an unknown secret, and reports that nobody has the secret', async () => {
    const secret = secretOf();
    const answer = await explain({ signature: sign(secret), secret }, null);
    expect(answer).toMatchObject({ valid: true, given: 'unknown' });
    expect(answer.message).toMatch(/no endpoint of this account in this mode has this secret/);
  });

  it('reports a missing header', async () => {
    expect(await reasonOf({ signature: null })).toBe('signature_missing');
    expect(await reasonOf({ signature: '  ' })).toBe('signature_missing');
  });

  it.each([
    ['a line break', `${current}\n`, /line break/],
    ['a blank', ` ${current}`, /white space/],
    ['quotation marks', `"${current}"`, /quotation/],
    ['upper case', current.replace(/^./, 'a').toUpperCase(), /upper-case/],
    ['base64 of its bytes', Buffer.from(current, 'hex').toString('base64'), /decoded from hex/],
    ['bytes', 'A'.repeat(32), /decoded from hex/],
    ['a cut', current.slice(0, 63), /63 characters/],
    ['nothing', '', /0 characters/],
    ['an API key', 'ak_test_AAAA', /API key/],
  ])('reports a malformed secret, without repeating it: %s', async (_what, secret, text) => {
    const answer = await explain({ secret });
    expect(answer).toMatchObject({ valid: false, reason: 'secret_malformed', given: null });
    expect(answer.message).toMatch(text);
    if (secret.length > 8) expect(JSON.stringify(answer)).not.toContain(secret.trim().slice(0, 8));
    reasons.add('secret_malformed');
  });

  it('reports that the signer decoded the secret from hex', async () => {
    const signature = signatureHeader('legacy', [Buffer.from(current, 'hex') as unknown as string], legacy, t);
    const answer = await explain({ payload: legacy, signature }, null);
    expect(answer.reason).toBe('secret_malformed');
    expect(answer.message).toMatch(/decoded from hex/);
  });

  it.each([
    ['without its time', sign(current).replace(/^t=\d+,/, '')],
    ['without its v1', `t=${t}`],
    ['with two times', `t=${t},${sign(current)}`],
    ['cut off', sign(current).slice(0, -1)],
    ['in upper case', sign(current).toUpperCase().replace('T=', 't=').replace('V1=', 'v1=')],
    ['with blanks', sign(current).replace(',', ', ')],
    ['with a time that is no number', sign(current).replace(`t=${t}`, 't=now')],
    ['with something unknown in it', `${sign(current)},v9=x`],
    ['of both schemes', `${sign(current)},${sign(current, legacy)}`],
    ['without end', Array.from({ length: 11 }, () => sign(current, legacy)).join(',')],
  ])('reports a malformed signature: %s', async (_what, signature) => {
    expect(await reasonOf({ signature })).toBe('malformed_signature');
    expect(await reasonOf({ signature }, null)).toBe('malformed_signature');
  });

  it.each([
    [
      'a legacy one on a canonical event',
      canonical,
      signatureHeader('legacy', [current], canonical, t),
      /canonical event/,
    ],
    ['a canonical one on a legacy event', legacy, signatureHeader('canonical', [current], legacy, t), /legacy event/],
    ['the bare hex', canonical, sign(current).slice(-64), /not known/],
    ['sha1', canonical, 'sha1=aa', /not known/],
  ])('reports a wrong scheme: %s', async (_what, payload, signature, text) => {
    for (const delivery of [deliveryOf(payload), null]) {
      expect(await reasonOf({ payload, signature }, delivery)).toBe('wrong_scheme');
      expect((await explain({ payload, signature }, delivery)).message).toMatch(text);
    }
  });

  it('reports an old secret, whichever side has it', async () => {
    for (const delivery of [deliveryOf(canonical), null]) {
      expect(await reasonOf({ secret: previous }, delivery)).toBe('old_secret');
      expect((await explain({ secret: previous }, delivery)).message).toMatch(/was replaced/);
      expect(await reasonOf({ signature: sign(previous) }, delivery)).toBe('old_secret');
      expect((await explain({ signature: sign(previous) }, delivery)).message).toMatch(/before the last rotation/);
    }
  });

  it('reports the owner of a wrong secret', async () => {
    for (const delivery of [deliveryOf(canonical), null]) {
      expect(await explain({ secret: other }, delivery)).toMatchObject({
        reason: 'wrong_secret',
        given: { owner: 'other' },
        signer: { owner: 'endpoint' },
      });
      expect((await explain({ secret: ofAccount }, delivery)).message).toMatch(/default secret/);
      expect(await explain({ secret: secretOf() }, delivery)).toMatchObject({
        reason: 'wrong_secret',
        given: 'unknown',
      });
    }
    expect(await reasonOf({ payload: legacy, signature: sign(ofAccount, legacy) }, deliveryOf(legacy, null))).toBe(
      'wrong_secret',
    );
    const toUrl = { payload: legacy, signature: sign(ofAccount, legacy), secret: ofAccount };
    expect(await reasonOf(toUrl, deliveryOf(legacy, null))).toBeNull();
  });

  it('reports that the secrets of a deleted endpoint are gone, but accepts a right signature', async () => {
    const secret = secretOf();
    const gone = deliveryOf(canonical, 'deleted');
    expect((await explain({ secret, signature: sign(secretOf()) }, gone)).message).toMatch(/is deleted/);
    expect(await reasonOf({ secret, signature: sign(secret) }, gone)).toBeNull();
    expect(await reasonOf({ secret, signature: sign(secret), payload: `${canonical}\n` }, gone)).toBe(
      'body_reserialized',
    );
  });

  it.each([
    ['canonical', canonical],
    ['legacy', legacy],
  ])('proves that a body was serialized again: %s', async (_family, sent) => {
    const signature = sign(current, sent);
    const indented = JSON.stringify(JSON.parse(sent), null, 2);
    for (const delivery of [deliveryOf(sent), null]) {
      const answer = await explain({ payload: indented, signature }, delivery);
      expect(answer).toMatchObject({ reason: 'body_reserialized', differences: ['whitespace'] });
      expect(answer.message).toContain('raw body');
      const misread = Buffer.from(sent, 'utf8').toString('latin1');
      expect(await explain({ payload: misread, signature }, delivery)).toMatchObject({
        reason: 'body_changed',
        differences: ['charset'],
      });
    }
    reasons.add('body_reserialized').add('body_changed');
    const turned = JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(sent) as object).reverse()));
    expect(await explain({ payload: turned, signature }, deliveryOf(sent))).toMatchObject({
      reason: 'body_reserialized',
      differences: ['key_order'],
    });
    // Without the delivery, the signed order of keys is unknown.
    expect(await reasonOf({ payload: turned, signature }, null)).toBe('body_changed');
  });

  it('reports a changed body', async () => {
    const payload = canonical.replace('João', 'Maria');
    expect(await explain({ payload })).toMatchObject({ reason: 'body_changed', differences: ['content'] });
    expect((await explain({ payload }, null)).message).toMatch(/X-Service-Delivery-Id/);
    expect(await explain({ payload: canonical.slice(0, 30) })).toMatchObject({ differences: ['truncated'] });
    // Body and signature both differ from the sent ones.
    expect(await reasonOf({ payload, signature: sign(current).replace(/.{64}$/, 'a'.repeat(64)) })).toBe(
      'body_changed',
    );
  });

  it('reports a changed time', async () => {
    const moved = sign(current).replace(`t=${t}`, `t=${t - 10}`);
    expect(await explain({ signature: moved })).toMatchObject({ reason: 'timestamp_changed' });
    expect((await explain({ signature: moved })).message).toContain(`t=${t},`);
    expect(await explain({ signature: moved, payload: `${canonical}\n` })).toMatchObject({
      reason: 'timestamp_changed',
      differences: ['trailing_newline'],
    });
    // If an attempt is not recorded, its signed time is unknown, but this time is still proven wrong.
    const unknown = sign(current, canonical, t - 5).replace(`t=${t - 5}`, `t=${t - 6}`);
    expect(await reasonOf({ signature: unknown })).toBe('timestamp_changed');
    expect(await reasonOf({ signature: moved }, null)).toBe('body_changed');
  });

  it.each([301, 7_200])('reports the age of a right signature: %d s', async (seconds) => {
    const answer = await explain({ signature: sign(current, canonical, t - seconds) }, null);
    expect(answer).toMatchObject({ valid: false, reason: 'timestamp_out_of_tolerance', secondsOff: seconds });
    expect(answer.message).toContain(`${seconds} s old`);
    const ahead = await explain({ signature: sign(current, canonical, t + seconds) }, null);
    expect(ahead).toMatchObject({ reason: 'timestamp_out_of_tolerance', secondsOff: -seconds });
    expect(ahead.message).toContain(`${seconds} s ahead`);
    reasons.add('timestamp_out_of_tolerance');
  });

  it('allows 300 s either way, and any time on legacy events, which sign none', async () => {
    for (const seconds of [300, -300]) {
      expect(await reasonOf({ signature: sign(current, canonical, t - seconds) }, null)).toBeNull();
    }
    const later = new Date(now.getTime() + 86_400_000);
    const received = { payload: legacy, signature: sign(current, legacy), secret: current };
    expect(await verify(received, held, null, later)).toMatchObject({ valid: true, secondsOff: null });
  });

  it('reports a signature that does not belong to this delivery', async () => {
    expect(await reasonOf({ signature: `t=${t},v1=${'a'.repeat(64)}` })).toBe('signature_changed');
    const foreign = { payload: legacy, signature: `sha256=${'a'.repeat(64)}` };
    expect(await reasonOf(foreign, deliveryOf(legacy))).toBe('signature_changed');
  });

  it('has been tested with every reason of the contract', async () => {
    expect([...reasons].sort()).toEqual([...VERIFICATION_REASONS].sort());
  });
});
