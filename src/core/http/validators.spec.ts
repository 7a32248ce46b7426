import { describe, expect, it } from '@jest/globals';
import { validateSync } from 'class-validator';
import { IsText } from './validators.js';

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
  it.each(['12345', '1234567890', ' 12345', '\u00a0\u300012345\r\n', '     67890', '🧉🧉🧉🧉🧉', '🧉'.repeat(10)])(
    'takes %j',
    (reason) => {
      expect(problems(Letter, reason)).toEqual([]);
    },
  );

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
  ])('refuses %j, which has too few or too many characters', (reason) => {
    expect(problems(Letter, reason)).toEqual(['must have 5 to 10 characters']);
  });

  it('with nothing required takes blanks as it takes an empty text', () => {
    expect(['', '   ', '1234567890'].map((reason) => problems(Note, reason))).toEqual([[], [], []]);
    for (const long of ['12345678901', '1234567890 ', ' '.repeat(11)]) {
      expect(problems(Note, long)).toEqual(['must have at most 10 characters']);
    }
  });

  it.each([1, true, null, undefined, {}, ['12345']])('refuses %j', (reason) => {
    expect(problems(Letter, reason)).toEqual(['must be a text']);
  });
});
