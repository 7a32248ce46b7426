import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { addressFor, quote } from './crypto-quote.js';

const sha256 = (data: Buffer): Buffer => createHash('sha256').update(data).digest();

describe('a crypto quote', () => {
  it.each([
    [1990, 'BRL', '3.62', 'USDT'],
    [550, 'BRL', '1.00', 'USDT'],
    [551, 'BRL', '1.01', 'USDT'],
    [1, 'BRL', '0.01', 'USDT'],
    [100, 'USD', '1.00', 'USDT'],
    [12_345, 'USDT', '123.45', 'USDT'],
    [90, 'EUR', '1.00', 'USDT'],
    [999_999_999_999, 'EUR', '11111111111.10', 'USDT'],
    [1, 'BTC', '0.00000001', 'BTC'],
    [123_456_789, 'BTC', '1.23456789', 'BTC'],
  ])('for %d of %s is %s %s', (amount, currency, expected, crypto) => {
    expect(quote(amount, currency)).toMatchObject({ amount: expected, currency: crypto });
  });

  it('does not exist for a currency without a rate', () => {
    expect([quote(1, 'XYZ'), quote(1, 'constructor'), quote(1, 'toString')]).toEqual([null, null, null]);
  });

  it('survives JSON as a number, digit for digit', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 999_999_999_999 }),
        fc.constantFrom('BRL', 'EUR', 'USD', 'BTC'),
        (amount, currency) => {
          const text = quote(amount, currency)?.amount ?? '';
          const number = JSON.parse(JSON.stringify(Number(text))) as number;
          expect(number.toFixed(currency === 'BTC' ? 8 : 2)).toBe(text);
        },
      ),
    );
  });
});

describe('a sandbox address', () => {
  it('on TRON is Base58Check of 0x41 and 20 bytes', () => {
    const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
    for (const seed of ['a', 'b', 'another']) {
      const address = addressFor('TRON_TESTNET', seed);
      expect(address).toMatch(/^T[1-9A-HJ-NP-Za-km-z]{33}$/);
      const number = [...address].reduce((sum, character) => sum * 58n + BigInt(alphabet.indexOf(character)), 0n);
      const bytes = Buffer.from(number.toString(16).padStart(50, '0'), 'hex');
      expect(bytes[0]).toBe(0x41);
      expect(bytes.subarray(21)).toEqual(sha256(sha256(bytes.subarray(0, 21))).subarray(0, 4));
    }
  });

  it('on Bitcoin’s test network is Bech32 with a valid checksum', () => {
    const charset = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';
    /** The reference implementation of BIP 173, in integers of any size. */
    const polymod = (values: readonly number[]): bigint => {
      const generator = [0x3b6a57b2n, 0x26508e6dn, 0x1ea119fan, 0x3d4233ddn, 0x2a1462b3n];
      return values.reduce((check, value) => {
        const top = check >> 25n;
        const next = ((check & 0x1ffffffn) << 5n) ^ BigInt(value);
        return generator.reduce((sum, part, bit) => ((top >> BigInt(bit)) & 1n ? sum ^ part : sum), next);
      }, 1n);
    };
    const isValid = (address: string): boolean => {
      const [prefix = '', data = ''] = [address.slice(0, 2), address.slice(3)];
      const codes = [...prefix].map((character) => character.charCodeAt(0));
      const values = [...data].map((character) => charset.indexOf(character));
      return polymod([...codes.map((code) => code >> 5), 0, ...codes.map((code) => code & 31), ...values]) === 1n;
    };
    // BIP 173's own example of a P2WPKH address on a test network.
    expect(isValid('tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx')).toBe(true);
    for (const seed of ['a', 'b', 'another']) {
      const address = addressFor('BITCOIN_TESTNET', seed);
      expect(address).toMatch(/^tb1q[02-9ac-hj-np-z]{38}$/);
      expect(isValid(address)).toBe(true);
    }
  });

  it('is the same for the same seed, and different for different seeds', () => {
    expect(addressFor('TRON_TESTNET', 'a')).toBe(addressFor('TRON_TESTNET', 'a'));
    expect(addressFor('TRON_TESTNET', 'a')).not.toBe(addressFor('TRON_TESTNET', 'b'));
  });
});
