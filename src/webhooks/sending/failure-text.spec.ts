import { describe, expect, it } from '@jest/globals';
import { failureText } from './failure-text.js';
import { AddressNotAllowedError } from './guarded-connect.js';

const limits = { connectMs: 5_000, totalMs: 15_000 };

function failure(code: string, message = 'connect to 10.0.0.7:443', extra: object = {}): string {
  return failureText(Object.assign(new Error(message), { code }, extra), limits);
}

describe('failureText', () => {
  it('describes the failure in words', () => {
    expect(failure('ECONNREFUSED')).toBe('connection refused');
    expect(failure('ENOTFOUND')).toBe('the host name does not exist');
    expect(failure('UND_ERR_CONNECT_TIMEOUT')).toBe('could not connect within 5 s');
    expect(failureText(new DOMException('aborted', 'TimeoutError'), limits)).toBe('timed out after 15 s');
  });

  it.each([
    ['ECONNRESET', 'the receiver closed the connection before it answered'],
    ['ECONNABORTED', 'the receiver closed the connection before it answered'],
    ['EPIPE', 'the receiver closed the connection before it answered'],
    ['UND_ERR_SOCKET', 'the receiver closed the connection before it answered'],
    ['UND_ERR_HEADERS_OVERFLOW', 'the headers of the answer are too large'],
    ['UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 'the answer is not valid HTTP'],
    ['endless_answer', 'the receiver sent 128 KiB and no answer'],
    ['EAI_AGAIN', 'the host name could not be resolved'],
    ['EHOSTUNREACH', 'the host cannot be reached'],
    ['ENETUNREACH', 'the host cannot be reached'],
    ['EADDRNOTAVAIL', 'the host cannot be reached'],
    ['EPERM', 'the host cannot be reached'],
    ['ETIMEDOUT', 'the connection timed out'],
  ])('describes %s in words', (code, text) => {
    expect(failure(code)).toBe(text);
  });

  it('names an answer that is not HTTP, and a 101 that was not requested', () => {
    expect(failureText(Object.assign(new Error('Parse Error'), { name: 'HTTPParserError' }), limits)).toBe(
      'the answer is not valid HTTP',
    );
    expect(failure('UND_ERR_SOCKET', 'bad upgrade')).toBe('the receiver answered HTTP 101, which it was not asked for');
  });

  it('gives the kind of a forbidden address, but not the address', () => {
    const error = Object.assign(new AddressNotAllowedError('private'), { hostname: '10.0.0.7' });
    expect(failureText(error, limits)).toBe("the host's address is not allowed: private");
  });

  it('describes the fault of a certificate', () => {
    expect(failure('CERT_HAS_EXPIRED', 'certificate has expired')).toBe('TLS: certificate has expired');
    expect(failure('DEPTH_ZERO_SELF_SIGNED_CERT', 'self-signed certificate')).toBe('TLS: self-signed certificate');
    expect(failure('EPROTO', 'C0:error:0A00010B:ssl/record.c:354', { reason: 'wrong version number' })).toBe(
      'TLS: wrong version number',
    );
    for (const code of [
      'ERR_TLS_CERT_ALTNAME_INVALID',
      'ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE',
      'CERT_NOT_YET_VALID',
    ]) {
      expect(failure(code, 'why')).toBe('TLS: why');
    }
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
