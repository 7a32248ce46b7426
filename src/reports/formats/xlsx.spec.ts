import { describe, expect, it } from '@jest/globals';
import { readXlsx } from 'hucre/xlsx';
import type { ReportLocale } from '../report.entity.js';
import type { Column, Common } from './columns.js';
import { writeXlsx, type XlsxInput } from './xlsx.js';

interface Row extends Common {
  readonly text: string;
  readonly amount: number;
}

const AT = new Date('2026-11-24T02:03:04.000Z');
const COLUMNS: Readonly<Record<string, Column<Row>>> = {
  customer_name: { kind: 'text', of: ({ text }) => text },
  customer_document: { kind: 'tax_id', of: () => '00012345678' },
  amount: { kind: 'money', of: ({ amount }) => amount },
  day: { kind: 'day', of: ({ createdAt }) => createdAt },
  created_at: { kind: 'time', of: ({ createdAt }) => createdAt },
};
const rowOf = (text: string, amount = 1990, currency = 'BRL'): Row => ({
  ...{ text, amount, currency },
  createdAt: AT,
  metadata: null,
});

async function sheetsOf(rows: Row[], locale: ReportLocale | null, others: Partial<XlsxInput<Row>> = {}) {
  const source = async function* (): AsyncGenerator<Row> {
    for (const row of rows) yield await Promise.resolve(row);
  };
  const chunks: Uint8Array[] = [];
  const input = {
    sheet: 'Vendas',
    names: Object.keys(COLUMNS),
    columns: Object.values(COLUMNS),
    rows: source(),
    locale,
  };
  for await (const chunk of writeXlsx({ ...input, ...others })) chunks.push(chunk);
  return (await readXlsx(Buffer.concat(chunks), { readStyles: true })).sheets;
}

describe('a spreadsheet', () => {
  it('has amounts as numbers, days and times as dates, and the rest as texts', async () => {
    const [sheet] = await sheetsOf([rowOf('João')], 'pt-BR');
    expect(sheet?.name).toBe('Vendas');
    expect(sheet?.rows).toEqual([
      ['Nome do cliente', 'CPF ou CNPJ do cliente', 'Valor', 'Dia', 'Criado em'],
      [...['João', '000.123.456-78', 19.9], ...[new Date('2026-11-23T00:00:00Z'), new Date('2026-11-23T23:03:04Z')]],
    ]);
  });

  it('has the names of the API and UTC without a locale', async () => {
    const [sheet] = await sheetsOf([rowOf('João')], null);
    expect(sheet?.rows).toEqual([
      Object.keys(COLUMNS),
      ['João', '00012345678', 19.9, new Date('2026-11-23T00:00:00Z'), AT],
    ]);
  });

  it.each(['=1+1', '+1', '-1', '@SUM(A1)', '0042', '\t=1', '_x0041_', 'a\r\nb', ' x ', '\u0001', '<&"]]>'])(
    'keeps the text %p as a text',
    async (text) => {
      const [sheet] = await sheetsOf([rowOf(text)], 'pt-BR');
      expect(sheet?.rows[1]?.[0]).toBe(text);
      expect(sheet?.cells?.get('1,0')?.formula).toBeUndefined();
    },
  );

  it('cuts a text that Excel would refuse, and drops signs that XML does not have', async () => {
    const [sheet] = await sheetsOf([rowOf('x'.repeat(40_000)), rowOf('a\uffffb\ud800c\u202ed')], null);
    expect(String(sheet?.rows[1]?.[0])).toHaveLength(32_767);
    expect(sheet?.rows[2]?.[0]).toBe('ab\ufffdcd');
  });

  it('repeats bold headings on every sheet, and formats an amount by its currency', async () => {
    const rows = [rowOf('a'), rowOf('b', -300), rowOf('c', 123_456_789, 'BTC'), rowOf('d', 500, 'USD')];
    const sheets = await sheetsOf(rows, 'pt-BR', { maxRows: 3 });
    expect(sheets.map(({ name, rows: [, ...texts] }) => [name, texts.map(([text]) => text)])).toEqual([
      ['Vendas', ['a', 'b']],
      ['Vendas_2', ['c', 'd']],
    ]);
    const amounts = sheets.flatMap(({ rows: [, ...texts] }) => texts.map(([, , amount]) => amount));
    expect(amounts).toEqual([19.9, -3, 1.23456789, 5]);
    for (const { cells, rows: all, freezePane } of sheets) {
      expect(all[0]?.[2]).toBe('Valor');
      expect(cells?.get('0,2')?.style?.font?.bold).toBe(true);
      expect(cells?.get('1,2')?.style?.font?.bold ?? false).toBe(false);
      expect(freezePane?.rows).toBe(1);
    }
    const formats = sheets.flatMap(({ cells }) => ['1,2', '2,2'].map((at) => cells?.get(at)?.style?.numFmt));
    expect(formats).toEqual([
      '"R$" #,##0.00;-"R$" #,##0.00',
      '"R$" #,##0.00;-"R$" #,##0.00',
      '"BTC" #,##0.00000000;-"BTC" #,##0.00000000',
      '"USD" #,##0.00;-"USD" #,##0.00',
    ]);
  });

  it('closes its source when its reader stops', async () => {
    let isClosed = false;
    const endless = async function* (): AsyncGenerator<Row> {
      try {
        for (;;) yield await Promise.resolve(rowOf(Math.random().toString()));
      } finally {
        isClosed = true;
      }
    };
    const input = { sheet: 'x', names: Object.keys(COLUMNS), columns: Object.values(COLUMNS), locale: null };
    for await (const chunk of writeXlsx({ ...input, rows: endless() })) if (chunk.length > 1000) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(isClosed).toBe(true);
  });
});
