import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DEFAULT_MERCHANT } from '../../tools/psp-simulator/simulator.js';
import { newTxid } from '../../src/brazil/index.js';
import { type PspAnswer, PspUnderTest } from '../support/psp-client.js';

const KEY = DEFAULT_MERCHANT.pixKeys[0] ?? '';
const COB = { calendario: { expiracao: 3_600 }, valor: { original: '110.00' }, chave: KEY };

let psp: PspUnderTest;

beforeAll(async () => {
  psp = await PspUnderTest.start({ settings: { returnDelayMs: null } });
});

afterAll(() => psp.stop());

function post(action: string, body?: object | string): Promise<PspAnswer> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return psp.send('POST', `${psp.simulator.controlUrl}/${action}`, body === undefined ? {} : { body: text });
}

describe('the control endpoint', () => {
  it('offers the methods of the simulator', async () => {
    const txid = newTxid();
    await psp.call('PUT', `/cob/${txid}`, COB);
    const paid = await post('pay', { txid });
    expect(paid).toMatchObject({ status: 200, body: { txid, valor: '110.00' } });
    const { endToEndId } = paid.body;
    expect((await post('announce', { endToEndId, times: 2 })).body).toEqual({ done: true });
    const opened = await post('med', { endToEndId });
    expect(opened.body).toMatchObject({ natureza: 'MED_FRAUDE', status: 'EM_PROCESSAMENTO' });
    const settled = await post('settleReturn', { endToEndId, id: opened.body['id'] });
    expect(settled.body).toMatchObject({ status: 'DEVOLVIDO' });
    const state = await psp.send('GET', `${psp.simulator.controlUrl}/state`);
    expect(state.body).toEqual(JSON.parse(JSON.stringify(psp.simulator.state())));
    expect(state.body).toMatchObject({
      cobs: [{ txid, clientId: DEFAULT_MERCHANT.clientId, status: 'CONCLUIDA' }],
      pix: [{ endToEndId, devolucoes: [{ status: 'DEVOLVIDO' }] }],
    });
  });

  it('expires charges and tokens, sets faults and settings, and adds merchants', async () => {
    const txid = newTxid();
    await psp.call('PUT', `/cob/${txid}`, COB);
    expect((await post('expire', { txid, removed: true })).body).toMatchObject({ status: 'REMOVIDA_PELO_PSP' });
    expect((await post('expireTokens')).status).toBe(200);
    expect((await psp.call('GET', `/cob/${txid}`)).status).toBe(401);
    psp.forgetToken();
    const rule = { operation: 'cob.get', fault: { kind: 'unavailable' }, times: 5 };
    expect((await post('addFault', rule)).body).toMatchObject({ rules: [{ ...rule, left: 5 }] });
    expect((await psp.call('GET', `/cob/${txid}`)).status).toBe(503);
    expect((await post('clearFaults')).status).toBe(200);
    expect((await psp.call('GET', `/cob/${txid}`)).status).toBe(200);
    expect((await post('change', { callbacks: { batch: 2 } })).body).toMatchObject({
      returnDelayMs: null,
      callbacks: { batch: 2, suffix: true },
    });
    const merchant = { clientId: 'second', clientSecret: 'its secret', pixKeys: ['second@example.com'] };
    expect((await post('addMerchant', merchant)).status).toBe(200);
    expect((await psp.as(merchant).token()).status).toBe(200);
    expect((await post('addMerchant', merchant)).status).toBe(409);
    expect((await post('addMerchant', { ...merchant, clientId: 'third' })).status).toBe(409);
  });

  it.each<[string, object | string, number, RegExp]>([
    ['pay', { txid: 'unknown' }, 404, /key and amount/],
    ['pay', { txid: 'unknown', value: 1 }, 400, /value/],
    ['pay', { key: KEY, amount: 1.5 }, 400, /amount/],
    ['pay', { key: KEY, amount: 1, payer: { document: '123', name: 'M' } }, 400, /CPF or CNPJ/],
    ['med', { endToEndId: `E${'0'.repeat(31)}` }, 404, /end-to-end id/],
    ['addFault', { operation: 'cob.put', fault: { kind: 'lose' } }, 400, /kind|Invalid/],
    ['change', { latency: 3 }, 400, /latency/],
    ['pay', 'no JSON', 400, /JSON/],
    ['unknown', {}, 404, /POST \/pay/],
  ])('refuses %s %j with the reason', async (action, body, status, error) => {
    const answer = await post(action, body);
    expect(answer.status).toBe(status);
    expect(answer.body['error']).toMatch(error);
  });
});
