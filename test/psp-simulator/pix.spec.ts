import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DEFAULT_MERCHANT } from '../../tools/psp-simulator/simulator.js';
import { newTxid } from '../../src/brazil/index.js';
import { PspUnderTest } from '../support/psp-client.js';
import { waitFor } from '../support/wait.js';

const KEYS = [DEFAULT_MERCHANT.pixKeys[0] ?? '', 'loja@example.com'] as const;
const COB = { calendario: { expiracao: 3_600 }, valor: { original: '110.00' }, chave: KEYS[0] };

let psp: PspUnderTest;
/** Milliseconds that the simulator's clock is ahead */
let aheadMs = 0;

beforeAll(async () => {
  psp = await PspUnderTest.start({
    merchants: [{ ...DEFAULT_MERCHANT, pixKeys: [...KEYS] }],
    now: () => new Date(Date.now() + aheadMs),
  });
});

afterAll(() => psp.stop());

async function paidPix(amount = 11_000): Promise<string> {
  const txid = newTxid();
  await psp.call('PUT', `/cob/${txid}`, COB);
  return psp.simulator.pay({ txid, amount }).endToEndId;
}

describe('received Pix', () => {
  it('pay a charge, and name its payer', async () => {
    const txid = newTxid();
    await psp.call('PUT', `/cob/${txid}`, COB);
    const payer = { document: '11.222.333/0001-81', name: 'Empresa Pagadora' };
    const pix = psp.simulator.pay({ txid, payer, message: 'obrigado' });
    expect(pix).toMatchObject({ txid, valor: '110.00', chave: KEYS[0], infoPagador: 'obrigado' });
    expect(pix.pagador).toEqual({ cnpj: '11222333000181', nome: 'Empresa Pagadora' });
    expect((await psp.call('GET', `/pix/${pix.endToEndId}`)).body).toEqual(pix);
    expect((await psp.call('GET', `/cob/${txid}`)).body).toMatchObject({ status: 'CONCLUIDA', pix: [pix] });
  });

  it('can have any amount, another key or an unknown payer, and can pay late by force', async () => {
    const txid = newTxid();
    await psp.call('PUT', `/cob/${txid}`, COB);
    psp.simulator.expire({ txid });
    expect((await psp.call('GET', `/cob/${txid}`)).body).toMatchObject({ status: 'ATIVA' });
    expect(() => psp.simulator.pay({ txid })).toThrow(/expired.*force/);
    const late = psp.simulator.pay({ txid, force: true, payer: null, amount: 1, key: KEYS[1] });
    expect(late).toMatchObject({ txid, valor: '0.01', chave: KEYS[1] });
    expect(late.pagador).toBeUndefined();
    expect(() => psp.simulator.pay({ txid })).toThrow(/CONCLUIDA/);
    psp.simulator.pay({ txid, force: true });
    expect((await psp.call('GET', `/cob/${txid}`)).body['pix']).toHaveLength(2);
  });

  it.each([
    ['as it was made', 60, 60, 61],
    ['as it was revised: from its creation too', 3_600, 60, 31],
  ])('cannot pay a charge past its expiry %s', async (_, first, last, later) => {
    const txid = newTxid();
    const put = (expiracao: number): Promise<unknown> =>
      psp.call('PUT', `/cob/${txid}`, { ...COB, calendario: { expiracao } });
    await put(first);
    if (last !== first) {
      aheadMs += 30_000;
      await put(last);
    }
    aheadMs += later * 1_000;
    expect(() => psp.simulator.pay({ txid })).toThrow(/expired/);
  });

  it('a charge can be removed by the bank', async () => {
    const txid = newTxid();
    await psp.call('PUT', `/cob/${txid}`, COB);
    expect(psp.simulator.expire({ txid, removed: true })).toMatchObject({ status: 'REMOVIDA_PELO_PSP', revisao: 1 });
  });

  it('may have no txid or an unknown one', async () => {
    expect(psp.simulator.pay({ key: KEYS[0], amount: 500 })).not.toHaveProperty('txid');
    expect(psp.simulator.pay({ key: KEYS[0], amount: 500, txid: 'abc' })).toMatchObject({ txid: 'abc' });
    expect(() => psp.simulator.pay({ txid: newTxid() })).toThrow(/key and amount/);
    expect(() => psp.simulator.pay({ key: 'nobody@example.com', amount: 500 })).toThrow(/no merchant/);
    expect(() => psp.simulator.pay({ amount: 500 })).toThrow(/txid or key/);
  });

  it('are booked once for an end-to-end id', () => {
    const endToEndId = 'E99999008202611201200abcdefghijk';
    const pix = psp.simulator.pay({ key: KEYS[0], amount: 500, endToEndId });
    expect(psp.simulator.pay({ key: KEYS[0], amount: 900, endToEndId })).toEqual(pix);
    expect(psp.simulator.state().pix.filter((one) => one.endToEndId === endToEndId)).toHaveLength(1);
  });

  it('are listed by window, page and filter, oldest first', async () => {
    const at = (minute: number): string => `2025-03-01T12:0${String(minute)}:00.000Z`;
    const ids = [3, 1, 0, 2].map((minute) => {
      const txid = minute % 2 === 0 ? { txid: `list${String(minute).padStart(26, '0')}` } : {};
      const { endToEndId } = psp.simulator.pay({ key: KEYS[0], amount: 100, at: at(minute), ...txid });
      return [minute, endToEndId] as const;
    });
    const byMinute = new Map(ids);
    psp.simulator.med({ endToEndId: byMinute.get(1) ?? '', amount: 50 });
    const list = async (query: Record<string, string>): Promise<{ minutes: string; pages: unknown }> => {
      const search = new URLSearchParams({ inicio: at(0), fim: at(3), ...query }).toString();
      const { status, body } = await psp.call('GET', `/pix?${search}`);
      expect(status).toBe(200);
      const found = body['pix'] as { horario: string }[];
      const { paginacao } = body['parametros'] as { paginacao: { quantidadeDePaginas: number } };
      return {
        minutes: found.map(({ horario }) => horario.slice(15, 16)).join(),
        pages: paginacao.quantidadeDePaginas,
      };
    };
    expect(await list({})).toEqual({ minutes: '0,1,2,3', pages: 1 });
    expect(await list({ inicio: at(1), fim: at(2) })).toEqual({ minutes: '1,2', pages: 1 });
    expect(await list({ inicio: '2025-03-01T09:01:00-03:00' })).toEqual({ minutes: '1,2,3', pages: 1 });
    expect(await list({ txid: `list${'2'.padStart(26, '0')}` })).toEqual({ minutes: '2', pages: 1 });
    expect(await list({ txIdPresente: 'true' })).toEqual({ minutes: '0,2', pages: 1 });
    expect(await list({ txIdPresente: 'false' })).toEqual({ minutes: '1,3', pages: 1 });
    expect(await list({ devolucaoPresente: 'true' })).toEqual({ minutes: '1', pages: 1 });
    expect(await list({ cpf: '12345678909' })).toEqual({ minutes: '0,1,2,3', pages: 1 });
    expect(await list({ cnpj: '11222333000181' })).toEqual({ minutes: '', pages: 1 });
    const page = (number: number) => ({ 'paginacao.itensPorPagina': '3', 'paginacao.paginaAtual': String(number) });
    expect(await list(page(0))).toEqual({ minutes: '0,1,2', pages: 2 });
    expect(await list(page(1))).toEqual({ minutes: '3', pages: 2 });
    expect(await list(page(2))).toEqual({ minutes: '', pages: 2 });
  });

  it('get an error that names every wrong parameter of a list', async () => {
    const query = 'inicio=2025-03-01&txid=a-b&txIdPresente=yes&paginacao.itensPorPagina=1001';
    const { status, body } = await psp.call('GET', `/pix?${query}`);
    expect(status).toBe(400);
    expect(body['type']).toBe('https://pix.bcb.gov.br/api/v2/error/PixConsultaInvalida');
    const named = (body['violacoes'] as { propriedade: string }[]).map(({ propriedade }) => propriedade);
    expect(named).toEqual(['inicio', 'fim', 'txid', 'txIdPresente', 'paginacao.itensPorPagina']);
    const backwards = 'inicio=2025-03-02T00:00:00Z&fim=2025-03-01T00:00:00Z';
    expect((await psp.call('GET', `/pix?${backwards}`)).status).toBe(400);
  });
});

describe('devolutions', () => {
  const wanted = (valor: string): object => ({ valor, descricao: 'Artigo devolvido' });

  it('are in progress at first, and completed after the delay', async () => {
    psp.simulator.change({ returnDelayMs: 30 });
    const path = `/pix/${await paidPix()}/devolucao/abc123`;
    const asked = await psp.call('PUT', path, wanted('10.00'));
    expect(asked).toMatchObject({
      status: 201,
      body: { id: 'abc123', valor: '10.00', natureza: 'ORIGINAL', status: 'EM_PROCESSAMENTO' },
    });
    const done = await waitFor('the devolution', async () => {
      const { body } = await psp.call('GET', path);
      return body['status'] === 'DEVOLVIDO' && body;
    });
    expect(done).toMatchObject({ rtrId: asked.body['rtrId'], horario: { liquidacao: expect.any(String) } });
    expect((await psp.call('PUT', path, wanted('10.00'))).body).toEqual(done);
  });

  it('can be left to be completed or failed by hand', async () => {
    psp.simulator.change({ returnDelayMs: null });
    const endToEndId = await paidPix();
    await psp.call('PUT', `/pix/${endToEndId}/devolucao/a`, wanted('60.00'));
    expect((await psp.call('PUT', `/pix/${endToEndId}/devolucao/b`, wanted('50.01'))).status).toBe(400);
    psp.simulator.settleReturn({ endToEndId, id: 'a', status: 'NAO_REALIZADO', reason: 'Conta encerrada' });
    expect((await psp.call('GET', `/pix/${endToEndId}/devolucao/a`)).body).toMatchObject({
      status: 'NAO_REALIZADO',
      motivo: 'Conta encerrada',
    });
    expect((await psp.call('PUT', `/pix/${endToEndId}/devolucao/b`, wanted('110.00'))).status).toBe(201);
    expect(psp.simulator.settleReturn({ endToEndId, id: 'b' })).toMatchObject({ status: 'DEVOLVIDO' });
    expect(psp.simulator.settleReturn({ endToEndId, id: 'b' })).toMatchObject({ status: 'DEVOLVIDO' });
    expect(() => psp.simulator.settleReturn({ endToEndId, id: 'b', status: 'NAO_REALIZADO' })).toThrow(/for good/);
    expect((await psp.call('GET', `/pix/${endToEndId}`)).body['devolucoes']).toHaveLength(2);
  });

  it('can be configured to fail', async () => {
    psp.simulator.change({ returnDelayMs: 0, returnOutcome: 'NAO_REALIZADO' });
    const path = `/pix/${await paidPix()}/devolucao/a`;
    await psp.call('PUT', path, wanted('10.00'));
    await waitFor('the failure', async () => (await psp.call('GET', path)).body['status'] === 'NAO_REALIZADO');
    psp.simulator.change({ returnOutcome: 'DEVOLVIDO' });
  });

  it('exist once per id: a repetition changes nothing, another amount is refused', async () => {
    psp.simulator.change({ returnDelayMs: null });
    const path = `/pix/${await paidPix()}/devolucao/${'x'.repeat(35)}`;
    const asked = await psp.call('PUT', path, wanted('10.00'));
    expect((await psp.call('PUT', path, wanted('10.00'))).body).toEqual(asked.body);
    const another = await psp.call('PUT', path, wanted('11.00'));
    expect(another).toMatchObject({ status: 400, body: { violacoes: [{ propriedade: 'id' }] } });
    expect(another.body['type']).toBe('https://pix.bcb.gov.br/api/v2/error/PixDevolucaoInvalida');
  });

  it('are refused for more than is left, a wrong body, an old Pix or an unknown Pix', async () => {
    const endToEndId = await paidPix();
    const put = async (path: string, body: object) => (await psp.call('PUT', `/pix/${path}`, body)).status;
    expect(await put(`${endToEndId}/devolucao/a`, wanted('110.01'))).toBe(400);
    expect(await put(`${endToEndId}/devolucao/a`, wanted('0.00'))).toBe(400);
    expect(await put(`${endToEndId}/devolucao/a`, { valor: 10 })).toBe(400);
    expect(await put(`${endToEndId}/devolucao/a`, { valor: '1.00', natureza: 'MED_FRAUDE' })).toBe(400);
    expect(await put(`${endToEndId}/devolucao/a-b`, wanted('1.00'))).toBe(400);
    expect(await put(`${endToEndId}/devolucao/${'x'.repeat(36)}`, wanted('1.00'))).toBe(400);
    const old = psp.simulator.pay({ key: KEYS[0], amount: 100, at: '2024-01-01T00:00:00Z' }).endToEndId;
    expect(await put(`${old}/devolucao/a`, wanted('1.00'))).toBe(400);
    expect(await put(`E${'0'.repeat(31)}/devolucao/a`, wanted('1.00'))).toBe(404);
    expect((await psp.call('GET', `/pix/${endToEndId}/devolucao/a`)).body['type']).toBe(
      'https://pix.bcb.gov.br/api/v2/error/PixDevolucaoNaoEncontrada',
    );
  });

  it('by the MED appear without a request and take the rest', async () => {
    const endToEndId = await paidPix();
    await psp.call('PUT', `/pix/${endToEndId}/devolucao/a`, wanted('10.00'));
    const opened = psp.simulator.med({ endToEndId, nature: 'MED_OPERACIONAL' });
    expect(opened).toMatchObject({ natureza: 'MED_OPERACIONAL', valor: '100.00', status: 'EM_PROCESSAMENTO' });
    expect(() => psp.simulator.med({ endToEndId })).toThrow(/only 0 cents/);
    psp.simulator.settleReturn({ endToEndId, id: opened.id, status: 'NAO_REALIZADO' });
    expect(psp.simulator.med({ endToEndId, amount: 100, status: 'DEVOLVIDO' })).toMatchObject({
      natureza: 'MED_FRAUDE',
      valor: '1.00',
      status: 'DEVOLVIDO',
    });
    expect((await psp.call('GET', `/pix/${endToEndId}`)).body['devolucoes']).toHaveLength(3);
  });
});
