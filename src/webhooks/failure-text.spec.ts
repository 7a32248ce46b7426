import { describe, expect, it } from '@jest/globals';
import { failureText } from './failure-text.js';

const limits = { connectMs: 5_000, totalMs: 15_000 };

function failure(code: string, message = 'connect to 10.0.0.7:443', extra: object = {}): string {
  return failureText(Object.assign(new Error(message), { code }, extra), limits);
}

describe('failureText', () => {
  it('says what happened in words', () => {
    expect(failure('ECONNREFUSED')).toBe('connection refused');
    expect(failure('ENOTFOUND')).toBe('the host name does not exist');
    expect(failure('UND_ERR_CONNECT_TIMEOUT')).toBe('could not connect within 5 s');
    expect(failureText(new DOMException('aborted', 'TimeoutError'), limits)).toBe('timed out after 15 s');
  });

  it('tells what is wrong with a certificate', () => {
    expect(failure('CERT_HAS_EXPIRED', 'certificate has expired')).toBe('TLS: certificate has expired');
    expect(failure('DEPTH_ZERO_SELF_SIGNED_CERT', 'self-signed certificate')).toBe('TLS: self-signed certificate');
    expect(failure('EPROTO', 'C0:error:0A00010B:ssl/record.c:354', { reason: 'wrong version number' })).toBe(
      'TLS: wrong version number',
    );
  });

  it('looks into the errors of a host with several addresses and into causes', () => {
    const refused = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
    expect(failureText(new AggregateError([refused, refused]), limits)).toBe('connection refused');
    expect(failureText(new TypeError('fetch failed', { cause: refused }), limits)).toBe('connection refused');
  });

  it('never repeats an unknown error, which may name addresses of our network', () => {
    expect(failure('EWEIRD')).toBe('the request could not be sent (EWEIRD)');
    expect(failureText(new Error('10.0.0.7'), limits)).toBe('the request could not be sent');
    expect(failureText('10.0.0.7', limits)).toBe('the request could not be sent');
  });
});
