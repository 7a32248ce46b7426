import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { normalizePixKey } from './pix-key.js';

describe('a Pix key', () => {
  it.each([
    ['529.982.247-25', 'cpf', '52998224725'],
    [' 52998224725 ', 'cpf', '52998224725'],
    ['11.222.333/0001-81', 'cnpj', '11222333000181'],
    ['12.abc.345/01de-35', 'cnpj', '12ABC34501DE35'],
    ['Maria.Silva+pix@Example.COM', 'email', 'maria.silva+pix@example.com'],
    [`${'a'.repeat(65)}@example.com`, 'email', `${'a'.repeat(65)}@example.com`],
    ['+5511987654321', 'phone', '+5511987654321'],
    ['+55 (11) 98765-4321', 'phone', '+5511987654321'],
    ['+55 21 2345-6789', 'phone', '+552123456789'],
    ['123E4567-E12B-12D1-A456-426655440000', 'random', '123e4567-e12b-12d1-a456-426655440000'],
  ])('%j is a %s and is normalized to %s', (text, kind, key) => {
    expect(normalizePixKey(text)).toEqual({ kind, key });
  });

  it.each([
    ...['', ' ', 'x', 'maria', '52998224724', '00000000000', '11222333000182', '5299822472'],
    // A phone needs its country: without it these digits are a CPF, or nothing.
    ...['11987654321', '5511987654321', '+551198765432', '+55119876543210', '+5501987654321', '+5511887654321'],
    ...['+5511187654321', '+1 202 555 0123', '+', '+55', '+55 11 9876x4321', '++5511987654321'],
    ...['a@', '@b.com', 'a@b@c.com', 'a b@c.com', 'a@-b.com', 'a@b-.com', 'á@b.com', '\u212a@b.com', 'a@b..com'],
    ...[`${'a'.repeat(66)}@example.com`, 'a@b.com\u0000'],
    ...[
      '123e4567e12b12d1a456426655440000',
      '123e4567-e12b-12d1-a456-42665544000',
      '123g4567-e12b-12d1-a456-426655440000',
    ],
    ...['{23e4567-e12b-12d1-a456-426655440000', '------------------------------------'],
  ])('%j is not a key', (text) => {
    expect(normalizePixKey(text)).toBeNull();
  });

  it('stays unchanged when it is normalized again', () => {
    const like = fc.oneof(
      fc.emailAddress(),
      fc.uuid(),
      fc.stringMatching(/^\+55[1-9]{2}9[0-9]{8}$/),
      fc.stringMatching(/^[0-9A-Za-z.+@-]{0,40}$/),
      fc.string(),
    );
    let keys = 0;
    fc.assert(
      fc.property(like, (text) => {
        const found = normalizePixKey(text);
        if (found === null) return;
        keys++;
        expect(normalizePixKey(found.key)).toEqual(found);
      }),
      { numRuns: 500 },
    );
    expect(keys).toBeGreaterThan(100);
  });
});
