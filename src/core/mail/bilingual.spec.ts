import { describe, expect, it } from '@jest/globals';
import { bilingualMail } from './bilingual.js';

describe('a mail in two languages', () => {
  it('says the same as text and as HTML, where nothing becomes markup', () => {
    expect(bilingualMail({ subject: 'Oi / Hi', portuguese: ['Olá <b>&', 'Tchau'], english: ['Hello'] })).toEqual({
      subject: 'Oi / Hi',
      text: 'Olá <b>&\n\nTchau\n\n---\n\nHello\n',
      html: '<div lang="pt-BR">\n<p>Olá &#60;b&#62;&#38;</p>\n<p>Tchau</p>\n</div>\n<hr>\n<div lang="en">\n<p>Hello</p>\n</div>\n',
    });
  });
});
