import { createHmac } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { SecretBox } from './secret-box.js';
import { anyCharacter } from '../../../test/support/characters.js';

const OLD = 'a'.repeat(64);
const NEW = 'b'.repeat(64);

describe('a secret box', () => {
  it('opens what it sealed, any text in any context', () => {
    const box = new SecretBox(NEW);
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), fc.string(), (plain, context) => {
        expect(box.open(box.seal(plain, context), context)).toBe(plain);
      }),
    );
  });

  it('never seals twice to the same bytes, nor shows the text', () => {
    const box = new SecretBox(NEW);
    const sealed = Array.from({ length: 50 }, () => box.seal('whsec-plain', 'x').toString('hex'));
    expect(new Set(sealed).size).toBe(50);
    expect(sealed.some((hex) => hex.includes(Buffer.from('whsec').toString('hex')))).toBe(false);
  });

  it('does not open a value in another context: it cannot be moved to another row', () => {
    const box = new SecretBox(NEW);
    const sealed = box.seal('secret', 'endpoint:1');
    for (const context of ['endpoint:2', 'endpoint:', '', 'endpoint:1 '])
      expect(() => box.open(sealed, context)).toThrow();
  });

  it('does not open a value with one changed bit', () => {
    const box = new SecretBox(NEW);
    const sealed = box.seal('secret', 'x');
    for (let bit = 0; bit < sealed.length * 8; bit++) {
      const forged = Buffer.from(sealed);
      forged[bit >> 3] = (forged[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(() => box.open(forged, 'x')).toThrow();
    }
  });

  it('does not open a value cut at any place, even in its tag', () => {
    const box = new SecretBox(NEW);
    for (const plain of ['secret', '']) {
      const sealed = box.seal(plain, 'x');
      for (let length = 0; length < sealed.length; length++) {
        expect(() => box.open(sealed.subarray(0, length), 'x')).toThrow();
      }
    }
  });

  it('does not open under another key of the same id', () => {
    expect(() => new SecretBox(OLD).open(new SecretBox(NEW).seal('secret', 'x'), 'x')).toThrow();
  });

  it('seals under the first key and opens under every listed one, so that keys can be rotated', () => {
    const before = new SecretBox(`2025:${OLD}`);
    const after = new SecretBox(`2026:${NEW},2025:${OLD}`);
    const old = before.seal('secret', 'x');
    expect(after.open(old, 'x')).toBe('secret');
    const renewed = after.seal('secret', 'x');
    expect(renewed.subarray(1, 5).toString()).toBe('2026');
    expect(() => before.open(renewed, 'x')).toThrow('no key with the id "2026"');
    expect(() => new SecretBox(`2026:${NEW}`).open(old, 'x')).toThrow('no key with the id "2025"');
    expect([after.hasKeyOf(old), after.hasKeyOf(renewed), before.hasKeyOf(renewed)]).toEqual([true, true, false]);
  });

  it('accepts a key without an id as the key called "1", so that the first rotation can name it', () => {
    const sealed = new SecretBox(OLD).seal('secret', 'x');
    expect(new SecretBox(`2:${NEW},1:${OLD}`).open(sealed, 'x')).toBe('secret');
  });

  it('signs for one purpose only, and recognizes its signatures after a rotation of keys', () => {
    const before = new SecretBox(`2025:${OLD}`);
    const signature = before.sign('upload', 'text');
    expect(signature).toMatch(/^[\w-]{43}$/);
    const after = new SecretBox(`2026:${NEW},2025:${OLD}`);
    expect(after.isSigned('upload', 'text', signature)).toBe(true);
    expect(after.isSigned('upload', 'text', after.sign('upload', 'text'))).toBe(true);
    expect(after.sign('upload', 'text')).not.toBe(signature);
    const others: [SecretBox, string, string, string][] = [
      [before, 'Text', signature, 'upload'],
      [before, 'text', signature, 'download'],
      [before, 'text', signature.slice(1), 'upload'],
      [before, 'text', '', 'upload'],
      // Other spellings of the same bytes.
      [before, 'text', `${signature}=`, 'upload'],
      [before, 'text', signature.slice(0, -1) + String.fromCharCode(signature.charCodeAt(42) + 1), 'upload'],
      [new SecretBox(`2025:${NEW}`), 'text', signature, 'upload'],
    ];
    for (const [box, text, given, purpose] of others) expect(box.isSigned(purpose, text, given)).toBe(false);
  });
});

describe('a mac', () => {
  it('is the same in every process for the same text, purpose and key, and differs for any other', () => {
    const mac = new SecretBox(NEW).mac('a', 'text');
    expect(mac).toHaveLength(32);
    expect(new SecretBox(NEW).mac('a', 'text').equals(mac)).toBe(true);
    expect(new SecretBox(`1:${NEW},2:${OLD}`).mac('a', 'text').equals(mac)).toBe(true);
    for (const other of [
      new SecretBox(NEW).mac('a', 'text '),
      new SecretBox(NEW).mac('b', 'text'),
      new SecretBox(OLD).mac('a', 'text'),
      new SecretBox(`2:${OLD},1:${NEW}`).mac('a', 'text'),
    ]) {
      expect(other.equals(mac)).toBe(false);
    }
  });

  it('is HMAC-SHA-256 under a key derived by HKDF (RFC 5869), not under the key that seals', () => {
    // Reckoned step by step: extract with an empty salt, expand for one block.
    const hmac = (key: Buffer, data: Buffer | string): Buffer => createHmac('sha256', key).update(data).digest();
    const extracted = hmac(Buffer.alloc(32), Buffer.from(NEW, 'hex'));
    const expanded = hmac(extracted, 'recebe mac a\u0001');
    expect(new SecretBox(NEW).mac('a', 'text').equals(hmac(expanded, 'text'))).toBe(true);
  });
});
