import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  isEndToEndId,
  isReturnId,
  isTxid,
  newEndToEndId,
  newReturnId,
  newRtrId,
  newTxid,
  parseEndToEndId,
} from './index.js';

const ISPB = '12345678';
const UUID = '0198C5D2-a1b2-7c3d-8e4f-5a6b7c8d9e0f';
const dates = fc.date({ min: new Date('1970-01-01'), max: new Date('9999-12-31T23:59:59Z'), noInvalidDate: true });

describe('end-to-end ids', () => {
  it('carry the bank and the minute in UTC', () => {
    const id = newEndToEndId(ISPB, new Date('2026-11-20T23:59:59.999-03:00'));
    expect(id).toMatch(/^E12345678202611210259[A-Za-z0-9]{11}$/);
    expect(id).toHaveLength(32);
    expect(newRtrId(ISPB, new Date('2024-02-29T00:00:00Z'))).toMatch(/^D12345678202402290000[A-Za-z0-9]{11}$/);
  });

  it('are read back to the bank and the minute', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[0-9]{8}$/), dates, (ispb, at) => {
        const minute = new Date(Math.floor(at.getTime() / 60_000) * 60_000);
        expect(parseEndToEndId(newEndToEndId(ispb, at))).toEqual({ ispb, initiatedAt: minute });
      }),
    );
  });

  // Examples of API Pix 2.9.0; the third has 34 characters, against its own schema.
  it.each([
    ['E12345678202406201221abcdef12345', true],
    ['E1234567820200909122120200808008', true],
    ['E12345678202009091221ghijk78901234', false],
  ])('accepts or refuses the published example %s: %s', (id, expected) => {
    expect(isEndToEndId(id)).toBe(expected);
  });

  it.each([
    ['', 'nothing'],
    ['D12345678202406201221abcdef12345', 'a devolution id'],
    ['e12345678202406201221abcdef12345', 'a small e'],
    ['E1234567A202406201221abcdef12345', 'a letter in the ISPB'],
    ['E12345678202402301221abcdef12345', '30 February'],
    ['E12345678202302291221abcdef12345', '29 February of a common year'],
    ['E12345678202413201221abcdef12345', 'month 13'],
    ['E12345678202406202400abcdef12345', '24:00'],
    ['E12345678202406201260abcdef12345', 'minute 60'],
    ['E12345678202406201221abcdef1234-', 'a hyphen'],
    ['E12345678202406201221abcdef12345\n', 'a line end'],
    ['E12345678202406201221abcdef1234', '31 characters'],
  ])('refuses %j (%s)', (id) => {
    expect(isEndToEndId(id)).toBe(false);
  });

  it.each(['1234567', '123456789', '1234567a', ''])('are not made for the ISPB %j', (ispb) => {
    expect(() => newEndToEndId(ispb, new Date())).toThrow(RangeError);
  });

  it.each([new Date(Number.NaN), new Date('+010000-01-01T00:00:00Z')])('are not made for the date %s', (at) => {
    expect(() => newEndToEndId(ISPB, at)).toThrow(RangeError);
  });
});

describe('random ids', () => {
  it('are drawn from all 62 characters equally and do not repeat', () => {
    const ids = Array.from({ length: 2692 }, () => newTxid());
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.every((id) => id.length === 26 && isTxid(id))).toBe(true);
    const counts = new Map<string, number>();
    for (const letter of ids.join('')) counts.set(letter, (counts.get(letter) ?? 0) + 1);
    expect(counts.size).toBe(62);
    // In 70 000 draws each is expected 1129 times, standard deviation 33; a byte modulo 62 would give some 1367.
    expect(Math.max(...counts.values())).toBeLessThan(1129 + 7 * 33);
    expect(Math.min(...counts.values())).toBeGreaterThan(1129 - 7 * 33);
  });

  it.each([
    ['a'.repeat(25), false],
    ['a'.repeat(26), true],
    ['a'.repeat(35), true],
    ['a'.repeat(36), false],
    [`${'a'.repeat(26)}-`, false],
  ])('%s is a valid txid: %s', (text, expected) => {
    expect(isTxid(text)).toBe(expected);
  });
});

describe('newReturnId', () => {
  it('is the same at every attempt of one refund, whatever the case of its UUID', () => {
    expect(newReturnId(UUID)).toBe('0198c5d2a1b27c3d8e4f5a6b7c8d9e0f');
    expect(newReturnId(UUID.toLowerCase())).toBe(newReturnId(UUID));
  });

  it('is the end-to-end id itself when a Pix is sent back whole', () => {
    const id = newEndToEndId(ISPB, new Date());
    expect(newReturnId(id)).toBe(id);
  });

  it('is random without a seed', () => {
    expect(isReturnId(newReturnId())).toBe(true);
    expect(newReturnId()).not.toBe(newReturnId());
  });

  it.each(['', 'a-b', 'a'.repeat(36), `ch_${UUID}`, 'ação'])('refuses the seed %j', (seed) => {
    expect(() => newReturnId(seed)).toThrow(RangeError);
  });

  it('differs for different UUIDs', () => {
    fc.assert(
      fc.property(fc.uuid(), fc.uuid(), (one, other) => {
        expect(newReturnId(one) === newReturnId(other)).toBe(one === other);
        expect(isReturnId(newReturnId(one))).toBe(true);
      }),
    );
  });
});
