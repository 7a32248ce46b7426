import { describe, expect, it } from '@jest/globals';
import { cursorFilter, cursorPage } from './cursor-list.js';

describe('a list by cursor', () => {
  const page = (found: number[], limit: number) => cursorPage(found, limit, String, (item) => `cursor of ${item}`);

  it('queries one row more than a page has, and returns it to nobody', () => {
    const { limit } = cursorFilter({ limit: 2 });
    expect(page([9, 8, 7], limit)).toStrictEqual({
      object: 'list',
      data: ['9', '8'],
      has_more: true,
      next_cursor: 'cursor of 8',
    });
    expect(page([9, 8], limit)).toStrictEqual({ object: 'list', data: ['9', '8'], has_more: false, next_cursor: null });
    expect(page([], limit)).toStrictEqual({ object: 'list', data: [], has_more: false, next_cursor: null });
  });

  it('has 25 items a page and no bounds by default', () => {
    expect(cursorFilter({})).toStrictEqual({ createdFrom: null, createdTo: null, limit: 26 });
    const createdFrom = new Date('2026-11-21T03:00:00Z');
    const createdTo = new Date('2026-11-21T15:00:00Z');
    expect(cursorFilter({ created_after: createdFrom, created_before: createdTo })).toStrictEqual({
      createdFrom,
      createdTo,
      limit: 26,
    });
  });
});
