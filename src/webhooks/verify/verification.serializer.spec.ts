import { describe, expect, it } from '@jest/globals';
import type { HeldSecret, Verification } from './verification.js';
import { verificationBody } from './verification.serializer.js';

const now = new Date('2026-11-03T12:00:02.000Z');
const secret = 'f'.repeat(64);
const held = (owner: string | null, age: 'current' | 'previous' = 'current'): HeldSecret => ({ secret, owner, age });
const verification = (changes: Partial<Verification>): Verification => ({
  valid: false,
  reason: 'wrong_secret',
  message: 'Because.',
  scheme: 'canonical',
  timestamp: 1_793_707_200,
  secondsOff: 2,
  given: held('e1'),
  signer: { owner: 'e1' },
  differences: ['whitespace'],
  ...changes,
});

describe('the serialized verification', () => {
  it('has exactly the documented keys, and no secret', () => {
    const delivery = { id: 'd1', owner: 'e1', payload: 'p', sentAt: [1] };
    const body = verificationBody(verification({ signer: delivery }), delivery, now);
    expect(body).toStrictEqual({
      valid: false,
      reason: 'wrong_secret',
      message: 'Because.',
      details: {
        scheme: 'canonical',
        deliveryId: 'wd_d1',
        endpointId: 'wh_e1',
        secret: 'current',
        secretEndpointId: null,
        timestamp: '2026-11-03T12:00:00.000Z',
        secondsOff: 2,
        checkedAt: '2026-11-03T12:00:02.000Z',
        differences: ['whitespace'],
      },
    });
  });

  it('is null where a value is unknown', () => {
    const nothing = verification({
      scheme: null,
      timestamp: null,
      secondsOff: null,
      given: null,
      signer: null,
      differences: [],
    });
    expect(verificationBody(nothing, null, now).details).toStrictEqual({
      scheme: null,
      deliveryId: null,
      endpointId: null,
      secret: null,
      secretEndpointId: null,
      timestamp: null,
      secondsOff: null,
      checkedAt: '2026-11-03T12:00:02.000Z',
      differences: [],
    });
  });

  it.each([
    ['of the endpoint', held('e1'), 'e1', 'current', 'wh_e1', null],
    ['of before a rotation', held('e1', 'previous'), 'e1', 'previous', 'wh_e1', null],
    ['of another endpoint', held('e2'), 'e1', 'other_endpoint', 'wh_e1', 'wh_e2'],
    ['of an endpoint where the default one is due', held('e2'), null, 'other_endpoint', null, 'wh_e2'],
    ['the default one where an endpoint’s is due', held(null), 'e1', 'default', 'wh_e1', null],
    ['the default one where it is due', held(null), null, 'current', null, null],
    ['of nobody', 'unknown', 'e1', 'unknown', 'wh_e1', null],
  ] as const)('names the owner of the secret: %s', (_what, given, owner, kind, endpointId, secretEndpointId) => {
    const { details } = verificationBody(verification({ given, signer: { owner } }), null, now);
    expect(details).toMatchObject({ secret: kind, endpointId, secretEndpointId });
  });

  it('names the secret’s own endpoint when the signer is unknown', () => {
    const { details } = verificationBody(verification({ given: held('e1', 'previous'), signer: null }), null, now);
    expect(details).toMatchObject({ secret: 'previous', endpointId: 'wh_e1' });
    const unknown = verificationBody(verification({ given: 'unknown', signer: null }), null, now);
    expect(unknown.details).toMatchObject({ secret: 'unknown', endpointId: null });
  });
});
