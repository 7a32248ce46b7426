import type { Type } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { EnumOf, NullableText } from './properties.js';
import { QueryDate } from './dates.js';
import { QueryInteger } from './query-fields.js';
import { IsIdOf, OptionalField } from './validators.js';

const DEFAULT_LIMIT = 25;

export class LimitQuery {
  @QueryInteger('Items a page.', 1, 100, DEFAULT_LIMIT)
  limit?: number;
}

/** Parameters of every list by cursor; each list adds its own `starting_after` in the form of its ids. */
export class CursorQuery extends LimitQuery {
  @QueryDate('Inclusive lower bound on the time of creation.', 'first')
  created_after?: Date;

  @QueryDate('Inclusive upper bound on the time of creation.', 'last')
  created_before?: Date;
}

/** Query of lists whose ids are bare UUIDs. */
export class IdCursorQuery extends CursorQuery {
  @OptionalField({ description: 'The previous page’s `next_cursor`.' })
  @IsIdOf('the id of an item of this list')
  starting_after?: string;
}

export interface CursorFilter {
  readonly createdFrom: Date | null;
  readonly createdTo: Date | null;
  /** Page size plus one: the extra item shows that there are more. */
  readonly limit: number;
}

export function cursorFilter(query: CursorQuery): CursorFilter {
  return {
    createdFrom: query.created_after ?? null,
    createdTo: query.created_before ?? null,
    limit: (query.limit ?? DEFAULT_LIMIT) + 1,
  };
}

export interface IdCursorFilter extends CursorFilter {
  /** Strictly older than this id; null for the first page. */
  readonly before: string | null;
}

export function idCursorFilter(query: IdCursorQuery): IdCursorFilter {
  return { ...cursorFilter(query), before: query.starting_after ?? null };
}

export interface CursorPage<T> {
  object: 'list';
  data: T[];
  has_more: boolean;
  next_cursor: string | null;
}

/**
 * Makes the documented body of a page: extend it by a class, whose name becomes the schema's.
 * @param cursor an example
 */
export function CursorListOf<T>(Item: Type<T>, cursor = '019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12'): Type<CursorPage<T>> {
  class Page implements CursorPage<T> {
    @EnumOf('Kind of object.', ['list']) object!: 'list';
    @ApiProperty({ description: 'Newest first.', type: [Item] }) data!: T[];
    @ApiProperty({ description: 'Whether there are more.' }) has_more!: boolean;
    @NullableText('Send as `starting_after`; null on the last page.', cursor) next_cursor!: string | null;
  }
  return Page;
}

/**
 * @param found newest first, as many as `limit` of the filter
 * @param cursorOf returns the cursor that the next page starts after
 */
export function cursorPage<R, T>(
  found: readonly R[],
  limit: number,
  body: (row: R) => T,
  cursorOf: (body: T) => string,
): CursorPage<T> {
  const data = found.slice(0, limit - 1).map(body);
  const last = data.at(-1);
  const hasMore = found.length >= limit;
  return {
    object: 'list',
    data,
    has_more: hasMore,
    next_cursor: hasMore && last !== undefined ? cursorOf(last) : null,
  };
}
