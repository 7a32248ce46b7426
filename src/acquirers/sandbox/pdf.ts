import { DateTime } from 'luxon';
import type PDFDocument from 'pdfkit';
import { maskTaxId, normalizeTaxId, SAO_PAULO } from '../../brazil/index.js';

export type Pdf = InstanceType<typeof PDFDocument>;

/** Points between the edge of the page and what is on it. */
export const MARGIN = 48;

/** One A4 page, drawn by `draw`, as bytes. */
export async function renderPdf(title: string, draw: (pdf: Pdf) => void): Promise<Buffer> {
  // When it is needed: a hundred modules, which would be a tenth of every start.
  const { default: Document } = await import('pdfkit');
  return new Promise((resolve, reject) => {
    const pdf = new Document({
      size: 'A4',
      margin: MARGIN,
      info: { Title: title, Producer: 'Recebe', Creator: 'Recebe' },
    });
    const chunks: Buffer[] = [];
    pdf.on('data', (chunk: Buffer) => chunks.push(chunk));
    pdf.on('end', () => resolve(Buffer.concat(chunks)));
    pdf.on('error', reject);
    draw(pdf);
    pdf.end();
  });
}

/** A small label with its value below it, both cut at `width`; the value never runs into a second line. */
export function labelled(pdf: Pdf, label: string, value: string, x: number, y: number, width: number): void {
  pdf.font('Helvetica').fontSize(7).fillColor('#666666').text(printable(label), x, y, { width, lineBreak: false });
  const fitted = fit(pdf.font('Helvetica-Bold').fontSize(10), printable(value), width);
  pdf.fillColor('#000000').text(fitted, x, y + 10, { width, lineBreak: false });
}

export function dayText(at: Date): string {
  return DateTime.fromJSDate(at, { zone: SAO_PAULO }).toFormat('dd/MM/yyyy');
}

export function timeText(at: Date): string {
  return `${DateTime.fromJSDate(at, { zone: SAO_PAULO }).toFormat("dd/MM/yyyy 'às' HH:mm:ss")} (horário de Brasília)`;
}

/** First name and initials, `Maria d. S.`: enough for who knows the person. */
export function maskedName(name: string | null): string {
  const [first = '', ...others] = (name ?? '').trim().split(/\s+/);
  return first === '' ? 'Não informado' : [first, ...others.map((part) => `${[...part][0] ?? ''}.`)].join(' ');
}

/** A tax id with its inner digits only; of one that is neither CPF nor CNPJ nothing but that it is there. */
export function maskedDocument(document: string | null): string {
  return document === null ? 'Não informado' : maskTaxId(normalizeTaxId(document) ?? '');
}

/** The built-in fonts know Windows-1252 and draw other characters as nonsense. */
function printable(text: string): string {
  return text.replace(/[^\x20-\x7e\xa0-\xff]/g, '?');
}

function fit(pdf: Pdf, text: string, width: number): string {
  let end = text.length;
  while (end > 0 && pdf.widthOfString(end < text.length ? `${text.slice(0, end)}...` : text) > width) end -= 1;
  return end < text.length ? `${text.slice(0, end)}...` : text;
}
