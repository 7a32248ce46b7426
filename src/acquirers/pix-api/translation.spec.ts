import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { encodeBrCode, parseBrCode } from '../../brazil/index.js';
import { cobAnswer, pixAnswer, returnAnswer } from './messages.js';
import { namesKnownReturn, readProblem, returnFailure } from './problem.js';
import { aCob, aPix, aProblem, aReturn, E2E, PIX_KEY, TXID } from './psp.fixture.js';
import {
  brCodeOf,
  chargeEnd,
  cobRequest,
  disputeOf,
  isSameKey,
  publicCob,
  receivedPix,
  statementReturn,
  toCents,
  toDecimal,
  unreadableReturn,
} from './translation.js';

const cob = (own: Record<string, unknown> = {}) => cobAnswer.parse(aCob(own));
const NOW = new Date('2026-09-09T20:30:00Z');
const MERCHANT = { name: 'Loja', city: 'SAO PAULO' };

describe('amounts', () => {
  it('are converted exactly in both directions', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 999_999_999_999 }), (cents) => toCents(toDecimal(cents)) === cents),
    );
    expect([toDecimal(1), toDecimal(11_000), toDecimal(999_999_999_999)]).toEqual(['0.01', '110.00', '9999999999.99']);
    // Why no floats: 1.15 * 100 is not 115.
    expect(['1.15', '4.35', '0.07'].map(toCents)).toEqual([115, 435, 7]);
  });

  it.each([
    ['110', 11_000],
    ['110.0', 11_000],
    ['777.7', 77_770],
    ['0.5', 50],
    ['0', 0],
  ])('%j is exactly %i cents', (text, cents) => {
    expect(toCents(text)).toBe(cents);
  });

  it.each([
    ...['110,00', '1,234.5', '1.000', '777.701', '1.234.56', '777.', '.7'],
    ...['1e3', '1e2.00', '-1.00', '+1.00', ' 1.00', '1.00 ', '0x10', '١.00', '12345678901.00', ''],
  ])('%j is not an amount', (text) => {
    expect(toCents(text)).toBeNull();
  });

  it('throw for a fraction of a cent', () => {
    expect(() => toDecimal(1.5)).toThrow(RangeError);
  });
});

describe('cobRequest', () => {
  const request = {
    txid: TXID,
    amount: 11_000,
    expiresAt: new Date('2026-09-09T21:30:00Z'),
    merchant: MERCHANT,
    payer: { name: null, document: null },
  };

  it('has all required fields of the standard and no more', () => {
    expect(cobRequest(request, PIX_KEY, NOW)).toEqual({
      calendario: { expiracao: 3600 },
      valor: { original: '110.00' },
      chave: PIX_KEY,
    });
  });

  it.each([
    ['20:30:00.001', 3599],
    ['21:29:00.000', 60],
    ['21:29:58.999', 1],
    ['21:29:59.999', 1],
    ['21:30:00.000', undefined],
    ['22:00:00.000', undefined],
  ])('at %s leaves %s seconds for paying', (time, seconds) => {
    expect(cobRequest(request, PIX_KEY, new Date(`2026-09-09T${time}Z`))?.calendario.expiracao).toBe(seconds);
  });

  it('names the debtor only with both a name and a valid document', () => {
    const devedor = (name: string | null, document: string | null): unknown =>
      cobRequest({ ...request, payer: { name, document } }, PIX_KEY, NOW)?.devedor;
    expect(devedor('Maria', '529.982.247-25')).toEqual({ nome: 'Maria', cpf: '52998224725' });
    expect(devedor('Loja', '11222333000181')).toEqual({ nome: 'Loja', cnpj: '11222333000181' });
    expect([
      devedor(null, '52998224725'),
      devedor('Maria', null),
      devedor('Maria', '111'),
      devedor(' ', '52998224725'),
    ]).toEqual(Array(4).fill(undefined));
  });
});

describe('brCodeOf', () => {
  const code = (amount?: number): string =>
    encodeBrCode({
      kind: 'dynamic',
      location: 'pix.example.com/qr/1',
      merchantName: 'L',
      merchantCity: 'C',
      ...(amount === undefined ? {} : { amount }),
    });

  it('is the PSP’s own code if its amount is ours or missing', () => {
    expect(brCodeOf(cob({ pixCopiaECola: code(11_000) }), 11_000, MERCHANT)).toBe(code(11_000));
    expect(brCodeOf(cob({ pixCopiaECola: code() }), 11_000, MERCHANT)).toBe(code());
    expect(brCodeOf(cob({ pixCopiaECola: code(1) }), 11_000, MERCHANT)).toBeNull();
  });

  it.each([
    {},
    { location: null },
    { pixCopiaECola: 'rubbish' },
    { location: null, loc: { location: 'https://pix.example.com/qr/9' } },
  ])('is built from the location when the answer has %j', (own) => {
    const text = brCodeOf(cob(own), 11_000, MERCHANT);
    expect(parseBrCode(text ?? '')).toMatchObject({ kind: 'dynamic', merchantName: 'Loja' });
  });

  it('is null without a valid code or location', () => {
    expect(brCodeOf(cob({ location: null, loc: null }), 11_000, MERCHANT)).toBeNull();
    expect(brCodeOf(cob({ location: 'not a location', loc: null }), 11_000, MERCHANT)).toBeNull();
  });
});

describe('chargeEnd', () => {
  it.each([
    ['ATIVA', NOW, null],
    ['ATIVA', new Date('2026-09-09T21:15:00.358Z'), 'expired'],
    ['CONCLUIDA', NOW, null],
    ['REMOVIDA_PELO_USUARIO_RECEBEDOR', NOW, 'removed'],
    ['REMOVIDA_PELO_PSP', NOW, 'refused'],
    ['SOMETHING_NEW', NOW, null],
  ])('with the status %s at %s is %s', (status, now, end) => {
    expect(chargeEnd(cob({ status }), now)?.end ?? null).toBe(end);
  });

  it('is null while another reading of the creation time leaves time for paying', () => {
    const at = (criacao: string, now: string) =>
      chargeEnd(cob({ calendario: { criacao, expiracao: 3600 } }), new Date(`2026-09-09T${now}Z`))?.end ?? null;
    // Created at 20:15 UTC, written as 17:15 of São Paulo and marked as UTC.
    expect([at('2026-09-09T17:15:00Z', '20:30:00'), at('2026-09-09T17:15:00Z', '21:16:00')]).toEqual([null, 'expired']);
    expect([at('2026-09-09T17:15:00', '20:30:00'), at('2026-09-09T17:15:00', '21:16:00')]).toEqual([null, 'expired']);
    // An explicit offset has only one reading.
    expect(at('2026-09-09T17:15:00+00:30', '20:30:00')).toBe('expired');
  });

  it('is null if the calendar of the charge cannot be read', () => {
    expect(chargeEnd(cob({ calendario: 'x' }), new Date('2027-01-01T00:00:00Z'))).toBeNull();
  });

  it('is expired when the calendar says so, but not once a payment arrived', () => {
    const late = new Date('2026-09-09T22:00:00Z');
    expect(chargeEnd(cob(), late)?.at).toEqual(new Date('2026-09-09T21:15:00.358Z'));
    expect(chargeEnd(cob({ pix: [aPix()] }), late)).toBeNull();
    expect(chargeEnd(cob({ calendario: { criacao: '2026-09-09T20:15:00Z', expiracao: '60' } }), late)?.end).toBe(
      'expired',
    );
  });
});

describe('receivedPix', () => {
  const read = (own: Record<string, unknown>) => receivedPix(pixAnswer.parse(aPix(own)), []);

  it('takes the fee from the schedule of the day of settlement', () => {
    const fee = { operation: 'PIX', bps: 100, fixed: 0, minimum: 0, maximum: null } as const;
    const schedules = [
      { ...fee, validFrom: '2020-09-01' },
      { ...fee, bps: 200, validFrom: '2020-09-11' },
    ];
    const at = (horario: string) => receivedPix(pixAnswer.parse(aPix({ horario })), schedules)?.fee;
    expect(at('2020-09-11T02:59:59.999Z')).toBe(110);
    expect(at('2020-09-11T03:00:00.000Z')).toBe(220);
  });

  it('carries the payer only if the PSP reports a valid document', () => {
    expect(read({})).toEqual({
      endToEndId: E2E,
      txid: TXID,
      amount: 11_000,
      settledAt: new Date('2026-09-10T13:03:33.902Z'),
      fee: 0,
      payerDocument: null,
    });
    expect(read({ pagador: { nome: 'M', cpf: '52998224725' } })?.payerDocument).toBe('52998224725');
    expect(read({ pagador: { nome: 'M', cnpj: '11222333000181' } })?.payerDocument).toBe('11222333000181');
    expect(read({ pagador: { cpf: '***.982.247-**' } })?.payerDocument).toBeNull();
    expect(read({ txid: undefined, gnExtras: { tarifa: '1.19' } })).toMatchObject({ txid: null, fee: 0 });
  });

  it('is null without an amount, an id, or any time', () => {
    const timeless = { endToEndId: 'x'.repeat(32), horario: 'yesterday' };
    expect([
      read({ valor: '110,0' }),
      read({ valor: '0.00' }),
      read({ endToEndId: 'E1/../x' }),
      read(timeless),
    ]).toEqual([null, null, null, null]);
  });
});

describe('returns', () => {
  const pix = pixAnswer.parse(aPix());
  const devolucoes = [aReturn(), aReturn({ id: 'm1', natureza: 'MED_FRAUDE' })].map((each) => returnAnswer.parse(each));

  it('distinguishes returns of the account from returns of the bank', () => {
    expect(devolucoes.map((each) => statementReturn(E2E, each))).toEqual([
      {
        returnId: 'r1',
        amount: 789,
        state: 'in_progress',
        cause: 'requested',
        hint: { kind: 'return', reference: `${E2E}/r1/EM_PROCESSAMENTO` },
      },
      {
        returnId: 'm1',
        amount: 789,
        state: 'in_progress',
        cause: 'dispute',
        hint: { kind: 'dispute', reference: `${E2E}/m1` },
      },
    ]);
  });

  it.each([
    ['7d9f0335-8dcc-4054-9bf9-0dbd61d36906', 'read'],
    ['MED#2026.11/28', 'asked about'],
    [' ', 'asked about'],
    [undefined, 'asked about'],
    [7, 'asked about'],
  ])('a dispute whose id is %j is %s', (id, what) => {
    const entry = aReturn({ id, natureza: 'med_fraude' });
    const answer = returnAnswer.safeParse(entry).data;
    const read = answer ? statementReturn(E2E, answer) : null;
    const hint = read?.hint ?? unreadableReturn(E2E, entry).hint;
    expect([read ? 'read' : 'asked about', hint]).toEqual([
      what,
      { kind: 'dispute', reference: `${E2E}/${what === 'read' ? String(id) : ''}` },
    ]);
  });

  it('gives a dispute of the bank an end after its beginning', () => {
    const dispute = (own: Record<string, unknown>) => {
      return disputeOf(pix, returnAnswer.parse(aReturn({ natureza: 'MED_OPERACIONAL', ...own })))!;
    };
    const open = dispute({});
    expect(open).toMatchObject({
      status: 'delivered',
      result: null,
      amount: 789,
      paymentReference: E2E,
      closedAt: null,
    });
    for (const [status, result] of [
      ['DEVOLVIDO', 'agreed'],
      ['NAO_REALIZADO', 'disagreed'],
    ]) {
      const ended = dispute({ status });
      expect(ended).toMatchObject({ reference: `${E2E}/r1`, status: 'closed', result });
      expect(ended.updatedAt.getTime()).toBeGreaterThan(open.updatedAt.getTime());
    }
    const horario = { solicitacao: '2026-09-11T15:25:59.411Z', liquidacao: '2026-09-12T00:00:00Z' };
    expect(dispute({ status: 'DEVOLVIDO', horario }).closedAt).toEqual(new Date(horario.liquidacao));
    expect(disputeOf(pix, devolucoes[0]!)).toBeNull();
  });
});

describe('problems', () => {
  it('are read in every form that PSPs use', () => {
    const own = { erros: [{ codigo: '4769515', mensagem: 'Não há informações', ocorrencia: 'CHOM1' }] };
    expect(readProblem('erros', 404, own)).toEqual({ code: '4769515', properties: [], words: 'Não há informações' });
    const efi = { nome: 'documento_bloqueado', mensagem: 'Inválido', erros: [{ chave: 'devedor.cpf', mensagem: 'x' }] };
    expect(readProblem('nome', 400, efi)).toMatchObject({ code: 'documento_bloqueado', properties: ['devedor.cpf'] });
    expect(readProblem('nome', 400, aProblem('CobOperacaoInvalida', 400)).code).toBe('CobOperacaoInvalida');
    expect(readProblem('problem', 401, { error: 'Unauthorized', message: 'Bad' }).code).toBe('Unauthorized');
    for (const rubbish of [null, 'x', [], 7, { type: {}, violacoes: 'x' }, { type: 'a b c' }]) {
      expect(readProblem('problem', 422, rubbish).code).toBe('http_422');
    }
  });

  it('name the reason why money did not go back', () => {
    expect(returnFailure('a soma das devoluções excederia o valor do pix')).toBe('amount_exceeded');
    expect(returnFailure('viola a janela de tempo permitida')).toBe('too_late');
    expect(returnFailure('Saldo insuficiente')).toBe('insufficient_funds');
    expect(returnFailure('')).toBe('refused');
    const known = readProblem('problem', 400, { detail: 'apresenta um id já utilizado por outra requisição' });
    expect(namesKnownReturn(known)).toBe(true);
  });
});

describe('publicCob', () => {
  it('shortens an oversized answer to the lengths of the standard', () => {
    let deep: unknown = 'x'.repeat(2_000_000);
    for (let level = 0; level < 200_000; level += 1) deep = [deep];
    const text = JSON.stringify(
      publicCob({ revisao: deep, status: 'y'.repeat(2_000_000), pix: Array(5_000).fill({}) }),
    );
    expect(text.length).toBeLessThan(2_000);
  });

  it('contains no name or document of a person', () => {
    const body = aCob({
      devedor: { cpf: '52998224725', nome: 'Maria' },
      pix: [
        aPix({
          pagador: { cpf: '52998224725', nome: 'Maria' },
          infoPagador: 'Maria',
          devolucoes: [aReturn({ motivo: 'Maria' })],
        }),
      ],
    });
    const text = JSON.stringify(publicCob(body));
    expect(text).not.toMatch(/Maria|52998224725|devedor|pagador/);
    expect(publicCob(body)).toMatchObject({
      status: 'ATIVA',
      valor: { original: '110.00' },
      pix: [{ endToEndId: E2E }],
    });
  });
});

describe('isSameKey', () => {
  it.each([
    ['loja@example.com', ['Loja@Example.com', ' loja@example.com '], ['loja@example.org', 'loja', '']],
    ['52998224725', ['529.982.247-25', '529982247-25'], ['11222333000181', '52998224724', '0', '']],
    ['01234567890', ['1234567890', '012.345.678-90'], ['234567890']],
    ['11222333000181', ['11.222.333/0001-81'], ['11222333000182', '52998224725']],
    ['12ABC34501DE35', ['12.abc.345/01de-35', '12abc34501de35'], ['12ABC34501DE36']],
    [
      '+5511987654321',
      ['5511987654321', '11987654321', '(11) 98765-4321', '+55 (11) 98765-4321', '55 11 98765-4321'],
      ['+5511987654322', '987654321', '+15511987654321', ''],
    ],
    [PIX_KEY, [PIX_KEY.toUpperCase(), PIX_KEY.replaceAll('-', ''), `{${PIX_KEY}}`], [PIX_KEY.replace('7', '8'), '']],
  ])('recognizes %s in any notation', (ours, same, others) => {
    for (const written of [ours, ...same]) expect([written, isSameKey(written, ours)]).toEqual([written, true]);
    for (const written of others) expect([written, isSameKey(written, ours)]).toEqual([written, false]);
  });

  it('takes digits for a phone only if they are not a tax id', () => {
    expect(isSameKey('52998224725', '+5552998224725')).toBe(false);
  });
});
