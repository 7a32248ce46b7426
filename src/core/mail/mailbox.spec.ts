import { describe, expect, it } from '@jest/globals';
import { mailboxOf } from './mailbox.js';

describe('mailboxOf', () => {
  const ana = mailboxOf('ana@example.com');

  it.each([
    'ANA@Example.COM',
    'ana+shop@example.com',
    ' ana@example.com\t',
    '\u3000ana@example.com\u00a0',
    'ａｎａ＠ｅｘａｍｐｌｅ．ｃｏｍ',
    '𝐚𝐧𝐚@example.com',
  ])('gives %j the hash of ana@example.com', (address) => {
    expect(mailboxOf(address)).toBe(ana);
  });

  it.each(['a.na@example.com', 'ana@example.org', 'anna@example.com'])(
    'gives %s another hash than ana@example.com',
    (address) => {
      expect(mailboxOf(address)).not.toBe(ana);
    },
  );

  it('ignores dots if the provider ignores them', () => {
    const one = mailboxOf('anasilva@gmail.com');
    for (const other of ['ana.silva@gmail.com', 'a.n.a.silva+x@googlemail.com']) expect(mailboxOf(other)).toBe(one);
  });

  it('gives the same hash for both spellings of a domain', () => {
    expect(mailboxOf('ana@padaria-são-joão.example')).toBe(mailboxOf('ana@xn--padaria-so-joo-yhbe.example'));
  });
});
