import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isReadable, readCallbackBody } from './callbacks.js';
import { findDesk } from './desks/index.js';
import { aPix, aReturn, E2E } from './psp.fixture.js';

/** The txid of `aPix`. */
const TXID = '7978c0c97ea847e78e8849634473c1f1';
const OTHER = 'E12345678202009091221zzzzzzzzzzz';

describe('the body of a callback', () => {
  const isRead = (text: string): boolean => isReadable(Buffer.from(text));

  it('is readable with a thousand Pix and any text in their fields', () => {
    const pix = Array.from({ length: 1_000 }, () =>
      aPix({ infoPagador: `${'[{,"'.repeat(30)}\\`, devolucoes: [aReturn()] }),
    );
    expect(isRead(JSON.stringify({ pix }))).toBe(true);
  });

  it.each([
    ['deep lists', '['.repeat(500_000)],
    ['deep objects', '{"a":'.repeat(100_000)],
    ['many values', `[${'{},'.repeat(340_000)}0]`],
  ])('is refused as unreadable with %s', (_, text) => expect(isRead(text)).toBe(false));
});

describe('readCallbackBody', () => {
  it.each([
    ['an object', (pix: unknown[]) => ({ pix })],
    ['a bare list', (pix: unknown[]) => pix],
  ])('reads the list of Pix from %s', (_, body) => {
    expect(readCallbackBody(body([aPix(), aPix({ endToEndId: OTHER, gnExtras: { x: 1 } })])).hints).toEqual([
      { kind: 'pix', reference: E2E, txid: TXID },
      { kind: 'pix', reference: OTHER, txid: TXID },
    ]);
  });

  it('distinguishes requested returns from returns that the bank took', () => {
    const devolucoes = [aReturn(), aReturn({ id: 'm1', natureza: 'MED_FRAUDE' }), aReturn({ natureza: 'ORIGINAL' })];
    expect(readCallbackBody({ pix: [aPix({ devolucoes })] }).hints).toEqual([
      { kind: 'pix', reference: E2E, txid: TXID },
      { kind: 'return', reference: `${E2E}/r1/EM_PROCESSAMENTO` },
      { kind: 'dispute', reference: `${E2E}/m1`, txid: TXID },
    ]);
  });

  it('skips and counts entries without an id, and names each object once', () => {
    const bad = [null, 7, {}, aPix({ endToEndId: '../../x' }), aPix({ devolucoes: [{ id: 'a/b', status: 'X' }] })];
    expect(readCallbackBody({ pix: [...bad, aPix(), aPix()] })).toEqual({
      hints: [{ kind: 'pix', reference: E2E, txid: TXID }],
      skipped: 5,
    });
  });

  it.each([undefined, null, '', 7, '../../x', 'a'.repeat(36)])('ignores an invalid txid: %j', (txid) => {
    expect(readCallbackBody({ pix: [aPix({ txid })] })).toEqual({
      hints: [{ kind: 'pix', reference: E2E }],
      skipped: 0,
    });
  });

  it('reads entries about payouts by the desk of the PSP, and no entry twice', () => {
    const sent = { ...aPix(), tipo: 'SOLICITACAO', status: 'REALIZADO', gnExtras: { idEnvio: 's1' } };
    const own = { tipo: 'SOLICITACAO', endToEndId: OTHER };
    const body = { pix: [sent, sent, own, aPix({ endToEndId: OTHER })] };
    expect(readCallbackBody(body, findDesk('efi'))).toEqual({
      hints: [
        { kind: 'payout', reference: 's1/REALIZADO' },
        { kind: 'pix', reference: OTHER, txid: TXID },
      ],
      skipped: 1,
    });
    expect(readCallbackBody({ pix: [sent] }).hints).toEqual([{ kind: 'pix', reference: E2E, txid: TXID }]);
  });

  it('reads a Pix whose entry has only an id', () => {
    expect(readCallbackBody([{ endToEndId: E2E }])).toEqual({ hints: [{ kind: 'pix', reference: E2E }], skipped: 0 });
  });

  it('finds no hints in the empty call with which a PSP tests the URL', () => {
    for (const body of [null, {}, '', { evento: 'teste_webhook' }, { pix: {} }, []]) {
      expect(readCallbackBody(body).hints).toEqual([]);
    }
  });

  it('reads a single Pix without a list around it, and counts other values', () => {
    expect(readCallbackBody({ pix: aPix() })).toEqual({
      hints: [{ kind: 'pix', reference: E2E, txid: TXID }],
      skipped: 0,
    });
    for (const pix of ['x', 7, true]) expect(readCallbackBody({ pix })).toEqual({ hints: [], skipped: 1 });
  });

  it.each(['', null, undefined, {}, [], 'x', 7, 'x'.repeat(10_000)])(
    'reads a Pix whose returns and other fields are %j',
    (value) => {
      const own = { devolucoes: value, horario: value, valor: value, chave: value, pagador: value };
      expect(readCallbackBody({ pix: [aPix(own)] })).toEqual({
        hints: [{ kind: 'pix', reference: E2E, txid: TXID }],
        skipped: 0,
      });
    },
  );

  it('reads the state of a return in any case of letters', () => {
    const devolucoes = [aReturn({ status: 'devolvido', natureza: '' }), aReturn({ id: 'm1', natureza: 'med_fraude' })];
    expect(readCallbackBody({ pix: [aPix({ devolucoes })] }).hints.slice(1)).toEqual([
      { kind: 'return', reference: `${E2E}/r1/DEVOLVIDO` },
      { kind: 'dispute', reference: `${E2E}/m1`, txid: TXID },
    ]);
  });

  it('reads at most a thousand entries of one body', () => {
    const pix = Array.from({ length: 1_500 }, (_, index) => aPix({ endToEndId: String(index).padStart(32, '0') }));
    const { hints, skipped } = readCallbackBody({ pix });
    expect([hints.length, skipped]).toEqual([1_000, 500]);
  });

  it('never throws, whatever the body is', () => {
    fc.assert(fc.property(fc.jsonValue(), (body) => readCallbackBody(body).hints.length >= 0));
    fc.assert(fc.property(fc.array(fc.jsonValue()), (pix) => readCallbackBody({ pix }).hints.length >= 0));
  });
});
