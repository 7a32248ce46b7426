import { describe, expect, it } from '@jest/globals';
import { createDataSource, parseInt8, poolOf } from './data-source.js';
import {
  isAborted,
  isLockTimeout,
  isRetryable,
  isStatementTimeout,
  isUnavailable,
  uniqueViolation,
} from './pg-errors.js';

describe('a data source', () => {
  it('has no pool before it is initialized', () => {
    const source = createDataSource({ url: 'postgres://127.0.0.1:1/none', pool: 1 });
    expect(() => poolOf(source)).toThrow('is not initialized');
  });
});

describe('a bigint of the database', () => {
  it.each([
    ['0', 0],
    ['-1', -1],
    ['999999999999', 999_999_999_999],
    ['9007199254740991', Number.MAX_SAFE_INTEGER],
    ['-9007199254740991', Number.MIN_SAFE_INTEGER],
  ])('%s is read exactly', (text, value) => {
    expect(parseInt8(text)).toBe(value);
  });

  it.each(['9007199254740992', '-9007199254740992', '9007199254740993', '9223372036854775807', 'NaN', 'x'])(
    '%s is refused and never rounded',
    (text) => {
      expect(() => parseInt8(text)).toThrow(RangeError);
    },
  );
});

describe('errors of the database', () => {
  const of = (code: string, constraint?: string): Error =>
    Object.assign(new Error('database error'), { code, ...(constraint === undefined ? {} : { constraint }) });

  it.each([
    [of('23505', 'users_email_key'), 'users_email_key'],
    [of('23505'), ''],
    [of('23503', 'members_user_id_fkey'), null],
    [new Error('23505'), null],
    [{ code: '23505', constraint: 'users_email_key' }, null],
    [null, null],
    [undefined, null],
  ])('%p violates the unique constraint %p', (error, constraint) => {
    expect(uniqueViolation(error)).toBe(constraint);
  });

  it.each([
    ['40001', { isRetryable: true, isAborted: false, isLockTimeout: false, isUnavailable: false }],
    ['40P01', { isRetryable: true, isAborted: false, isLockTimeout: false, isUnavailable: false }],
    ['25P02', { isRetryable: false, isAborted: true, isLockTimeout: false, isUnavailable: false }],
    ['55P03', { isRetryable: false, isAborted: false, isLockTimeout: true, isUnavailable: false }],
    ['57P01', { isRetryable: false, isAborted: false, isLockTimeout: false, isUnavailable: true }],
    ['57014', { isRetryable: false, isAborted: false, isLockTimeout: false, isUnavailable: true }],
    ['53300', { isRetryable: false, isAborted: false, isLockTimeout: false, isUnavailable: true }],
    ['ECONNREFUSED', { isRetryable: false, isAborted: false, isLockTimeout: false, isUnavailable: true }],
    ['23505', { isRetryable: false, isAborted: false, isLockTimeout: false, isUnavailable: false }],
    ['22P02', { isRetryable: false, isAborted: false, isLockTimeout: false, isUnavailable: false }],
  ])('%s is classified: retryable, aborted, lock time-out or unavailable', (code, expected) => {
    const error = of(code);
    expect({
      isRetryable: isRetryable(error),
      isAborted: isAborted(error),
      isLockTimeout: isLockTimeout(error),
      isUnavailable: isUnavailable(error),
    }).toEqual(expected);
  });

  it('a statement time-out is distinguished from a database that is away', () => {
    expect(['57014', '57P01', '55P03'].map((code) => isStatementTimeout(of(code)))).toEqual([true, false, false]);
  });

  it('are recognised by their text where the driver gives no code', () => {
    expect(isUnavailable(new Error('Connection terminated unexpectedly'))).toBe(true);
    expect(isUnavailable(new Error('timeout exceeded when trying to connect'))).toBe(true);
    expect(isUnavailable(new Error('The Connection terminated'))).toBe(false);
    expect(isUnavailable('Connection terminated')).toBe(false);
  });
});
