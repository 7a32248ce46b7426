import { DateTime } from 'luxon';
import { maskTaxId, normalizeTaxId, SAO_PAULO } from '../../brazil/index.js';
import { type Pdf, printable } from '../../core/pdf.js';

/** Draws a small label with its value below, both cut at `width`; the value never wraps to a second line. */
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

/** First name and initials, `Maria d. S.`: enough for anybody who knows the person. */
export function maskedName(name: string | null): string {
  const [first = '', ...others] = (name ?? '').trim().split(/\s+/);
  return first === '' ? 'Não informado' : [first, ...others.map((part) => `${[...part][0] ?? ''}.`)].join(' ');
}

/** A tax id with its inner digits only. If the text is neither CPF nor CNPJ, all of it is masked. */
export function maskedDocument(document: string | null): string {
  return document === null ? 'Não informado' : maskTaxId(normalizeTaxId(document) ?? '');
}

function fit(pdf: Pdf, text: string, width: number): string {
  let end = text.length;
  while (end > 0 && pdf.widthOfString(end < text.length ? `${text.slice(0, end)}...` : text) > width) end -= 1;
  return end < text.length ? `${text.slice(0, end)}...` : text;
}
