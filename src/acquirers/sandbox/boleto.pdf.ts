import { formatBoletoLine } from '../../brazil/index.js';
import { type Amount, moneyText } from '../../core/money/index.js';
import { MARGIN, type Pdf, renderPdf } from '../../core/pdf.js';
import { dayText, labelled, maskedDocument } from './pdf.js';

export interface BoletoSheet {
  readonly barcode: string;
  readonly line: string;
  /** Cents of BRL. */
  readonly amount: Amount;
  readonly createdAt: Date;
  /** Any instant of the due day in São Paulo. */
  readonly dueAt: Date;
  /** The bank's number of the boleto. */
  readonly number: string;
  readonly merchant: string;
  readonly payer: { readonly name: string | null; readonly document: string | null };
}

/** Points: 103 mm wide and 13 mm high, as the standard asks for. */
const BARCODE_WIDTH = 292;
const BARCODE_HEIGHT = 37;
/** Ratio of a wide bar to a narrow one; the standard allows 2 to 3. */
const WIDE = 3;

/** Narrow and wide elements of the digits 0 to 9 in "2 of 5". */
const PATTERNS = ['nnwwn', 'wnnnw', 'nwnnw', 'wwnnn', 'nnwnw', 'wnwnn', 'nwwnn', 'nnnww', 'wnnwn', 'nwnwn'];

/** The sheet that a payer of the sandbox prints or opens: the digitable line and the bar code. */
export function boletoPdf(sheet: BoletoSheet): Promise<Buffer> {
  return renderPdf('Boleto', (pdf) => {
    const right = pdf.page.width - MARGIN;
    const width = right - MARGIN;
    pdf.font('Helvetica-Bold').fontSize(16).text('Banco Sandbox | 999', MARGIN, MARGIN, { lineBreak: false });
    // Aligned left: if a viewer draws a wider font than Helvetica, the last digits stay on the page.
    pdf.fontSize(11).text(formatBoletoLine(sheet.line), MARGIN, MARGIN + 28, { lineBreak: false });
    pdf.font('Helvetica').fontSize(9).fillColor('#b00020');
    pdf.text('Boleto de teste: não pague. Nenhum banco o conhece.', MARGIN, MARGIN + 48, { width, lineBreak: false });
    pdf.fillColor('#000000');

    const columns = [MARGIN + 6, MARGIN + width * 0.62] as const;
    const rows: readonly (readonly [string, string, string, string])[] = [
      ['Local de pagamento', 'Pagável em qualquer banco até o vencimento', 'Vencimento', dayText(sheet.dueAt)],
      ['Beneficiário', sheet.merchant, 'Valor do documento', moneyText(sheet.amount, 'BRL')],
      ['Pagador', sheet.payer.name ?? 'Não informado', 'CPF/CNPJ do pagador', maskedDocument(sheet.payer.document)],
      ['Nosso número', sheet.number, 'Data do documento', dayText(sheet.createdAt)],
    ];
    let y = MARGIN + 70;
    for (const [label, value, secondLabel, secondValue] of rows) {
      pdf.rect(MARGIN, y, width, 34).stroke('#999999');
      labelled(pdf, label, value, columns[0], y + 6, columns[1] - columns[0] - 12);
      labelled(pdf, secondLabel, secondValue, columns[1], y + 6, right - columns[1] - 6);
      y += 34;
    }
    drawBarcode(pdf, sheet.barcode, MARGIN, y + 20);
  });
}

/**
 * Encodes interleaved 2 of 5: the first digit of each pair is in the bars, the second in the spaces between them.
 * @returns narrow and wide, bars and spaces in turn, start and stop included
 */
export function interleaved2of5(digits: string): string {
  const pairs = digits.match(/\d\d/g) ?? [];
  const body = pairs.map((pair) => {
    const [bars = '', spaces = ''] = [...pair].map((digit) => PATTERNS[Number(digit)]);
    return [...bars].map((bar, index) => `${bar}${spaces[index]}`).join('');
  });
  return `nnnn${body.join('')}wnn`;
}

function drawBarcode(pdf: Pdf, digits: string, x: number, y: number): void {
  const elements = [...interleaved2of5(digits)].map((kind) => (kind === 'w' ? WIDE : 1));
  const unit = BARCODE_WIDTH / elements.reduce((sum, size) => sum + size, 0);
  let at = x;
  for (const [index, size] of elements.entries()) {
    if (index % 2 === 0) pdf.rect(at, y, size * unit, BARCODE_HEIGHT).fill('#000000');
    at += size * unit;
  }
}
