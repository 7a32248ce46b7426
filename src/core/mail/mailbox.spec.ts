import { describe, expect, it } from '@jest/globals';
import { mailboxOf } from './mailbox.js';

describe('whom a mail reaches', () => {
  const ana = mailboxOf('ana@example.com');

  it.each([
    'ANA@Example.COM',
    'ana+shop@example.com',
    ' ana@example.com\t',
    '\u3000ana@example.com\u00a0',
    'ａｎａ＠ｅｘａｍｐｌｅ．ｃｏｍ',
    '𝐚𝐧𝐚@example.com',
  ])('is the same for %j', (address) => {
    expect(mailboxOf(address)).toBe(ana);
  });

  it.each(['a.na@example.com', 'ana@example.org', 'anna@example.com'])('is another one for %s', (address) => {
    expect(mailboxOf(address)).not.toBe(ana);
  });

  it('is one for all dots where the provider does not look at them', () => {
    const one = mailboxOf('anasilva@gmail.com');
    for (const other of ['ana.silva@gmail.com', 'a.n.a.silva+x@googlemail.com']) expect(mailboxOf(other)).toBe(one);
  });

  it('is one for both spellings of a domain', () => {
    expect(mailboxOf('ana@padaria-são-joão.example')).toBe(mailboxOf('ana@xn--padaria-so-joo-yhbe.example'));
  });
});
