import { describe, expect, it } from '@jest/globals';
import { ApiError } from '../errors/index.js';
import { parseBody } from './body.js';
import { CursorQuery } from './cursor-list.js';
import { QueryDate } from './dates.js';
import { IsQueryInteger, QueryInteger } from './query-fields.js';
import { ValidationPipe } from './validation.pipe.js';
import { IsMetadataFilter, OptionalField, OptionalText } from './validators.js';

class ListQuery {
  @QueryInteger('Items.', 1, 100, 25)
  limit?: number;

  @QueryInteger('Items to leave out.', 0, 999_999_999, 0)
  offset?: number;

  @OptionalField({ description: 'A status.' })
  @IsQueryInteger(100, 599, 'must be an HTTP status')
  status?: number;

  @QueryDate('From then on.', 'first')
  from?: Date;

  @QueryDate('Until then.', 'last')
  to?: Date;

  @OptionalText('A text.', 1, 10, '1')
  text?: string;

  @OptionalField({ description: 'Values by key.' })
  @IsMetadataFilter()
  metadata?: Record<string, string>;
}

/** Like the query of MED cases: overrides a date of its base to read its other end. */
class LaterQuery extends CursorQuery {
  @QueryDate('Later than that.', 'last')
  override created_after?: Date;
}

const pipe = new ValidationPipe();
const read = (query: object, metatype: new () => object = ListQuery): Promise<unknown> =>
  pipe.transform(query, { type: 'query', metatype });

async function refusal(sent: Promise<unknown>): Promise<unknown> {
  const error = await sent.then(
    (value) => value,
    (reason: unknown) => reason,
  );
  return error instanceof ApiError ? error.details?.map(({ param, code, message }) => [param, code, message]) : error;
}

const DATE =
  'must be a date-time of the calendar with its zone, as in 2026-11-21T15:30:00Z or 2026-11-21T12:30:00-03:00, or a day, as in 2026-11-21';
const LIMIT = 'must be an integer from 1 to 100';
const OFFSET = 'must be an integer from 0 to 999999999';

describe('a field of a query', () => {
  it.each<[string, string, unknown]>([
    ['limit', '1', 1],
    ['limit', '9', 9],
    ['limit', '10', 10],
    ['limit', '99', 99],
    ['limit', '100', 100],
    ['offset', '0', 0],
    ['offset', '999999999', 999_999_999],
    ['status', '100', 100],
    ['status', '599', 599],
    ['from', '2026-11-21', new Date('2026-11-21T03:00:00.000Z')],
    ['to', '2026-11-21', new Date('2026-11-22T02:59:59.999Z')],
    ['from', '2026-11-21T12:30:00-03:00', new Date('2026-11-21T15:30:00.000Z')],
    ['to', '2026-11-21T12:30:00-03:00', new Date('2026-11-21T15:30:00.000Z')],
    ['from', '2026-11-21T15:30:00.0001Z', new Date('2026-11-21T15:30:00.001Z')],
    ['to', '2026-11-21T15:30:00.0001Z', new Date('2026-11-21T15:30:00.000Z')],
    // Texts stay texts, whatever they look like.
    ['text', '1', '1'],
    ['text', 'true', 'true'],
    ['text', '2026-11-21', '2026-11-21'],
  ])('%s=%s is read', async (field, text, value) => {
    expect(await read({ [field]: text })).toEqual({ [field]: value });
  });

  it.each([
    ...['', ' ', '0', '00', '01', '101', '-1', '-0', '+1', '1.0', '1.5', '.5', '1e1', '1E1', '0x10', '0b1', '1_0'].map(
      (text) => ['limit', text, LIMIT] as const,
    ),
    ...[' 1', '1 ', '1\n', '１', '1n', 'NaN', 'Infinity', 'true', 'null', '1,2', '9'.repeat(400)].map(
      (text) => ['limit', text, LIMIT] as const,
    ),
    ...['', '-1', '-0', '00', '1000000000', '1e3'].map((text) => ['offset', text, OFFSET] as const),
    ...['', '99', '600', '0200', 'ok'].map((text) => ['status', text, 'must be an HTTP status'] as const),
    ...['', ' ', '2026-02-30', '2026-11-21T24:00:00Z', '2026-11-21T12:30:00', '1763738400000', 'now', 'true'].flatMap(
      (text) => [['from', text, DATE] as const, ['to', text, DATE] as const],
    ),
  ])('%s=%j is refused', async (field, text, message) => {
    expect(await refusal(read({ [field]: text }))).toEqual([[field, 'invalid', message]]);
  });

  it.each([
    ['limit', LIMIT],
    ['offset', OFFSET],
    ['from', DATE],
    ['to', DATE],
  ])('%s is refused if it is sent twice', async (field, message) => {
    const text = field === 'limit' || field === 'offset' ? '1' : '2026-11-21';
    expect(await refusal(read({ [field]: [text, text] }))).toEqual([[field, 'invalid', message]]);
    expect(await refusal(read({ [field]: [text] }))).toEqual([[field, 'invalid', message]]);
  });

  it('keeps keys of an object that would break class-transformer', async () => {
    expect(await read({ limit: '2', metadata: { constructor: '1', then: '2' } })).toEqual({
      limit: 2,
      metadata: { constructor: '1', then: '2' },
    });
  });

  it('is read by the rule of the class that overrides it', async () => {
    expect(await read({ created_after: '2026-11-21', created_before: '2026-11-21' }, LaterQuery)).toEqual({
      created_after: new Date('2026-11-22T02:59:59.999Z'),
      created_before: new Date('2026-11-22T02:59:59.999Z'),
    });
  });

  it('is not converted from a text in a body', async () => {
    const body = parseBody(Buffer.from('{"limit":"2","from":"2026-11-21"}'), 'application/json');
    expect(await refusal(pipe.transform(body, { type: 'body', metatype: ListQuery }))).toEqual([
      ['limit', 'invalid', LIMIT],
      ['from', 'invalid', DATE],
    ]);
  });
});
