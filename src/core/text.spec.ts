import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { cutText } from './text.js';
import { anyCharacter } from '../../test/support/characters.js';

describe('cutText', () => {
  it.each([
    ['Ana', 3, 'Ana'],
    ['Ana', 2, 'An'],
    ['Ana', 0, ''],
    ['a😀', 3, 'a😀'],
    ['a😀', 2, 'a'],
    ['a👩‍👩‍👧', 8, 'a'],
    ['a👩‍👩‍👧', 9, 'a👩‍👩‍👧'],
    ['a🇧🇷🇧🇷', 5, 'a🇧🇷'],
    ['São'.normalize('NFD'), 2, 'S'],
    ['a\ud83d', 10, 'a\ufffd'],
  ])('cuts %j to %i', (text, max, cut) => expect(cutText(text, max)).toBe(cut));

  it('returns a well-formed start of the text within the limit', () => {
    const texts = fc.string({ unit: anyCharacter, maxLength: 60 });
    fc.assert(
      fc.property(texts, fc.nat(40), (text, max) => {
        const cut = cutText(text, max);
        expect(cut.length).toBeLessThanOrEqual(max);
        expect(cut.isWellFormed()).toBe(true);
        expect(text.toWellFormed().startsWith(cut)).toBe(true);
      }),
    );
  });

  it('takes linear time for a text of marks without an end', () => {
    expect(cutText(`a${'\u0301'.repeat(1_000_000)}`, 200).length).toBeLessThanOrEqual(200);
  });
});
