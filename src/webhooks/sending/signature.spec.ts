import { createHmac, randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import Stripe from 'stripe';
import { signatureHeader } from './signature.js';

const secret = randomBytes(32).toString('hex');
const old = randomBytes(32).toString('hex');
const body = JSON.stringify({ id: 'evt_1', object: 'event', data: { object: { name: 'João da Conceição €' } } });
const now = 1_793_707_200;
const stripe = new Stripe('sk_test_unused');

function verify(rawBody: string, header: string, key: string, receivedAt = now): object {
  return stripe.webhooks.constructEvent(rawBody, header, key, 300, undefined, receivedAt * 1000);
}

describe('canonical signature', () => {
  it('is accepted by the verifier of the stripe package', () => {
    const header = signatureHeader('canonical', [secret], body, now);
    expect(header).toMatch(/^t=1793707200,v1=[0-9a-f]{64}$/);
    expect(verify(body, header, secret)).toMatchObject({ id: 'evt_1', object: 'event' });
  });

  it('is refused by the stripe package for another body, another secret, another time or a late replay', () => {
    const header = signatureHeader('canonical', [secret], body, now);
    expect(() => verify(body.replace('evt_1', 'evt_2'), header, secret)).toThrow('No signatures found');
    expect(() => verify(body, header, randomBytes(32).toString('hex'))).toThrow('No signatures found');
    expect(() => verify(body, header.replace(`t=${now}`, `t=${now + 1}`), secret)).toThrow('No signatures found');
    expect(() => verify(body, header, secret, now + 301)).toThrow('outside the tolerance zone');
  });

  it('has the newer of two secrets first, and is accepted with either', () => {
    const header = signatureHeader('canonical', [secret, old], body, now);
    const [alone, before] = [secret, old].map((key) => signatureHeader('canonical', [key], body, now));
    expect(header).toBe(`${alone},${before?.replace(`t=${now},`, '')}`);
    for (const key of [secret, old]) expect(verify(body, header, key)).toMatchObject({ id: 'evt_1' });
    expect(() => verify(body, header, randomBytes(32).toString('hex'))).toThrow('No signatures found');
    expect(() => verify(`${body} `, header, old)).toThrow('No signatures found');
  });

  it('uses the secret as text: a key decoded from hex makes another signature', () => {
    const decoded = createHmac('sha256', Buffer.from(secret, 'hex')).update(`${now}.${body}`).digest('hex');
    expect(signatureHeader('canonical', [secret], body, now)).not.toContain(decoded);
  });
});

describe('legacy signature', () => {
  it('is the HMAC of the raw body with the secret as text', () => {
    const expected = createHmac('sha256', secret).update(Buffer.from(body, 'utf8')).digest('hex');
    expect(signatureHeader('legacy', [secret], body, now)).toBe(`sha256=${expected}`);
  });

  it('has the newer of two secrets first', () => {
    const [first, second] = [secret, old].map((key) => createHmac('sha256', key).update(body).digest('hex'));
    expect(signatureHeader('legacy', [secret, old], body, now)).toBe(`sha256=${first},sha256=${second}`);
  });

  it('agrees with a fixed vector', () => {
    // printf '{"event":"payment.completed"}' | openssl dgst -sha256 -hmac <64 times "a">
    expect(signatureHeader('legacy', ['a'.repeat(64)], '{"event":"payment.completed"}', now)).toBe(
      'sha256=31b41950bac51fd4610637ea6e923c56156c938e1212bd88ec62788bc0e1177d',
    );
  });
});
