import { type Amount, moneyText } from '../../core/money/index.js';
import { MARGIN, renderPdf } from '../../core/pdf.js';
import type { PaymentMethod } from '../acquirer.port.js';
import { labelled, maskedDocument, maskedName, timeText } from './pdf.js';

export interface Receipt {
  readonly method: PaymentMethod;
  /** The end-to-end id of a Pix, or the acquirer's id of another payment. */
  readonly reference: string;
  readonly txid: string;
  readonly amount: Amount;
  readonly currency: string;
  readonly settledAt: Date;
  readonly merchant: string;
  readonly payer: { readonly name: string | null; readonly document: string | null };
}

const NAMES: Readonly<Record<PaymentMethod, string>> = {
  PIX: 'Pix',
  CREDIT_CARD: 'Cartão de crédito',
  MBWAY: 'MB WAY',
  MULTIBANCO: 'Multibanco',
  BOLETO: 'Boleto',
  CRYPTO: 'Criptomoeda',
};

/** The sandbox bank's proof of a payment: whole amounts, masked people. */
export function receiptPdf(receipt: Receipt): Promise<Buffer> {
  const rows: readonly (readonly [string, string])[] = [
    ['Valor', moneyText(receipt.amount, receipt.currency)],
    ['Data e hora', timeText(receipt.settledAt)],
    ['Forma de pagamento', NAMES[receipt.method]],
    ['Recebedor', receipt.merchant],
    ['Pagador', maskedName(receipt.payer.name)],
    ['CPF/CNPJ do pagador', maskedDocument(receipt.payer.document)],
    [receipt.method === 'PIX' ? 'ID da transação (end-to-end)' : 'ID do pagamento', receipt.reference],
    ['Identificador da cobrança (txid)', receipt.txid],
  ];
  return renderPdf('Comprovante', (pdf) => {
    const width = pdf.page.width - 2 * MARGIN;
    pdf.font('Helvetica-Bold').fontSize(18).text('Comprovante de pagamento', MARGIN, MARGIN, { lineBreak: false });
    pdf.font('Helvetica').fontSize(9).fillColor('#b00020');
    pdf.text('Ambiente de testes: nenhum dinheiro foi movido.', MARGIN, MARGIN + 24, { lineBreak: false });
    for (const [index, [label, value]] of rows.entries())
      labelled(pdf, label, value, MARGIN, MARGIN + 56 + index * 36, width);
  });
}
