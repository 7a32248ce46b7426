import { describe, expect, it } from '@jest/globals';
import { validateSync } from 'class-validator';
import { growth } from '../../../test/support/growth.js';
import { visibleLength } from '../text.js';
import { IsOneLine, IsText } from './validators.js';

class Letter {
  @IsText(5, 10)
  reason!: unknown;
}

class Note {
  @IsText(0, 10)
  reason!: unknown;
}

function problems(type: new () => { reason: unknown }, reason: unknown): string[] {
  return validateSync(Object.assign(new type(), { reason })).flatMap((error) => Object.values(error.constraints ?? {}));
}

describe('IsText', () => {
  it.each([
    '12345',
    '1234567890',
    ' 12345',
    '\u00a0\u300012345\r\n',
    '     67890',
    '🧉🧉🧉🧉🧉',
    '\u202e12345',
    '1\u200b2\u200b3',
    '🧉'.repeat(10),
  ])('accepts %j', (reason) => {
    expect(problems(Letter, reason)).toEqual([]);
  });

  it.each([
    '',
    '1234',
    '     ',
    '\t\n\u00a0\u2003\ufeff',
    '  1234  ',
    '🧉🧉🧉🧉',
    '12345678901',
    `12345${' '.repeat(6)}`,
    '1234567890 ',
    '\u00a01234567890',
    '\u200b1234\u200b',
    '1234\u2060\u00ad\u2800\u3164\u202e',
    '\u202e\ufe0f\u{e0020}\ud800',
  ])('refuses %j, which has too few or too many characters', (reason) => {
    expect(problems(Letter, reason)).toEqual(['must have 5 to 10 characters']);
  });

  it('takes time for invisible characters that grows with their number, not with its square', () => {
    const run = (size: number): void => {
      const invisible = '\u200b\u2800 \u3164'.repeat(size);
      for (const text of [invisible, `${invisible}x`, `x${invisible}`, `${invisible}x${invisible}`]) {
        expect(visibleLength(text)).toBe(text.includes('x') ? 1 : 0);
      }
      expect(visibleLength(`x${invisible}x`)).toBe(4 * size + 2);
    };
    expect(growth(run, 5_000)).toBeLessThan(1.5);
  });

  it('accepts blanks like an empty text when no length is required', () => {
    expect(['', '   ', '1234567890'].map((reason) => problems(Note, reason))).toEqual([[], [], []]);
    for (const long of ['12345678901', '1234567890 ', ' '.repeat(11)]) {
      expect(problems(Note, long)).toEqual(['must have at most 10 characters']);
    }
  });

  it.each([1, true, null, undefined, {}, ['12345']])('refuses %j, which is not a text', (reason) => {
    expect(problems(Letter, reason)).toEqual(['must be a text']);
  });
});

class Named {
  @IsOneLine()
  reason!: unknown;
}

describe('IsOneLine', () => {
  it.each(['recibo.pdf', 'São João 🧉', 'مخبز', 'a\u00a0b', ''])('accepts %j', (name) => {
    expect(problems(Named, name)).toEqual([]);
  });

  it.each(['a\nb', 'a\u2028b', '\u0000', 'a\u007f', '\u202egpj.exe', 'a\u2066b', '\u200fa', 1])(
    'refuses %j',
    (name) => {
      expect(problems(Named, name)).toEqual(['must have no line breaks, controls or marks of direction']);
    },
  );
});
