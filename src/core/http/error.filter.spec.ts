import { describe, expect, it } from '@jest/globals';
import {
  BadRequestException,
  ForbiddenException,
  HttpException,
  InternalServerErrorException,
  NotFoundException,
} from '@nestjs/common';
import { ApiError, business } from '../errors/index.js';
import { toApiError } from './error.filter.js';

const withCode = (code: string): Error => Object.assign(new Error(`SELECT secret ${code}`), { code });
const withStatus = (statusCode: unknown): Error => Object.assign(new Error('internals'), { statusCode });

describe('the answer to an error', () => {
  it('returns an error that is meant for callers unchanged', () => {
    const error = business('no_provider_configured', 'None.');
    expect(toApiError(error)).toBe(error);
  });

  it.each([
    // The database is away or overloaded: try again.
    ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', '57P01', '57P03', '57014', '53300', '55P03', '08006'].map((code) => [
      withCode(code),
      503,
      'api_error',
      'service_unavailable',
    ]),
    [new Error('Connection terminated unexpectedly'), 503, 'api_error', 'service_unavailable'],
    // Errors of our own: the caller cannot act on them and learns nothing about them.
    ...['23505', '23514', '22P02', '25P02', '40001', '42601'].map((code) => [
      withCode(code),
      500,
      'api_error',
      'internal_error',
    ]),
    [new TypeError("Cannot read properties of undefined (reading 'x')"), 500, 'api_error', 'internal_error'],
    ...['text', null, undefined, 42, {}, []].map((thrown) => [thrown, 500, 'api_error', 'internal_error']),
    [new InternalServerErrorException('internals'), 500, 'api_error', 'internal_error'],
    [withStatus(500), 500, 'api_error', 'internal_error'],
    [withStatus(200), 500, 'api_error', 'internal_error'],
    [withStatus('404'), 500, 'api_error', 'internal_error'],
    // Errors of the framework.
    [new NotFoundException('Cannot GET /x'), 404, 'not_found_error', 'not_found'],
    [withStatus(404), 404, 'not_found_error', 'not_found'],
    [withStatus(413), 400, 'invalid_request_error', 'invalid_request'],
    [new BadRequestException('internals'), 400, 'invalid_request_error', 'invalid_request'],
    [new ForbiddenException('internals'), 400, 'invalid_request_error', 'invalid_request'],
    [new HttpException('internals', 418), 400, 'invalid_request_error', 'invalid_request'],
    [withStatus(431), 400, 'invalid_request_error', 'invalid_request'],
  ] as [unknown, number, string, string][])('%p becomes %d %s %s', (thrown, status, type, code) => {
    const answer = toApiError(thrown);
    expect(answer).toBeInstanceOf(ApiError);
    expect(answer).toMatchObject({ status, type, code });
    expect(answer.headers).toEqual(status === 503 ? { 'Retry-After': '1' } : {});
    expect(JSON.stringify(answer.body())).not.toMatch(/SELECT|internals|Cannot|terminated/);
  });
});
