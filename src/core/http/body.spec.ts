import { describe, expect, it, jest } from '@jest/globals';
import { ApiError } from '../errors/index.js';
import { JsonBody, MAX_BODY_BYTES, parseBody } from './body.js';
import { Found } from './json-scan.js';

const read = (bytes: string | readonly number[] | null, contentType = 'application/json'): JsonBody =>
  parseBody(typeof bytes === 'string' ? Buffer.from(bytes) : bytes && Buffer.from(bytes), contentType);

function refusal(...body: Parameters<typeof read>): string {
  try {
    read(...body);
  } catch (error) {
    if (error instanceof ApiError) return `${error.status} ${error.code}`;
    throw error;
  }
  return 'taken';
}

describe('the body of a request', () => {
  it.each(['{"a":1}', ' \n\t{"a":1} ', '\ufeff{"a":1}'])('%j is read', (text) => {
    expect(read(text)).toEqual(new JsonBody({ a: 1 }, new Found(), 2));
  });

  it('has no fields when it is empty, whatever its type', () => {
    for (const type of ['application/json', '', 'text/plain']) expect(read('', type).value).toEqual({});
  });

  it.each([
    'application/json',
    'Application/JSON',
    ' application/json ',
    'application/json;charset=utf-8',
    'application/json; charset="UTF-8"',
    'application/json; charset=utf8',
    'application/json;',
    'application/json;charset=utf-8; ',
  ])('is read as JSON for the type %j', (type) => expect(read('{}', type).value).toEqual({}));

  it.each([
    '',
    'text/plain',
    'application/jsonp',
    'application/json; charset=utf-16',
    'application/x-www-form-urlencoded',
    'text/json',
    'application/problem+json',
    'application/json, text/plain',
  ])('is refused for the type %j', (type) => expect(refusal('{}', type)).toBe('415 unsupported_media_type'));

  it.each(['{', '{"a":1,}', "{'a':1}", '{"a":01}', '{"a":NaN}', '{"a":1}{', 'undefined', '{"a":"\n"}', '{"a":"\\x"}'])(
    '%j is not JSON',
    (text) => {
      expect(refusal(text)).toBe('400 invalid_request');
    },
  );

  it.each(['[]', '[{}]', 'null', '1', '"x"', 'true'])('%j is not an object', (text) => {
    expect(refusal(text)).toBe('400 invalid_request');
  });

  it.each([
    [[0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]],
    [[0x7b, 0x22, 0xc0, 0xaf, 0x22, 0x3a, 0x31, 0x7d]], // an overlong "/"
    [[0x7b, 0x22, 0xed, 0xa0, 0x80, 0x22, 0x3a, 0x31, 0x7d]], // a lone surrogate, encoded
    [[0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00]], // UTF-16
  ])('bytes that are not UTF-8 are refused and not replaced: %j', (bytes) => {
    expect(refusal(bytes)).toBe('400 invalid_request');
  });

  it('is read with the last of two equal keys, and both duplicate keys and inexact numbers are reported', () => {
    const { value, found } = read('{"a":0,"\\u0061":1,"b":1e400}');
    expect(value).toEqual({ a: 1, b: Infinity });
    expect(found.named.map(({ param, code }) => `${param}: ${code}`)).toEqual([
      'a: duplicate_key',
      'b: inexact_number',
    ]);
  });

  it.each([
    ['too deep', `${'{"a":'.repeat(21)}1${'}'.repeat(21)}`, 'too_deep'],
    ['too deep and no JSON', '{"a":'.repeat(40_000), 'too_deep'],
    ['of too many values', `{"a":[${'0,'.repeat(10_000)}0]}`, 'too_many_values'],
  ])('is refused before it is parsed when it is %s', (_what, text, code) => {
    const parse = jest.spyOn(JSON, 'parse');
    try {
      read(text);
      throw new Error('was taken');
    } catch (error) {
      expect(error).toMatchObject({ status: 400, details: [{ code }] });
    }
    expect(parse).not.toHaveBeenCalled();
    parse.mockRestore();
  });

  it('is refused for its size before anything else', () => {
    expect(MAX_BODY_BYTES).toBe(65_536);
    expect(refusal(null, 'text/plain')).toBe('413 payload_too_large');
  });
});
