import { describe, expect, it } from '@jest/globals';
import { pairs } from './command.js';

describe('key=value pairs', () => {
  it('are gathered, and a value contains everything after the first =', () => {
    expect(pairs('city=Recife', pairs('fee_bps=1', pairs('name=a=b')))).toEqual({
      ...{ name: 'a=b', fee_bps: '1', city: 'Recife' },
    });
  });

  it.each(['fee_bps=2', 'fee_bps=1', 'fee-bps=2'])(
    'refuse %s after fee_bps=1 because the key is given twice',
    (again) => {
      expect(() => pairs(again, pairs('fee_bps=1'))).toThrow(/^fee[_-]bps is given twice\.$/);
    },
  );

  it.each(['fee_bps', '=1', ''])('refuse %j, which is not key=value', (text) => {
    expect(() => pairs(text)).toThrow('key=value');
  });
});
