import { inflateSync } from 'node:zlib';

/** The texts that a PDF draws, in the order of drawing. Reads what pdfkit writes: deflated streams, hexadecimal strings. */
export function textsOf(pdf: Buffer): string[] {
  const source = pdf.toString('latin1');
  return [...source.matchAll(/stream\r?\n([\s\S]*?)\nendstream/g)].flatMap(([, stream = '']) => {
    const content = inflateSync(Buffer.from(stream, 'latin1')).toString('latin1');
    return [...content.matchAll(/\[([^\]]*)\] TJ/g)].map(([, array = '']) =>
      [...array.matchAll(/<([0-9a-f]*)>/g)].map(([, hex = '']) => Buffer.from(hex, 'hex').toString('latin1')).join(''),
    );
  });
}

/** Filled rectangles as `[x, y, width, height]`. */
export function rectanglesOf(pdf: Buffer): number[][] {
  const source = pdf.toString('latin1');
  return [...source.matchAll(/stream\r?\n([\s\S]*?)\nendstream/g)].flatMap(([, stream = '']) => {
    const content = inflateSync(Buffer.from(stream, 'latin1')).toString('latin1');
    return [...content.matchAll(/^([\d.]+) ([\d.]+) ([\d.]+) ([\d.]+) re\n(?:[^\n]*\n){0,3}?f$/gm)].map((match) =>
      match.slice(1, 5).map(Number),
    );
  });
}

export function pagesOf(pdf: Buffer): number {
  return pdf.toString('latin1').match(/\/Type \/Page\n/g)?.length ?? 0;
}
