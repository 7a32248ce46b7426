import { describe, expect, it } from '@jest/globals';
import { ApiError } from '../errors/index.js';
import { parseBody } from './body.interceptor.js';
import { MAX_BODY_BYTES, RawBody } from './raw-body.js';

const raw = (bytes: string | readonly number[], contentType = 'application/json', tooLarge = false): RawBody =>
  new RawBody(typeof bytes === 'string' ? Buffer.from(bytes) : Buffer.from(bytes), contentType, tooLarge);

function refusal(body: RawBody): string {
  try {
    parseBody(body);
  } catch (error) {
    if (error instanceof ApiError) return `${error.status} ${error.code}`;
    throw error;
  }
  return 'taken';
}

describe('the body of a request', () => {
  it.each(['{"a":1}', ' \n\t{"a":1} ', '\ufeff{"a":1}', '{"a":0,"a":1}'])('%j is read', (text) => {
    expect(parseBody(raw(text))).toEqual({ a: 1 });
  });

  it('that is empty is none, whatever its type', () => {
    for (const type of ['application/json', '', 'text/plain']) expect(parseBody(raw('', type))).toBeUndefined();
  });

  it.each([
    'application/json',
    'Application/JSON',
    ' application/json ',
    'application/json;charset=utf-8',
    'application/json; charset="UTF-8"',
  ])('of the type %j is JSON', (type) => expect(parseBody(raw('{}', type))).toEqual({}));

  it.each([
    '',
    'text/plain',
    'application/jsonp',
    'application/json; charset=utf-16',
    'application/x-www-form-urlencoded',
    'text/json',
    'application/problem+json',
    'application/json, text/plain',
  ])('of the type %j is not', (type) => expect(refusal(raw('{}', type))).toBe('415 unsupported_media_type'));

  it.each(['{', '{"a":1,}', "{'a':1}", '{"a":01}', '{"a":NaN}', '{"a":1}{', 'undefined', '{"a":"\n"}', '{"a":"\\x"}'])(
    '%j is not JSON',
    (text) => {
      expect(refusal(raw(text))).toBe('400 invalid_request');
    },
  );

  it.each(['[]', '[{}]', 'null', '1', '"x"', 'true'])('%j is not an object', (text) => {
    expect(refusal(raw(text))).toBe('400 invalid_request');
  });

  it.each([
    [[0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]],
    [[0x7b, 0x22, 0xc0, 0xaf, 0x22, 0x3a, 0x31, 0x7d]], // an overlong "/"
    [[0x7b, 0x22, 0xed, 0xa0, 0x80, 0x22, 0x3a, 0x31, 0x7d]], // a lone surrogate, encoded
    [[0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00]], // UTF-16
  ])('bytes that are not UTF-8 are refused and not replaced: %j', (bytes) => {
    expect(refusal(raw(bytes))).toBe('400 invalid_request');
  });

  it('that was too large is told so before anything else', () => {
    expect(MAX_BODY_BYTES).toBe(262_144);
    expect(refusal(raw('', 'text/plain', true))).toBe('413 payload_too_large');
  });
});
