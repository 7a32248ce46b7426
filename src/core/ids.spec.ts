import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ApiError } from './errors/index.js';
import { eventId, idBound, newId, parseId } from './ids.js';

const time = fc.date({ min: new Date(0), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true });

describe('an id', () => {
  it('is a UUIDv7 that sorts by its time, to the millisecond', () => {
    fc.assert(
      fc.property(time, time, (one, other) => {
        const [first, second] = [newId(one), newId(other)];
        expect(first).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
        if (one.getTime() !== other.getTime()) expect(first < second).toBe(one < other);
      }),
    );
  });

  it('is above all earlier ids of its millisecond', () => {
    const now = new Date();
    const ids = Array.from({ length: 10_000 }, () => {
      // Somebody whose request began earlier.
      newId(new Date(now.getTime() - 3));
      return newId(now);
    });
    expect(ids).toEqual([...new Set(ids)].sort());
  });

  it('is above all earlier ids of its millisecond while the clock is behind, after it was set back', () => {
    const now = new Date();
    newId(new Date(now.getTime() + 30_000));
    const ids = Array.from({ length: 1_000 }, () => newId(now));
    expect(ids).toEqual([...new Set(ids)].sort());
  });
});

describe('bounds of ids', () => {
  it('contain every id of their millisecond and none of its neighbours', () => {
    fc.assert(
      fc.property(time, (at) => {
        const [min, max] = [idBound(at, 'min'), idBound(at, 'max')];
        for (let count = 0; count < 5; count++) {
          const id = newId(at);
          expect(min <= id && id <= max).toBe(true);
        }
        const [before, after] = [new Date(at.getTime() - 1), new Date(at.getTime() + 1)];
        if (before.getTime() >= 0) expect(idBound(before, 'max') < min).toBe(true);
        expect(idBound(after, 'min') > max).toBe(true);
      }),
    );
  });

  it('are the smallest and the largest UUIDv7 of the time in the example of RFC 9562, A.6', () => {
    const at = new Date('2022-02-22T19:22:22.000Z');
    expect(idBound(at, 'min')).toBe('017f22e2-79b0-7000-8000-000000000000');
    expect(idBound(at, 'max')).toBe('017f22e2-79b0-7fff-bfff-ffffffffffff');
  });

  it('are those of 1970 for an earlier time', () => {
    expect(idBound(new Date('1900-01-01T00:00:00Z'), 'min')).toBe('00000000-0000-7000-8000-000000000000');
  });
});

describe('an id in an address', () => {
  const id = '019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12';

  it('is accepted with and without its prefixes', () => {
    expect(parseId(id, ['ch_'], 'charge')).toBe(id);
    expect(parseId(`ch_${id}`, ['ch_'], 'charge')).toBe(id);
    expect(parseId(`tx_${id}`, ['ch_', 'tx_'], 'charge')).toBe(id);
  });

  it('is accepted in capitals', () => {
    expect(parseId(id.toUpperCase(), ['ch_'], 'charge')).toBe(id);
    expect(parseId(`ch_${id.toUpperCase()}`, ['ch_'], 'charge')).toBe(id);
  });

  it.each([
    ...['', 'ch_', `tx_${id}`, `ch_ch_${id}`, `CH_${id}`, ` ${id}`, `${id}\n`, `${id}0`, id.slice(1)],
    ...[id.replaceAll('-', ''), `{${id}}`, `${id}\u0000`, "' OR 1=1 --", '../../etc/passwd', '0', 'null'],
  ])('%j gets the same 404 as an unknown id', (value) => {
    let thrown: unknown;
    try {
      parseId(value, ['ch_'], 'charge');
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(ApiError);
    expect(thrown).toMatchObject({
      status: 404,
      type: 'not_found_error',
      code: 'not_found',
      message: 'No such charge.',
    });
  });
});

it('an event id is the contract’s form of its UUID', () => {
  expect(eventId('019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12')).toBe('evt_019aa0f07d5c7c3e9b1a2f4d6c8e0a12');
});
