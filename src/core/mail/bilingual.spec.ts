import { describe, expect, it } from '@jest/globals';
import { bilingualMail } from './bilingual.js';

describe('a mail in two languages', () => {
  it('says the same as text and as HTML, where nothing becomes markup', () => {
    expect(bilingualMail({ subject: 'Oi / Hi', portuguese: ['Olá <b>&', 'Tchau'], english: ['Hello'] })).toEqual({
      subject: 'Oi / Hi',
      isTest: false,
      text: 'Olá <b>&\n\nTchau\n\n---\n\nHello\n',
      html: '<div style="max-width:600px;margin:0 auto;padding:16px;font:16px/1.5 system-ui,sans-serif;overflow-wrap:anywhere">\n<div lang="pt-BR">\n<p>Olá &lt;b&gt;&amp;</p>\n<p>Tchau</p>\n</div>\n<hr>\n<div lang="en">\n<p>Hello</p>\n</div>\n</div>\n',
    });
  });

  it('links only the page of the service', () => {
    const page = 'https://pay.example/dashboard';
    const portuguese = [`Página: ${page}/x`, 'Motivo: https://evil.example/ http://evil.example'];
    const { html } = bilingualMail({ subject: 'Oi / Hi', page, portuguese, english: [] });
    expect(html.match(/<a /g)).toHaveLength(1);
    expect(html).toContain(`href="${page}/x"`);
    expect(bilingualMail({ subject: 'Oi / Hi', portuguese, english: [] }).html).not.toContain('<a ');
  });

  it('says first that it is about test mode, if it is', () => {
    const mail = { subject: 'Oi / Hi', portuguese: ['Olá'], english: ['Hello'] };
    expect(bilingualMail({ ...mail, mode: 'live' })).toEqual(bilingualMail(mail));
    const { subject, text } = bilingualMail({ ...mail, mode: 'test' });
    expect(subject).toBe('TESTE: Oi / Hi');
    expect(text).toMatch(/^TESTE: .*\n\nOlá\n\n---\n\nTEST: .*\n\nHello\n$/);
  });
});
