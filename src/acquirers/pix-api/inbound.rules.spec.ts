import { describe, expect, it } from '@jest/globals';
import { inboundProblem } from './inbound.rules.js';

const from = (address: string, certified: boolean | null = null) => ({ address, certified });
const ADDRESSES = ['192.0.2.7', '198.51.100.0/24', '2001:db8::/32'];

describe('the caller of a callback', () => {
  it.each([
    [false, null, null],
    [false, false, null],
    [true, null, null],
    [true, true, null],
    [true, false, 'certificate'],
  ] as const)(
    'is checked when a certificate is required (%s) and the proxy reports %s: problem %s',
    (mtls, certified, problem) => {
      expect(inboundProblem({ mtls, addresses: null }, from('192.0.2.1', certified))).toBe(problem);
    },
  );

  it.each(['192.0.2.7', '::ffff:192.0.2.7', '198.51.100.255', '2001:db8:1::1'])(
    'at %s is accepted, since the list of addresses contains it',
    (address) => {
      expect(inboundProblem({ mtls: false, addresses: ADDRESSES }, from(address))).toBeNull();
    },
  );

  it.each(['192.0.2.8', '198.51.101.0', '2001:db9::1', '::ffff:192.0.2.8', '', 'nonsense'])(
    'at %j is refused, since the list of addresses lacks it',
    (address) => expect(inboundProblem({ mtls: false, addresses: ADDRESSES }, from(address))).toBe('address'),
  );

  it('is refused if the list of addresses is empty', () => {
    expect(inboundProblem({ mtls: false, addresses: [] }, from('192.0.2.7'))).toBe('address');
  });
});
