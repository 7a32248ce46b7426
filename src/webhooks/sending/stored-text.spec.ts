import { describe, expect, it } from '@jest/globals';
import { MAX_RESPONSE_BYTES, toStorableText } from './stored-text.js';

describe('toStorableText', () => {
  it('keeps storable text unchanged', () => {
    expect(toStorableText(Buffer.from('{"ok":true} não 🙂'))).toBe('{"ok":true} não 🙂');
    expect(toStorableText(Buffer.alloc(0))).toBe('');
  });

  it('replaces NUL and bytes that are no UTF-8', () => {
    expect(toStorableText(Buffer.from('a\0b'))).toBe('a\uFFFDb');
    expect(toStorableText(Buffer.from([0x61, 0xff, 0xc0, 0x62]))).toBe('a\uFFFD\uFFFDb');
  });

  it('never passes 8 KiB, also when replacing makes the text longer', () => {
    for (const byte of [0x00, 0xff, 0x61]) {
      const text = toStorableText(Buffer.alloc(MAX_RESPONSE_BYTES * 2, byte));
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MAX_RESPONSE_BYTES);
      expect(Buffer.byteLength(text)).toBeGreaterThan(MAX_RESPONSE_BYTES - 3);
    }
  });

  it('leaves out a character that the limit cuts through', () => {
    expect(toStorableText(Buffer.from('a' + '€'.repeat(MAX_RESPONSE_BYTES)))).toBe(
      'a' + '€'.repeat(Math.floor((MAX_RESPONSE_BYTES - 1) / 3)),
    );
  });
});
