import { describe, expect, it } from '@jest/globals';
import { attachment, fileNameOfType, safeFileName } from './file-name.js';

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
    ['CON', '_CON'],
    ['con.csv', '_con.csv'],
    ['..\\aux .csv', '_aux .csv'],
    ['LPT9.tar.gz', '_LPT9.tar.gz'],
    ['COM\u00b9.csv', '_COM\u00b9.csv'],
    ['\uff23\uff2f\uff2e.csv', '_\uff23\uff2f\uff2e.csv'],
    ['conin$', '_conin$'],
    ['console.csv', 'console.csv'],
    ['COM10.csv', 'COM10.csv'],
  ])('%j is saved as %j', (name, saved) => {
    expect(safeFileName(name)).toBe(saved);
  });

  it('keeps its extension when it is cut', () => {
    const saved = safeFileName(`${'ã'.repeat(300)}.jpeg`);
    expect([...saved]).toHaveLength(100);
    expect(saved).toMatch(/ã\.jpeg$/);
  });

  it.each(['a"b.png', "it's (1)*!.png", 'março 🎉.png', 'x\r\ny'])('fits into a header when it is %j', (name) => {
    expect(attachment(name)).toMatch(/^attachment; filename="[\x20-\x21\x23-\x7e]*"; filename\*=UTF-8''[\w.~%-]+$/);
  });
});

describe('the name of a download whose type is proven', () => {
  it.each([
    ['receipt.pdf', 'receipt.pdf'],
    ['Recibo 12.PDF', 'Recibo 12.pdf'],
    ['receipt', 'receipt.pdf'],
    ['receipt.hta.png', 'receipt_hta_png.pdf'],
    ['receipt.pdf.exe', 'receipt_pdf_exe.pdf'],
    ['receipt.exe.pdf', 'receipt_exe.pdf'],
    ['x.exe', 'x_exe.pdf'],
    ['x.pdf:stream.exe', 'x_pdf_stream_exe.pdf'],
    ['x.lnk. . .', 'x_lnk.pdf'],
    ['x.pdf. .', 'x.pdf'],
    ['x.scr .pdf', 'x_scr.pdf'],
    ['x.bat   ', 'x_bat.pdf'],
    ['CON.png', 'CON_png.pdf'],
    ['con', '_con.pdf'],
    ['PRN .pdf', '_PRN.pdf'],
    ['aux.pdf.', '_aux.pdf'],
    ['NUL.tar.gz', 'NUL_tar_gz.pdf'],
    ['com1.pdf', '_com1.pdf'],
    ['LPT\u00b3', '_LPT\u00b3.pdf'],
    ['../CON', '_CON.pdf'],
    ['a/b.exe', 'a_b_exe.pdf'],
    ['C:\\x\\y.pdf', 'C__x_y.pdf'],
    ['fdp.\u202Eexe', 'fdp__exe.pdf'],
    ['x.pdf\0.exe', 'x_pdf__exe.pdf'],
    ['.pdf', 'pdf.pdf'],
    ['.htaccess', 'htaccess.pdf'],
    ['desktop.ini', 'desktop_ini.pdf'],
    ['x.{20D04FE0-3AEA-1069-A2D8-08002B30309D}', 'x_{20D04FE0-3AEA-1069-A2D8-08002B30309D}.pdf'],
    ['%2e%2e%2fx.hta', '2e_2e_2fx_hta.pdf'],
    ['..', 'download.pdf'],
    [' ', 'download.pdf'],
    ['', 'download.pdf'],
  ])('%j of a PDF is saved as %j', (name, saved) => {
    expect(fileNameOfType(name, ['pdf'])).toBe(saved);
  });

  it.each([
    ['foto.JPEG', 'foto.jpeg'],
    ['foto.jpg', 'foto.jpg'],
    ['foto.png', 'foto_png.jpg'],
    ['foto', 'foto.jpg'],
  ])('%j of a JPEG is saved as %j', (name, saved) => {
    expect(fileNameOfType(name, ['jpg', 'jpeg'])).toBe(saved);
  });

  it.each(['ã', '.exe', '🎉', 'x '])('keeps its extension when it is %j many times over', (piece) => {
    const saved = fileNameOfType(piece.repeat(300), ['pdf']);
    expect([...saved].length).toBeLessThanOrEqual(100);
    expect(saved).toMatch(/^[^.]+\S\.pdf$/u);
    expect(saved.isWellFormed()).toBe(true);
  });
});
