import { describe, expect, it } from '@jest/globals';
import { attachment, safeFileName } from './file-name.js';

describe('the name of a download', () => {
  it.each([
    ['comprovante.pdf', 'comprovante.pdf'],
    ['../../etc/passwd', 'etc_passwd'],
    ['..\\..\\windows\\win.ini', 'windows_win.ini'],
    ['/abs/olute.png', 'abs_olute.png'],
    ['C:\\boot.ini', 'C__boot.ini'],
    ['a/../../b.png', 'a_._._b.png'],
    ['.htaccess', 'htaccess'],
    ['a\0b\r\nSet-Cookie: x.png', 'a_b__Set-Cookie_ x.png'],
    ['"><img src=x>.png', 'img src=x_.png'],
    ['gnp.\u202Eexe', 'gnp._exe'],
    ['%2e%2e%2fx', '2e_2e_2fx'],
    ['  .. ', 'download'],
    ['', 'download'],
    ['\uD800.png', 'png'],
    ['cafe\u0301.png', 'café.png'],
    ['名前.png', '名前.png'],
  ])('%j is saved as %j', (name, saved) => {
    expect(safeFileName(name)).toBe(saved);
  });

  it('keeps its extension when it is cut', () => {
    const saved = safeFileName(`${'ã'.repeat(300)}.jpeg`);
    expect([...saved]).toHaveLength(100);
    expect(saved).toMatch(/ã\.jpeg$/);
  });

  it.each(['a"b.png', "it's (1)*!.png", 'março 🎉.png', 'x\r\ny'])('fits into a header: %j', (name) => {
    expect(attachment(name)).toMatch(/^attachment; filename="[\x20-\x21\x23-\x7e]*"; filename\*=UTF-8''[\w.~%-]+$/);
  });
});
