import { saoPauloDay } from '../../brazil/index.js';
import { type Amount, moneyText } from '../../core/money/index.js';
import { MARGIN, type Pdf, printable, renderPdf } from '../../core/pdf.js';
import { MERCHANT_BUCKETS, type MerchantBucket, type StatementEntryType } from '../../wallets/index.js';
import type { EntryRow, StatementPart } from '../report-rows.repository.js';
import type { ReportOrder } from '../report.entity.js';
import { BUCKET_WORDS, CLOSING_WORDS } from './words.js';

/** Lines of a closing, in their order. */
const LINES = [
  ...(['opening', 'sales', 'fees', 'refunds', 'disputes', 'payouts', 'releases', 'corrections', 'closing'] as const),
];
export type ClosingLine = (typeof LINES)[number];

const LINE_OF: Readonly<Record<StatementEntryType, ClosingLine>> = {
  sale: 'sales',
  fee: 'fees',
  release: 'releases',
  refund: 'refunds',
  refund_failed: 'refunds',
  med_hold: 'disputes',
  med_release: 'disputes',
  med_loss: 'disputes',
  chargeback: 'disputes',
  payout: 'payouts',
  payout_failed: 'payouts',
  payout_returned: 'payouts',
  correction: 'corrections',
};

/** A line of a closing with its amounts by bucket. */
export interface ClosingRow extends Readonly<Record<MerchantBucket, Amount>> {
  readonly currency: string;
  readonly line: ClosingLine;
  readonly total: Amount;
  readonly createdAt: Date;
  readonly metadata: null;
}

/** Adds up the entries of a window by line and bucket. */
export class Closing {
  readonly #amounts = new Map<string, Amount>();

  /** @param opening balances before the window */
  constructor(private readonly opening: readonly (StatementPart & { readonly amount: Amount })[]) {
    for (const { currency, bucket, amount } of opening) this.#add('opening', currency, bucket, amount);
  }

  add({ type, currency, lines }: EntryRow): void {
    const line = LINE_OF[type];
    // The books hold net amounts: the fees of an entry are shown apart, in the first bucket that it moves. A fee that
    // an operator has corrected is a correction.
    const isSplit = line !== 'corrections' && line !== 'fees';
    let fees = isSplit ? (lines.platform_fees ?? 0) + (lines.provider_fees ?? 0) : 0;
    for (const bucket of MERCHANT_BUCKETS) {
      const amount = lines[bucket];
      if (amount === undefined) continue;
      this.#add(line, currency, bucket, amount + fees);
      this.#add('fees', currency, bucket, -fees);
      fees = 0;
    }
  }

  /** All lines of each currency; the closing balance is the sum of the others. */
  rows({ from }: ReportOrder): ClosingRow[] {
    const currencies = [...new Set(this.opening.map(({ currency }) => currency))];
    return currencies.flatMap((currency) =>
      LINES.map((line) => {
        const of = (bucket: MerchantBucket): Amount => this.#amount(line, currency, bucket);
        const amounts = { available: of('available'), pending: of('pending'), retained: of('retained') };
        const total = amounts.available + amounts.pending + amounts.retained;
        return { currency, line, ...amounts, total, createdAt: from, metadata: null };
      }),
    );
  }

  #amount(line: ClosingLine, currency: string, bucket: MerchantBucket): Amount {
    const of = (name: ClosingLine): Amount => this.#amounts.get(`${name} ${currency} ${bucket}`) ?? 0;
    return line === 'closing' ? LINES.reduce((sum, name) => sum + (name === 'closing' ? 0 : of(name)), 0) : of(line);
  }

  #add(line: ClosingLine, currency: string, bucket: MerchantBucket, amount: Amount): void {
    const key = `${line} ${currency} ${bucket}`;
    this.#amounts.set(key, (this.#amounts.get(key) ?? 0) + amount);
  }
}

const MONTHS = [
  ...['janeiro', 'fevereiro', 'março', 'abril', 'maio', 'junho', 'julho', 'agosto', 'setembro', 'outubro'],
  ...['novembro', 'dezembro'],
];

/** `novembro de 2026`, the month of the day in São Paulo. */
export function monthText(at: Date): string {
  const [year = '', month] = saoPauloDay(at).split('-');
  return `${MONTHS[Number(month) - 1] ?? ''} de ${year}`;
}

const FIRST_COLUMN = 120;
const LINE_HEIGHT = 20;

/** The closing as a document, with a table for each currency. */
export function closingPdf(
  { from, mode }: ReportOrder,
  merchant: string,
  rows: readonly ClosingRow[],
): Promise<Buffer> {
  const title = `Fechamento de ${monthText(from)}`;
  return renderPdf(title, (pdf) => {
    pdf.font('Helvetica-Bold').fontSize(18).text(title, MARGIN, MARGIN, { lineBreak: false });
    pdf
      .font('Helvetica')
      .fontSize(11)
      .text(printable(merchant), MARGIN, MARGIN + 26, { lineBreak: false });
    if (mode === 'test') {
      pdf.fillColor('#b00020').fontSize(9);
      pdf.text('Ambiente de testes: nenhum dinheiro foi movido.', MARGIN, MARGIN + 44, { lineBreak: false });
    }
    let y = MARGIN + 72;
    const height = (LINES.length + 2) * LINE_HEIGHT;
    for (let first = 0; first < rows.length; first += LINES.length) {
      if (y + height > pdf.page.height - MARGIN) {
        pdf.addPage();
        y = MARGIN;
      }
      drawTable(pdf, rows.slice(first, first + LINES.length), y);
      y += height;
    }
  });
}

function drawTable(pdf: Pdf, rows: readonly ClosingRow[], top: number): void {
  const width = (pdf.page.width - 2 * MARGIN - FIRST_COLUMN) / 4;
  const draw = (texts: readonly string[], y: number, isBold: boolean): void => {
    pdf
      .font(isBold ? 'Helvetica-Bold' : 'Helvetica')
      .fontSize(9)
      .fillColor('#000000');
    for (const [index, text] of texts.entries()) {
      const x = index === 0 ? MARGIN : MARGIN + FIRST_COLUMN + (index - 1) * width;
      const place = index === 0 ? { width: FIRST_COLUMN } : { width, align: 'right' as const };
      pdf.text(printable(text), x, y, { ...place, lineBreak: false });
    }
  };
  const buckets = MERCHANT_BUCKETS.map((bucket) => BUCKET_WORDS[bucket] ?? bucket);
  draw(['Movimento', ...buckets, 'Total'], top, true);
  for (const [index, row] of rows.entries()) {
    const amounts = [...MERCHANT_BUCKETS.map((bucket) => row[bucket]), row.total];
    const texts = amounts.map((amount) => moneyText(amount, row.currency));
    const isBalance = row.line === 'opening' || row.line === 'closing';
    draw([CLOSING_WORDS[row.line] ?? row.line, ...texts], top + (index + 1) * LINE_HEIGHT, isBalance);
  }
}
