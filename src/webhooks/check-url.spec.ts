import { describe, expect, it } from '@jest/globals';
import type { Mode } from '../core/mode.js';
import { checkUrl, MAX_URL_LENGTH } from './check-url.js';

function check(url: string, mode: Mode = 'test', allowPrivate = false): string | null {
  return checkUrl(url, mode, { webhooks: { retryScheduleSeconds: [1], concurrency: 1, allowPrivate } });
}

describe('checkUrl', () => {
  it('takes https to a public host in both modes', () => {
    for (const mode of ['test', 'live'] as const) {
      expect(check('https://merchant.example/hook?token=a%20b#x', mode)).toBeNull();
      expect(check('HTTPS://Merchant.example:8443', mode)).toBeNull();
      expect(check('https://pagamentos.açaí.example/', mode)).toBeNull();
      expect(check('https://203.0.113.9/hook', mode)).toBeNull();
      expect(check('https://[2001:4860:4860::8888]/hook', mode)).toBeNull();
    }
  });

  it('takes plain http in test mode only, whatever the settings', () => {
    expect(check('http://merchant.example/hook', 'test')).toBeNull();
    expect(check('http://merchant.example/hook', 'live')).toBe('must start with https:// in live mode');
    expect(check('http://127.0.0.1/hook', 'live', true)).toBe('must start with https:// in live mode');
  });

  it.each([
    '',
    'merchant.example/hook',
    'ftp://merchant.example/',
    'javascript:alert(1)',
    'https:merchant.example',
    'https:\\\\merchant.example',
    'https://merchant.example/a b',
    ' https://merchant.example/',
    'https://merchant.example/\n',
    'https://merchant.example/\0',
    'https://',
    'https://merchant.example:99999/',
    'https://exa mple/',
    'https://[::1',
  ])('refuses %j, which is no http(s) URL', (url) => {
    expect(check(url, 'test', true)).toBe('must be an absolute URL that starts with https:// or http://');
  });

  it.each(['https://user@merchant.example/', 'https://user:pass@merchant.example/', 'https://:pass@merchant.example/'])(
    'refuses user info: %s',
    (url) => {
      expect(check(url)).toBe('must not contain a user name or password');
    },
  );

  it('takes 2048 characters and not one more', () => {
    const longest = 'https://merchant.example/'.padEnd(MAX_URL_LENGTH, 'a');
    expect(check(longest)).toBeNull();
    expect(check(`${longest}a`)).toBe('must have at most 2048 characters');
  });

  it.each([
    'localhost',
    'localhost.',
    'api.localhost',
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f.0.0.1',
    '10.1.2.3',
    '172.31.255.255',
    '192.168.0.1',
    '100.64.0.1',
    '[::1]',
    '[fd00::1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:10.0.0.1]',
  ])('takes the private host %s only where private hosts are allowed', (host) => {
    expect(check(`http://${host}/hook`, 'test', false)).toBe('must have a public host');
    expect(check(`https://${host}/hook`, 'live', false)).toBe('must have a public host');
    expect(check(`http://${host}:9000/hook`, 'test', true)).toBeNull();
  });

  it.each([
    '0.0.0.0',
    '169.254.169.254',
    '224.0.0.1',
    '255.255.255.255',
    '[::]',
    '[fe80::1]',
    '[ff02::1]',
    '[::ffff:169.254.169.254]',
  ])('never takes %s', (host) => {
    const message = 'must not have a link-local, multicast or unspecified address';
    expect(check(`http://${host}/latest/meta-data`, 'test', true)).toBe(message);
  });

  it('takes public neighbours of private ranges', () => {
    for (const host of ['172.32.0.1', '11.0.0.1', '100.128.0.1', '128.0.0.1', '[2001:db8::1]']) {
      expect(check(`https://${host}/`, 'live')).toBeNull();
    }
  });
});
