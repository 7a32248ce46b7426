import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { BrCodeError, checkBrCode, encodeBrCode, parseBrCode, type DynamicBrCode, type StaticBrCode } from './index.js';
import { crc16 } from './tlv.js';
import { anyCharacter } from '../../test/support/characters.js';
import { scaled } from '../../test/support/scale.js';

// Examples of BACEN's Manual de Padrões para Iniciação do Pix.
const OFFICIAL_STATIC =
  '00020126580014br.gov.bcb.pix0136123e4567-e12b-12d1-a456-4266554400005204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***63041D3D';
const OFFICIAL_DYNAMIC =
  '00020101021226700014br.gov.bcb.pix2548pix.example.com/8b3da2f39a4140d1a91abd93113bd4415204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***630464E4';
const KEY = '123e4567-e12b-12d1-a456-426655440000';
const LOCATION = 'pix.example.com/8b3da2f39a4140d1a91abd93113bd441';

const dynamic = (change: Partial<DynamicBrCode> = {}): DynamicBrCode => ({
  kind: 'dynamic',
  location: LOCATION,
  merchantName: 'Fulano de Tal',
  merchantCity: 'BRASILIA',
  ...change,
});
const fixed = (change: Partial<StaticBrCode> = {}): StaticBrCode => ({
  kind: 'static',
  key: KEY,
  merchantName: 'Fulano de Tal',
  merchantCity: 'BRASILIA',
  ...change,
});
const withCode = (code: string): unknown => expect.objectContaining({ name: 'BrCodeError', code });

const blankless = (max: number) =>
  fc.stringMatching(new RegExp(`^[!-~]([ -~]{0,${max - 2}}[!-~])?$`)).filter((text) => !text.includes('  '));
const cents = fc.integer({ min: 1, max: 999_999_999_999 });
const txids = fc.stringMatching(/^[A-Za-z0-9]{1,25}$/);
const locations = fc.stringMatching(
  /^[a-z]([a-z0-9-]{0,10}[a-z0-9])?\.[a-z]{2,5}(:[1-9][0-9]{1,4})?\/[A-Za-z0-9/._-]{1,45}$/,
);
const keys = fc.constantFrom(KEY, '12345678909', '12345678000195', '12ABC34501DE35', '+5511987654321', 'a.b@c.com.br');
const optional = {
  amount: fc.option(cents, { nil: null }),
  txid: fc.option(txids, { nil: null }),
};
const inputs: fc.Arbitrary<DynamicBrCode | StaticBrCode> = fc
  .record({
    target: fc.oneof(
      fc.record({ kind: fc.constant('dynamic' as const), location: locations }),
      fc.record({ kind: fc.constant('static' as const), key: keys, info: blankless(30) }),
    ),
    merchantName: blankless(25),
    merchantCity: blankless(15),
    ...optional,
  })
  .map(({ target, merchantName, merchantCity, amount, txid }) => ({
    ...target,
    merchantName,
    merchantCity,
    ...(amount === null ? {} : { amount }),
    ...(txid === null ? {} : { txid }),
  }));

describe('encodeBrCode', () => {
  it('writes the official dynamic example character by character', () => {
    expect(encodeBrCode(dynamic())).toBe(OFFICIAL_DYNAMIC);
  });

  it('writes the official static example character by character', () => {
    expect(encodeBrCode(fixed())).toBe(OFFICIAL_STATIC);
  });

  it.each([
    [1, '54040.01'],
    [99, '54040.99'],
    [100, '54041.00'],
    [10050, '5406100.50'],
    [999_999_999_999, '54139999999999.99'],
  ])('writes %d cents as %s', (amount, object) => {
    const payload = encodeBrCode(dynamic({ amount }));
    expect(payload).toContain(object);
    expect(parseBrCode(payload).amount).toBe(amount);
  });

  it.each([
    ['São João Comércio de Pães', 'Sao Joao Comercio de Paes'],
    ['Loja\tdo\u00a0 José\r\n', 'Loja do Jose'],
    ['Padaria 🍞 Ltda', 'Padaria Ltda'],
    ['Vinte e quatro caracteres e mais', 'Vinte e quatro caracteres'],
    ['Corte antes da palavra 25 X', 'Corte antes da palavra 25'],
    ['Vinte e quatro letras ab cd', 'Vinte e quatro letras ab'],
    ['東京', 'RECEBEDOR'],
    ['', 'RECEBEDOR'],
  ])('writes the name %j as %s', (merchantName, expected) => {
    expect(parseBrCode(encodeBrCode(dynamic({ merchantName }))).merchantName).toBe(expected);
  });

  it.each([
    ['São José do Rio Preto', 'Sao Jose do Rio'],
    ['  ', 'BRASIL'],
  ])('writes the city %j as %s', (merchantCity, expected) => {
    expect(parseBrCode(encodeBrCode(dynamic({ merchantCity }))).merchantCity).toBe(expected);
  });

  it('fills template 26 to its 99 characters and refuses one more with a remedy', () => {
    const location = `pix.example.com/${'a'.repeat(61)}`;
    expect(location).toHaveLength(77);
    expect(parseBrCode(encodeBrCode(dynamic({ location })))).toMatchObject({ location });
    expect(() => encodeBrCode(dynamic({ location: `${location}a` }))).toThrow(
      expect.objectContaining({
        code: 'location_too_long',
        message: expect.stringMatching(/78 characters.*at most 77.*shorten/) as unknown,
      }),
    );
  });

  it.each([
    ['https://pix.example.com/a', 'location_has_scheme'],
    ['pix.example.com', 'location_invalid'],
    ['pix.example.com/', 'location_invalid'],
    ['pix.example.com/a b', 'location_invalid'],
    ['pix.example.com/a?b=c', 'location_invalid'],
    ['pix.exämple.com/a', 'location_invalid'],
    ['-pix.example.com/a', 'location_invalid'],
    ['', 'location_invalid'],
  ])('refuses the location %j: %s', (location, code) => {
    expect(() => encodeBrCode(dynamic({ location }))).toThrow(withCode(code));
  });

  it('allows the host and port of a service on a developer’s machine', () => {
    const location = 'localhost:3000/pix/0198c5d2a1b27c3d8e4f5a6b7c8d9e0f';
    expect(parseBrCode(encodeBrCode(dynamic({ location })))).toMatchObject({ location });
  });

  it.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 1_000_000_000_000])('refuses %d cents', (amount) => {
    expect(() => encodeBrCode(dynamic({ amount }))).toThrow(withCode('amount_invalid'));
  });

  it.each([
    ['a'.repeat(35), 'txid_too_long'],
    ['RP12345678-2019', 'txid_invalid'],
    ['', 'txid_invalid'],
    ['**', 'txid_invalid'],
  ])('refuses the txid %j: %s', (txid, code) => {
    expect(() => encodeBrCode(dynamic({ txid }))).toThrow(withCode(code));
  });

  it.each(['12345678900', '123.456.789-09', '11987654321', 'A@b.com', KEY.toUpperCase(), 'x', ''])(
    'refuses the key %j',
    (key) => {
      expect(() => encodeBrCode(fixed({ key }))).toThrow(withCode('key_invalid'));
    },
  );

  it('fits as much text beside a key as template 26 holds and no more', () => {
    const info = 'i'.repeat(73 - KEY.length);
    expect(parseBrCode(encodeBrCode(fixed({ info })))).toMatchObject({ info });
    expect(() => encodeBrCode(fixed({ info: `${info}i` }))).toThrow(withCode('info_too_long'));
    const key = `${'k'.repeat(60)}@example.com.br`;
    expect(() => encodeBrCode(fixed({ key, info: 'x' }))).toThrow(/ 0 fit/);
  });

  it('writes a code that parses back to the same values', () => {
    fc.assert(
      fc.property(inputs, (input) => {
        const code = parseBrCode(encodeBrCode(input));
        expect(code).toMatchObject({
          ...input,
          amount: input.amount ?? null,
          txid: input.txid ?? null,
          singleUse: input.kind === 'dynamic',
        });
      }),
      { numRuns: scaled(500, 100) },
    );
  });

  it('makes a strictly valid ASCII code of any name and city', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), fc.string({ unit: 'grapheme' }), (merchantName, merchantCity) => {
        const code = parseBrCode(encodeBrCode(dynamic({ merchantName, merchantCity })));
        expect(code.merchantName).toMatch(/^[!-~]([ -~]{0,23}[!-~])?$/);
        expect(code.merchantCity).toMatch(/^[!-~]([ -~]{0,13}[!-~])?$/);
      }),
      { numRuns: scaled(500, 100) },
    );
  });
});

describe('a damaged code', () => {
  const envelopeOf = (payload: string): string | undefined => {
    const { wellFormed, violations } = checkBrCode(payload);
    return wellFormed ? undefined : violations[0]?.code;
  };

  it('is refused for any single changed character of an official code', () => {
    const payload = OFFICIAL_DYNAMIC;
    let changes = 0;
    for (let at = 0; at < payload.length; at += 1) {
      for (let letter = 0x20; letter <= 0x7e; letter += 1) {
        if (payload.charCodeAt(at) === letter) continue;
        const changed = payload.slice(0, at) + String.fromCharCode(letter) + payload.slice(at + 1);
        if (envelopeOf(changed) === undefined) throw new Error(`accepted: ${changed}`);
        changes += 1;
      }
    }
    expect(changes).toBe(payload.length * 94);
  });

  it('is refused for any single changed character of our own codes, by CRC or TLV', () => {
    fc.assert(
      fc.property(
        inputs,
        fc.nat(),
        fc.string({ unit: anyCharacter, minLength: 1, maxLength: 1 }),
        (input, where, letter) => {
          const payload = encodeBrCode(input);
          const at = where % payload.length;
          fc.pre(payload.charAt(at) !== letter);
          const changed = payload.slice(0, at) + letter + payload.slice(at + 1);
          expect(['crc_mismatch', 'crc_missing', 'tlv_malformed', 'not_ascii']).toContain(envelopeOf(changed));
          expect(() => parseBrCode(changed)).toThrow(BrCodeError);
        },
      ),
      { numRuns: scaled(1000, 100) },
    );
  });

  it('is refused when cut at any place', () => {
    const payload = encodeBrCode(dynamic({ amount: 1990 }));
    for (let length = 0; length < payload.length; length += 1) {
      expect(checkBrCode(payload.slice(0, length)).wellFormed).toBe(false);
    }
  });

  it('never makes the parser throw anything but a BrCodeError', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, maxLength: 600 }), (text) => {
        expect(() => parseBrCode(text)).toThrow(BrCodeError);
        // A right CRC gets the text past the checksum and into the TLV reader.
        const body = `${text.replace(/[^ -~]/g, '0')}6304`;
        expect(() => parseBrCode(body + crc16(body))).toThrow(BrCodeError);
      }),
    );
  });
});
