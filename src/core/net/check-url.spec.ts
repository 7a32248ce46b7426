import { describe, expect, it } from '@jest/globals';
import { readConfig } from '../config/index.js';
import type { Mode } from '../mode.js';
import type { AddressClass } from './address-class.js';
import { allowsPrivate, checkAddress, checkUrl, MAX_URL_LENGTH } from './check-url.js';

const SERVER = {
  ALLOW_INSECURE: 'true',
  DATABASE_URL: 'postgres://db.internal:5433/recebe',
  REDIS_URL: 'redis://cache.internal:6380',
};
/** A server shared by merchants. */
const SHARED = readConfig(SERVER);
/** A shared server whose operator also wants receivers inside the network. */
const OPEN = readConfig({ ...SERVER, WEBHOOK_ALLOW_PRIVATE: 'true' });
/** `npm start` on somebody's machine. */
const EMBEDDED = readConfig({});

function check(url: string, mode: Mode = 'test', rules = SHARED): string | null {
  return checkUrl(url, mode, rules);
}

/** Hosts as they may stand in a URL, each with its class. */
const HOSTS: readonly (readonly [host: string, kind: AddressClass])[] = [
  ['8.8.8.8', 'public'],
  ['1.1.1.1', 'public'],
  ['200.160.2.3', 'public'],
  ['[2001:4860:4860::8888]', 'public'],
  ['[2804:14c::1]', 'public'],
  // Public neighbours of ranges that are not public.
  ['9.255.255.255', 'public'],
  ['11.0.0.0', 'public'],
  ['100.63.255.255', 'public'],
  ['100.128.0.0', 'public'],
  ['126.255.255.255', 'public'],
  ['128.0.0.0', 'public'],
  ['169.253.255.255', 'public'],
  ['169.255.0.0', 'public'],
  ['172.15.255.255', 'public'],
  ['172.32.0.0', 'public'],
  ['192.167.255.255', 'public'],
  ['192.169.0.0', 'public'],
  ['198.17.255.255', 'public'],
  ['198.20.0.0', 'public'],
  ['223.255.255.255', 'public'],
  // A public address inside another one: what NAT64 makes of a name in a network without IPv4.
  ['[64:ff9b::8.8.8.8]', 'public'],
  ['[::ffff:8.8.8.8]', 'public'],
  ['[2002:808:808::1]', 'public'],

  ['10.0.0.0', 'private'],
  ['10.255.255.255', 'private'],
  ['172.16.0.1', 'private'],
  ['172.31.255.255', 'private'],
  ['192.168.0.1', 'private'],
  ['100.64.0.1', 'private'],
  ['100.127.255.255', 'private'],
  ['[fc00::1]', 'private'],
  ['[fdff:ffff::1]', 'private'],
  ['[fec0::1]', 'private'],
  // Private addresses in other spellings.
  ['0xa.1', 'private'],
  ['012.0.0.1', 'private'],
  ['167772161', 'private'],
  ['0x0a000001', 'private'],
  ['192.168.257', 'private'],
  ['[::ffff:10.0.0.1]', 'private'],
  ['[::ffff:a00:1]', 'private'],
  ['[64:ff9b::192.168.0.1]', 'private'],
  ['[2002:a00:1::1]', 'private'],
  ['[2002:c0a8:1::]', 'private'],

  ['127.0.0.1', 'loopback'],
  ['127.255.255.254', 'loopback'],
  ['127.1', 'loopback'],
  ['127.0.0.1.', 'loopback'],
  ['2130706433', 'loopback'],
  ['0x7f000001', 'loopback'],
  ['0x7f.1', 'loopback'],
  ['0177.0.0.1', 'loopback'],
  ['00000177.0.0.0x1', 'loopback'],
  ['127.0x0.0.01', 'loopback'],
  ['%31%32%37.0.0.1', 'loopback'],
  ['１２７.０.０.１', 'loopback'],
  ['127。0。0。1', 'loopback'],
  ['①②⑦.0.0.1', 'loopback'],
  ['[::1]', 'loopback'],
  ['[0:0:0:0:0:0:0:1]', 'loopback'],
  ['[::ffff:127.0.0.1]', 'loopback'],
  ['[::ffff:7f00:1]', 'loopback'],
  ['[64:ff9b::7f00:1]', 'loopback'],
  ['[2002:7f00:1::]', 'loopback'],

  ['192.0.2.1', 'special-use'],
  ['198.51.100.7', 'special-use'],
  ['203.0.113.9', 'special-use'],
  ['198.18.0.1', 'special-use'],
  ['198.19.255.255', 'special-use'],
  ['192.0.0.8', 'special-use'],
  ['192.88.99.1', 'special-use'],
  ['[2001:db8::1]', 'special-use'],
  ['[3fff::1]', 'special-use'],
  ['[100::1]', 'special-use'],

  ['0.0.0.0', 'unspecified'],
  ['0', 'unspecified'],
  ['0x0', 'unspecified'],
  ['0.1.2.3', 'unspecified'],
  ['[::]', 'unspecified'],
  ['[::ffff:0.0.0.0]', 'unspecified'],
  ['169.254.0.1', 'link-local'],
  ['169.254.255.255', 'link-local'],
  ['[fe80::1]', 'link-local'],
  ['[febf::1]', 'link-local'],
  ['[2002:a9fe:1::]', 'link-local'],
  ['169.254.169.254', 'cloud metadata'],
  ['2852039166', 'cloud metadata'],
  ['0xa9fea9fe', 'cloud metadata'],
  ['0251.0376.0251.0376', 'cloud metadata'],
  ['169.254.43518', 'cloud metadata'],
  ['[::ffff:169.254.169.254]', 'cloud metadata'],
  ['[::ffff:a9fe:a9fe]', 'cloud metadata'],
  ['[64:ff9b::169.254.169.254]', 'cloud metadata'],
  ['[2002:a9fe:a9fe::1]', 'cloud metadata'],
  ['[fd00:ec2::254]', 'cloud metadata'],
  ['[fd20:ce::254]', 'cloud metadata'],
  ['168.63.129.16', 'cloud metadata'],
  ['100.100.100.200', 'cloud metadata'],
  ['192.0.0.192', 'cloud metadata'],
  ['metadata.google.internal', 'cloud metadata'],
  ['METADATA.google.internal.', 'cloud metadata'],
  ['metadata', 'cloud metadata'],
  ['224.0.0.1', 'multicast'],
  ['239.255.255.250', 'multicast'],
  ['[ff02::1]', 'multicast'],
  ['[::ffff:224.0.0.1]', 'multicast'],
  ['240.0.0.1', 'reserved'],
  ['255.255.255.255', 'reserved'],
  ['0xffffffff', 'reserved'],
  ['[2001::1]', 'reserved'], // Teredo
  ['[2001:10::1]', 'reserved'],
  ['[::127.0.0.1]', 'reserved'], // IPv4-compatible
  ['[::ffff:0:127.0.0.1]', 'reserved'], // IPv4-translated
  ['[64:ff9b:1::10.0.0.1]', 'reserved'], // NAT64 of a local network
  ['[4000::1]', 'reserved'],
  ['[1::]', 'reserved'],

  ['localhost', 'private'],
  ['LOCALHOST', 'private'],
  ['localhost.', 'private'],
  ['localhost..', 'private'],
  ['api.localhost', 'private'],
  ['ⓛocalhost', 'private'],
  ['local%68ost', 'private'],
  ['ｌｏｃａｌｈｏｓｔ', 'private'],
  ['loc\u00adalhost', 'private'], // a soft hyphen, which IDNA drops
  ['localhost.localdomain', 'private'],
  ['printer.local', 'private'],
  ['db.internal', 'private'],
  ['host.docker.internal', 'private'],
  ['nas.home.arpa', 'private'],
  ['shop.lan', 'private'],
  ['postgres', 'private'],
  ['kubernetes', 'private'],
];

const WITHIN: ReadonlySet<AddressClass> = new Set(['private', 'loopback', 'special-use']);

describe('the hosts that webhooks may go to', () => {
  it.each(HOSTS)('%s is classified as %s', (host, kind) => {
    const url = `https://${host}/hook`;
    const strict =
      kind === 'public' ? null : WITHIN.has(kind) ? 'must have a public host' : `must not have a ${kind} address`;
    const open = WITHIN.has(kind) ? null : strict;
    expect(check(url, 'live', SHARED)).toBe(strict);
    expect(check(url, 'test', SHARED)).toBe(strict);
    // The switch is for test mode: a live receiver has a public address.
    expect(check(url, 'live', OPEN)).toBe(strict);
    expect(check(url, 'test', OPEN)).toBe(open);
    expect(check(url, 'test', EMBEDDED)).toBe(open);
    expect(check(url, 'live', EMBEDDED)).toBe(open);
    expect(check(url, 'live', readConfig({ WEBHOOK_ALLOW_PRIVATE: 'false' }))).toBe(strict);
  });

  it.each([
    'merchant.example',
    'Merchant.Example.',
    'pagamentos.açaí.example',
    'xn--aa-mia0c.example',
    'localhost.example',
    'local.example',
    'internal.example',
    'mylocalhost.example',
    '10.0.0.1.example',
    '127-0-0-1.example',
    'l\u043Ecalhost.example', // with a Cyrillic о: another name, and a public one
    'metadata.google.internal.example',
  ])('%s is a name, which is looked up when connecting', (host) => {
    for (const mode of ['test', 'live'] as const) expect(check(`https://${host}/hook`, mode)).toBeNull();
  });
});

describe('an address that is about to be connected to', () => {
  it.each([
    ['8.8.8.8', null, null],
    ['2001:4860:4860::8888', null, null],
    ['10.0.0.7', 'private', null],
    ['127.0.0.1', 'loopback', null],
    ['::1', 'loopback', null],
    ['::ffff:192.168.0.1', 'private', null],
    ['192.0.2.1', 'special-use', null],
    ['169.254.169.254', 'cloud metadata', 'cloud metadata'],
    ['::ffff:169.254.169.254', 'cloud metadata', 'cloud metadata'],
    ['fd00:ec2::254', 'cloud metadata', 'cloud metadata'],
    ['fe80::1%eth0', 'link-local', 'link-local'],
    ['fe80::1%25eth0', 'link-local', 'link-local'],
    ['ff02::fb%2', 'multicast', 'multicast'],
    ['::1%lo', 'loopback', null],
    ['0.0.0.0', 'unspecified', 'unspecified'],
    ['::', 'unspecified', 'unspecified'],
    ['255.255.255.255', 'reserved', 'reserved'],
    ['::7f00:1', 'reserved', 'reserved'],
  ] as const)('%s is refused as %s, and where private addresses are allowed as %s', (address, strict, open) => {
    expect(checkAddress(address, false)).toBe(strict);
    expect(checkAddress(address, true)).toBe(open);
  });
});

describe('whether private addresses are allowed', () => {
  it.each([
    ['test', SHARED, false],
    ['live', SHARED, false],
    ['test', OPEN, true],
    ['live', OPEN, false],
    ['test', EMBEDDED, true],
    ['live', EMBEDDED, true],
  ] as const)('in %s mode depend on the settings', (mode, rules, expected) => {
    expect(allowsPrivate(mode, rules)).toBe(expected);
  });
});

describe('checkUrl', () => {
  it('accepts plain http in test mode, and in live mode only for addresses that stay within the embedded default', () => {
    const message = 'must start with https:// in live mode';
    expect(check('http://merchant.example/hook', 'test')).toBeNull();
    for (const rules of [SHARED, OPEN, EMBEDDED]) {
      expect(check('http://merchant.example/hook', 'live', rules)).toBe(message);
      expect(check('http://8.8.8.8/hook', 'live', rules)).toBe(message);
      expect(check('http://169.254.169.254/hook', 'live', rules)).toBe(message);
    }
    for (const rules of [SHARED, OPEN]) expect(check('http://127.0.0.1/hook', 'live', rules)).toBe(message);
    expect(check('http://127.0.0.1:9000/hook', 'live', EMBEDDED)).toBeNull();
    expect(check('http://localhost:9000/hook', 'live', EMBEDDED)).toBeNull();
  });

  it.each([
    '',
    'merchant.example/hook',
    '//merchant.example/hook',
    'ftp://merchant.example/',
    'file:///etc/passwd',
    'gopher://127.0.0.1:6379/_FLUSHALL',
    'javascript:alert(1)',
    'data:text/plain,x',
    'blob:https://merchant.example/x',
    'https:merchant.example',
    'https:/merchant.example',
    'https:\\\\merchant.example',
    'https://merchant.example\\@10.0.0.1/',
    'https://merchant.example/a b',
    ' https://merchant.example/',
    'https://merchant.example/\n',
    'https://merchant.example\t/',
    'https://merchant.example/\0',
    'https://merchant.example/\r\nHost: 10.0.0.1',
    'https://',
    'https://merchant.example:99999/',
    'https://merchant.example:-1/',
    'https://merchant.example:http/',
    'https://exa mple/',
    'https://exa%20mple/',
    'https://exa%00mple/',
    'https://merchant%2Eexample%2F@10.0.0.1',
    'https://[::1',
    'https://[fe80::1%25eth0]/',
    'https://[fe80::1%eth0]/',
    'https://[127.0.0.1]/',
    'https://256.1.1.1/',
    'https://1.2.3.4.5/',
    'https://0x100000000/',
    'https://09.0.0.1/',
  ])('refuses %j, which is no http(s) URL', (url) => {
    expect(check(url, 'test', EMBEDDED)).toMatch(
      /^must (be an absolute URL that starts with https:\/\/ or http:\/\/|not contain a user name or password)$/,
    );
  });

  it.each([
    'https://user@merchant.example/',
    'https://user:pass@merchant.example/',
    'https://:pass@merchant.example/',
    'https://merchant.example@10.0.0.1/',
    'https://merchant.example%40x@10.0.0.1/',
    'https://merchant.example:443@10.0.0.1/',
  ])('refuses user info: %s', (url) => {
    expect(check(url)).toBe('must not contain a user name or password');
  });

  it.each([0, 22, 25, 53, 110, 143, 445, 465, 587, 993, 3306, 5432, 6379, 11211, 27017])(
    'refuses port %i, also where everything else is allowed',
    (port) => {
      for (const [mode, rules] of [
        ['test', EMBEDDED],
        ['live', SHARED],
      ] as const) {
        expect(check(`https://merchant.example:${port}/`, mode, rules)).toBe(
          `must not have port ${port}: it is not for HTTP`,
        );
      }
    },
  );

  it('refuses the ports of the database and Redis of this service, wherever those are', () => {
    expect(check('https://merchant.example:5433/')).toBe('must not have port 5433: it is not for HTTP');
    expect(check('https://merchant.example:6380/')).toBe('must not have port 6380: it is not for HTTP');
    expect(check('https://merchant.example:5433/', 'test', EMBEDDED)).toBeNull();
  });

  it.each(['', ':80', ':443', ':1', ':9', ':3000', ':8080', ':8443', ':65535', ':'])('accepts port %j', (port) => {
    expect(check(`https://merchant.example${port}/hook?token=a%20b#x`, 'live')).toBeNull();
  });

  it('accepts 2048 characters and no more', () => {
    const longest = 'https://merchant.example/'.padEnd(MAX_URL_LENGTH, 'a');
    expect(check(longest)).toBeNull();
    expect(check(`${longest}a`)).toBe('must have at most 2048 characters');
  });
});
