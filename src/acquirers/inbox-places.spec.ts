import { describe, expect, it } from '@jest/globals';
import { allot, type Line } from './inbox-places.js';

const line = (acquirer: string, isUnconfirmed: boolean): Line => ({ acquirer, isUnconfirmed });
const many = (count: number, of: Line): Line[] => Array.from({ length: count }, () => of);
const roomy = (): number => Infinity;

/** The room of each line, by acquirer; unconfirmed reports with a question mark. */
function rooms(due: Line[], underWay: Line[] = [], roomOf: (line: Line, underWay: number) => number = roomy): object {
  return Object.fromEntries(
    allot(due, underWay, roomOf).map(({ acquirer, isUnconfirmed, room }) => [
      acquirer + (isUnconfirmed ? '?' : ''),
      room,
    ]),
  );
}

describe('places of the inbox', () => {
  it('are three quarters of a lane for an acquirer that is alone', () => {
    expect(rooms([line('a', false), line('b', true)])).toEqual({ a: 12, 'b?': 6 });
  });

  it('are shared evenly by the acquirers of a lane', () => {
    expect(rooms(['a', 'b', 'c', 'd'].map((name) => line(name, true)))).toEqual({ 'a?': 2, 'b?': 2, 'c?': 2, 'd?': 2 });
    expect(rooms(['a', 'b'].map((name) => line(name, false)))).toEqual({ a: 8, b: 8 });
  });

  it('go first to the acquirer with the fewest running queries', () => {
    expect(rooms([line('a', true), line('b', true)], many(6, line('a', true)))).toEqual({ 'b?': 2 });
    expect(rooms([line('a', false), line('b', false)], many(12, line('a', false)))).toEqual({ b: 4 });
  });

  it('stay free in one lane when the other is full', () => {
    const forged = ['a', 'b', 'c', 'd'].flatMap((name) => many(2, line(name, true)));
    expect(rooms([line('a', true), line('a', false), line('z', false)], forged)).toEqual({ a: 8, z: 8 });
  });

  it('are limited by the number of queries that an acquirer may get now', () => {
    const silent = (one: Line): number => (one.acquirer === 'silent' ? 0 : 2);
    expect(rooms([line('silent', false), line('a', false)], [], silent)).toEqual({ a: 2 });
  });

  it('are given to many acquirers in turn, by chance', () => {
    const due = Array.from({ length: 40 }, (_, n) => line(`a${n}`, true));
    const served = new Set(Array.from({ length: 60 }, () => Object.keys(rooms(due))).flat());
    expect(served.size).toBe(40);
  });
});
