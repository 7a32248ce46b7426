import { describe, expect, it } from '@jest/globals';
import { pagesOf, rectanglesOf, textsOf } from '../../../test/support/pdf.js';
import { boletoPdf, interleaved2of5 } from './boleto.pdf.js';
import { maskedDocument, maskedName } from './pdf.js';
import { receiptPdf } from './receipt.pdf.js';

const BARCODE = '00193373700000001000500940144816060680935031';

describe('the sheet of a boleto', () => {
  const sheet = {
    barcode: BARCODE,
    line: '00190500954014481606906809350314337370000000100',
    amount: 123_456,
    createdAt: new Date('2026-11-21T12:00:00.000Z'),
    dueAt: new Date('2026-11-25T02:59:59.999Z'),
    number: '00000000042',
    merchant: 'Padaria São João',
    payer: { name: 'Maria da Silva', document: '52998224725' },
  };

  it('is one page with line, due day, amount and parties', async () => {
    const pdf = await boletoPdf(sheet);
    expect(pdf.subarray(0, 5).toString()).toBe('%PDF-');
    expect(pagesOf(pdf)).toBe(1);
    expect(textsOf(pdf)).toEqual(
      expect.arrayContaining([
        '00190.50095 40144.816069 06809.350314 3 37370000000100',
        '24/11/2026',
        'R$ 1.234,56',
        'Padaria São João',
        'Maria da Silva',
        '***.982.247-**',
        '00000000042',
      ]),
    );
    expect(textsOf(pdf).join()).not.toContain('52998224725');
  });

  it('has bars that read as the 44 digits', async () => {
    const bars = rectanglesOf(await boletoPdf(sheet));
    const patterns = ['nnwwn', 'wnnnw', 'nwnnw', 'wwnnn', 'nnwnw', 'wnwnn', 'nwwnn', 'nnnww', 'wnnwn', 'nwnwn'];
    const narrow = Math.min(...bars.map(([, , width = 0]) => width));
    const kind = (width: number): string => (width > 2 * narrow ? 'w' : 'n');
    // Each bar and the space to the next bar, without the start (2 bars) and the stop (2 bars).
    const elements = bars.flatMap(([x = 0, , width = 0], index) => {
      const next = bars[index + 1]?.[0];
      return [kind(width), ...(next === undefined ? [] : [kind(next - x - width)])];
    });
    const body = elements.slice(4, -3);
    expect(body).toHaveLength(220);
    const digits = Array.from({ length: 22 }, (_, pair) => body.slice(pair * 10, pair * 10 + 10)).flatMap((pair) =>
      [0, 1].map((offset) => patterns.indexOf(pair.filter((_, index) => index % 2 === offset).join(''))),
    );
    expect(digits.join('')).toBe(BARCODE);
    const [first, last] = [bars[0] ?? [], bars.at(-1) ?? []];
    expect((last[0] ?? 0) + (last[2] ?? 0) - (first[0] ?? 0)).toBeCloseTo(292, 0);
  });

  it('has bars that start and stop as the symbology requires', () => {
    expect(interleaved2of5('00')).toBe('nnnnnnnnwwwwnnwnn');
  });

  it('keeps names that are too long or in other scripts on one line', async () => {
    const long = { ...sheet, merchant: 'Comércio '.repeat(60), payer: { name: '漢字 🧉 Müller', document: null } };
    const pdf = await boletoPdf(long);
    expect(pagesOf(pdf)).toBe(1);
    expect(textsOf(pdf).filter((text) => text.startsWith('Comércio Comércio') && text.endsWith('...'))).toHaveLength(1);
    expect(textsOf(pdf)).toContain('Não informado');
  });
});

describe('a receipt', () => {
  const receipt = {
    method: 'PIX',
    reference: 'E00000000202611211230abcDEF12345',
    txid: 'abcdefghijklmnopqrstuvwxyz',
    amount: 1990,
    currency: 'BRL',
    settledAt: new Date('2026-11-22T02:30:00.000Z'),
    merchant: 'Padaria São João',
    payer: { name: 'Maria da Silva', document: '52998224725' },
  } as const;

  it('shows amount, time in São Paulo, end-to-end id and masked parties', async () => {
    const pdf = await receiptPdf(receipt);
    expect(pagesOf(pdf)).toBe(1);
    const texts = textsOf(pdf);
    expect(texts).toEqual(
      expect.arrayContaining([
        'R$ 19,90',
        '21/11/2026 às 23:30:00 (horário de Brasília)',
        'Pix',
        'Padaria São João',
        'Maria d. S.',
        '***.982.247-**',
        'ID da transação (end-to-end)',
        'E00000000202611211230abcDEF12345',
      ]),
    );
    expect(texts.join()).not.toMatch(/Silva|52998224725/);
  });

  it('names the other methods and marks unknown values', async () => {
    const texts = textsOf(
      await receiptPdf({ ...receipt, method: 'CREDIT_CARD', currency: 'USD', payer: { name: null, document: null } }),
    );
    expect(texts).toEqual(
      expect.arrayContaining(['Cartão de crédito', 'USD 19,90', 'ID do pagamento', 'Não informado']),
    );
  });
});

it.each([
  ['Maria da Silva', 'Maria d. S.'],
  [' Maria ', 'Maria'],
  ['', 'Não informado'],
  [null, 'Não informado'],
])('the name %j is masked as %s', (name, masked) => {
  expect(maskedName(name)).toBe(masked);
});

it.each([
  ['52998224725', '***.982.247-**'],
  ['PT123456789', '***'],
  [null, 'Não informado'],
])('the document %j is masked as %s', (document, masked) => {
  expect(maskedDocument(document)).toBe(masked);
});
