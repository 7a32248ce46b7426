import { describe, expect, it } from '@jest/globals';
import {
  type ApiError,
  badRequest,
  business,
  invalidRequest,
  notFound,
  providerUnavailable,
  serviceUnavailable,
  unauthorized,
} from './api-error.js';

describe('errors for callers', () => {
  it('have the keys of the envelope, and no key without a value', () => {
    expect(notFound('charge').body()).toStrictEqual({
      type: 'not_found_error',
      code: 'not_found',
      message: 'No such charge.',
    });
    expect(badRequest('invalid_request', 'No.', 'amount').body()).toStrictEqual({
      type: 'invalid_request_error',
      code: 'invalid_request',
      message: 'No.',
      param: 'amount',
    });
  });

  it('list every violation and name the first', () => {
    const one = { param: 'amount', code: 'required', message: 'is required' };
    const two = { param: 'customer.name', code: 'invalid', message: 'must be a text' };
    expect(invalidRequest([one]).body()).toStrictEqual({
      type: 'invalid_request_error',
      code: 'invalid_request',
      message: 'amount: is required',
      param: 'amount',
      details: [one],
    });
    expect(invalidRequest([one, two])).toMatchObject({ status: 400, param: 'amount', details: [one, two] });
    expect(invalidRequest([one, two]).message).toContain('2 problems');
  });

  it.each([
    [unauthorized(), 401, 'authentication_error', 'unauthorized', {}],
    [business('no_provider_configured', 'x'), 422, 'business_error', 'no_provider_configured', {}],
    [serviceUnavailable(), 503, 'api_error', 'service_unavailable', { 'Retry-After': '1' }],
    [providerUnavailable(), 503, 'provider_error', 'provider_unavailable', { 'Retry-After': '2' }],
  ] as [ApiError, number, string, string, Record<string, string>][])(
    '%s has its status, type, code and headers',
    (error, status, type, code, headers) => {
      expect(error).toMatchObject({ status, type, code, headers, name: 'ApiError' });
    },
  );
});
