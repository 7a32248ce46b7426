import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type SettingsChange } from '../../tools/psp-simulator/settings.js';
import { DEFAULT_MERCHANT } from '../../tools/psp-simulator/simulator.js';
import { encodeBrCode, newReturnId, newTxid } from '../../src/brazil/index.js';
import { type PspAnswer, PspUnderTest } from '../support/psp-client.js';
import { WebhookReceiver } from '../support/receiver.js';
import { waitFor } from '../support/wait.js';

const KEY = DEFAULT_MERCHANT.pixKeys[0] ?? '';
const RECEIVER = 'francisco@example.com';
const OWN_CNPJ = '11222333000181';
const OTHER = { clientId: 'other', clientSecret: 'another secret', pixKeys: ['loja@example.com'], cnpj: OWN_CNPJ };
const ACCOUNT = {
  nome: 'Francisco da Silva',
  cpf: '12345678909',
  codigoBanco: '09089356',
  agencia: '1',
  conta: '123453',
  tipoConta: 'cacc',
};

let psp: PspUnderTest;
let receiver: WebhookReceiver;

beforeEach(async () => {
  receiver = await WebhookReceiver.start();
  psp = await PspUnderTest.start({
    merchants: [{ ...DEFAULT_MERCHANT, openingBalance: 100_000 }, OTHER],
    settings: { sends: { delayMs: null }, callbacks: { retryDelaysMs: [] } },
  });
  await psp.call('PUT', `/webhook/${KEY}`, { webhookUrl: receiver.url });
});

afterEach(async () => {
  await psp.stop();
  await receiver.stop();
});

const change = (sends: SettingsChange['sends']): void => void psp.simulator.change({ sends });

function order(reais: string, favorecido: object = { chave: RECEIVER }): object {
  return { valor: reais, pagador: { chave: KEY, infoPagador: 'Repasse' }, favorecido };
}

function put(id: string, body: object | string = order('12.34'), path = `/v3/gn/pix/${id}`): Promise<PspAnswer> {
  return psp.callEfi('PUT', path, body);
}

const lookUp = (id: string): Promise<PspAnswer> => psp.callEfi('GET', `/v2/gn/pix/enviados/id-envio/${id}`);

/** The balance in cents. */
async function money(): Promise<number> {
  const { body } = await psp.callEfi('GET', '/v2/gn/saldo');
  return Math.round(Number(body['saldo']) * 100);
}

/** Entries of all callbacks that have arrived. */
const told = (): Record<string, unknown>[] =>
  receiver.received.flatMap(({ body }) => body['pix'] as Record<string, unknown>[]);

const arrived = (count: number): Promise<boolean> =>
  waitFor(`${String(count)} callbacks`, () => told().length >= count);

const becomes = (id: string, status: string): Promise<boolean> =>
  waitFor(`${id} ${status}`, () =>
    psp.simulator.state().sends.some((one) => one.idEnvio === id && one.status === status),
  );

describe('a send', () => {
  it.each([
    ['v3', '/v3/gn/pix/a1'],
    ['v2', '/v2/gn/pix/a1'],
  ])('by a key at %s is accepted, paid, and found by both of its ids', async (_, path) => {
    const accepted = await put('a1', order('12.34'), path);
    expect(accepted).toMatchObject({ status: 201, headers: { 'content-type': 'application/json' } });
    expect(accepted.body).toEqual({
      idEnvio: 'a1',
      e2eId: expect.stringMatching(/^E99999004\d{12}[a-zA-Z0-9]{11}$/),
      valor: '12.34',
      horario: { solicitacao: expect.stringMatching(/Z$/) },
      status: 'EM_PROCESSAMENTO',
    });
    const e2eId = String(accepted.body['e2eId']);
    expect((await lookUp('a1')).body).toMatchObject({ status: 'EM_PROCESSAMENTO', endToEndId: e2eId });
    expect((await lookUp('a1')).body['horario']).not.toHaveProperty('liquidacao');

    psp.simulator.settleSend({ idEnvio: 'a1' });
    const paid = await lookUp('a1');
    expect(paid).toMatchObject({ status: 200 });
    expect(paid.body).toEqual({
      endToEndId: e2eId,
      idEnvio: 'a1',
      valor: '12.34',
      chave: KEY,
      status: 'REALIZADO',
      infoPagador: 'Repasse',
      horario: { solicitacao: expect.any(String), liquidacao: expect.stringMatching(/\.000Z$/) },
      favorecido: { chave: RECEIVER },
    });
    expect((await psp.callEfi('GET', `/v2/gn/pix/enviados/${e2eId}`)).body).toEqual(paid.body);
  });

  it('to a bank account shows the account, with the masked number of a person', async () => {
    expect((await put('a1', order('1.00', { contaBanco: ACCOUNT }))).status).toBe(201);
    expect((await lookUp('a1')).body['favorecido']).toEqual({
      contaBanco: {
        nome: 'Francisco da Silva',
        cpf: '***.456.789-**',
        agencia: '1',
        conta: '123453',
        tipoConta: 'corrente',
      },
    });
  });

  it('is paid by itself after the delay', async () => {
    change({ delayMs: 20 });
    await put('a1');
    await becomes('a1', 'REALIZADO');
    await arrived(1);
  });

  it('names the owner of a registered key, and checks the tax id that was given with it', async () => {
    psp.simulator.addKey({ key: RECEIVER, owner: { document: '12345678909', name: 'Francisco da Silva' } });
    const wrong = await put('a1', order('1.00', { chave: RECEIVER, cpf: '52998224725' }));
    expect(wrong).toMatchObject({ status: 400, body: { nome: 'chave_nao_pertence_ao_documento' } });
    expect((await put('a1', order('1.00', { chave: RECEIVER, cpf: '12345678909' }))).status).toBe(201);
    expect((await lookUp('a1')).body['favorecido']).toEqual({
      chave: RECEIVER,
      identificacao: { nome: 'Francisco da Silva', cpf: '***.456.789-**' },
    });
  });

  it('pays once, however often it is requested and whatever the repetition says', async () => {
    await put('a1');
    const duplicate = { status: 409, body: { nome: 'id_envio_duplicado' } };
    expect(await put('a1')).toMatchObject(duplicate);
    expect(await put('a1', order('99.00'))).toMatchObject(duplicate);
    expect(await put('a1', order('12.34'), '/v2/gn/pix/a1')).toMatchObject(duplicate);
    expect(await put('a1', order('12.34'), '/v2/gn/pix/a1/mesma-titularidade')).toMatchObject(duplicate);
    psp.simulator.settleSend({ idEnvio: 'a1' });
    expect(await put('a1')).toMatchObject(duplicate);
    expect(psp.simulator.state().sends).toHaveLength(1);
    expect(await money()).toBe(100_000 - 1_234);
  });

  it('pays once when the same id comes many times at once', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => put('a1')));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(9).fill(409)]);
    expect(psp.simulator.state().sends).toHaveLength(1);
  });

  it.each<[string, string, object | string, number, string]>([
    ['an id with a dash', 'a-1', order('1.00'), 400, 'valor_invalido'],
    ['an id of 36 characters', 'a'.repeat(36), order('1.00'), 400, 'valor_invalido'],
    ['no JSON', 'a1', '{"valor":', 400, 'json_invalido'],
    ['nothing', 'a1', {}, 400, 'json_invalido'],
    ['a number as amount', 'a1', { ...order('1.00'), valor: 1 }, 400, 'json_invalido'],
    ['an unknown field', 'a1', { ...order('1.00'), descricao: 'x' }, 400, 'json_invalido'],
    ['an amount of 0', 'a1', order('0.00'), 400, 'valor_invalido'],
    ['a phone key without +55', 'a1', order('1.00', { chave: '11999998888' }), 400, 'valor_invalido'],
    ['a wrong check digit', 'a1', order('1.00', { chave: RECEIVER, cpf: '12345678900' }), 400, 'valor_invalido'],
    [
      'both tax ids',
      'a1',
      order('1.00', { chave: RECEIVER, cpf: '12345678909', cnpj: OWN_CNPJ }),
      400,
      'valor_invalido',
    ],
    ['a payment account', 'a1', order('1.00', { contaBanco: { ...ACCOUNT, tipoConta: 'tran' } }), 400, 'json_invalido'],
    ['a key of another as payer', 'a1', { ...order('1.00'), pagador: { chave: RECEIVER } }, 400, 'chave_invalida'],
    ['too little money', 'a1', order('1000.01'), 400, 'saldo_insuficiente'],
  ])('is refused with %s, and leaves no trace', async (_, id, body, status, nome) => {
    expect(await put(id, body)).toMatchObject({ status, body: { nome } });
    expect(psp.simulator.state().sends).toEqual([]);
    expect(await money()).toBe(100_000);
  });

  it('names every wrong field of a body', async () => {
    const { body } = await put('a1', { valor: '1', pagador: { chave: KEY }, favorecido: { chave: RECEIVER }, x: 1 });
    const paths = (body['erros'] as { caminho: string }[]).map(({ caminho }) => caminho);
    expect(paths).toEqual(expect.arrayContaining(['.body.valor', '.body']));
  });

  it('is refused to a key that the directory does not have, and from a key without webhook', async () => {
    psp.simulator.addKey({ key: RECEIVER, owner: null });
    expect(await put('a1')).toMatchObject({ status: 404, body: { nome: 'chave_favorecido_nao_encontrada' } });
    await psp.call('DELETE', `/webhook/${KEY}`);
    expect((await put('a1')).status).toBe(400);
  });

  it('needs its own scope', async () => {
    const read = String((await psp.token({ scope: 'pix.read gn.pix.send.read' })).body['access_token']);
    const headers = { authorization: `Bearer ${read}` };
    const url = `${psp.simulator.efiUrl}/v3/gn/pix/a1`;
    expect(await psp.send('PUT', url, { headers, body: JSON.stringify(order('1.00')) })).toMatchObject({
      status: 403,
      body: { error: 'insufficient_scope' },
    });
    expect((await psp.send('PUT', url, { headers: { authorization: 'Bearer unknown' } })).status).toBe(401);
    const narrow = { clientId: 'narrow', clientSecret: 'its secret', pixKeys: ['narrow@example.com'] };
    psp.simulator.addMerchant({ ...narrow, scopes: ['cob.read', 'gn.balance.read'] });
    expect((await psp.as(narrow).token()).body['scope']).toBe('cob.read gn.balance.read');
    expect((await psp.as(narrow).token({ scope: 'pix.send' })).status).toBe(400);
    expect((await psp.as(narrow).callEfi('GET', '/v2/gn/saldo')).body).toEqual({ saldo: '0.00' });
  });

  it('belongs to its merchant', async () => {
    const { e2eId } = (await put('a1')).body;
    const other = psp.as(OTHER);
    for (const path of ['id-envio/a1', String(e2eId)]) {
      expect(await other.callEfi('GET', `/v2/gn/pix/enviados/${path}`)).toMatchObject({
        status: 404,
        body: { type: 'https://pix.bcb.gov.br/api/v2/error/PixEnviadoNaoEncontrado' },
      });
    }
  });
});

describe('a send to the own tax id', () => {
  const same = (favorecido: object): Promise<PspAnswer> =>
    put('a1', order('1.00', favorecido), '/v2/gn/pix/a1/mesma-titularidade');

  it.each<[string, object]>([
    ['a key that is the tax id', { chave: OWN_CNPJ }],
    ['an account of the tax id', { contaBanco: { ...ACCOUNT, cpf: undefined, cnpj: OWN_CNPJ } }],
    ['a key of another account of the same holder', { chave: 'loja@example.com' }],
  ])('goes to %s', async (_, favorecido) => {
    expect((await same(favorecido)).status).toBe(201);
  });

  it.each<[string, object]>([
    ['a key of somebody else', { chave: '12345678909' }],
    ['a key of an unknown owner', { chave: RECEIVER }],
    ['an account of somebody else', { contaBanco: ACCOUNT }],
  ])('is refused to %s', async (_, favorecido) => {
    expect(await same(favorecido)).toMatchObject({ status: 400, body: { nome: 'chave_nao_pertence_ao_documento' } });
    expect(psp.simulator.state().sends).toEqual([]);
  });
});

describe('a payment of a code', () => {
  const payer = { chave: KEY, infoPagador: 'Pagamento' };

  async function chargeOfOther(): Promise<{ txid: string; code: string }> {
    const txid = newTxid();
    const cob = { calendario: { expiracao: 3_600 }, valor: { original: '45.00' }, chave: OTHER.pixKeys[0] };
    const { body } = await psp.as(OTHER).call('PUT', `/cob/${txid}`, cob);
    return { txid, code: String(body['pixCopiaECola']) };
  }

  const payCode = (id: string, pixCopiaECola: string): Promise<PspAnswer> =>
    put(id, { pagador: payer, pixCopiaECola }, `/v2/gn/pix/${id}/qrcode`);

  it('pays the charge of another merchant, to the cent of both', async () => {
    const { txid, code } = await chargeOfOther();
    expect(await payCode('q1', code)).toMatchObject({ status: 201, body: { valor: '45.00' } });
    expect((await psp.as(OTHER).call('GET', `/cob/${txid}`)).body['status']).toBe('ATIVA');
    const { endToEndId } = psp.simulator.settleSend({ idEnvio: 'q1' });
    const { body } = await psp.as(OTHER).call('GET', `/cob/${txid}`);
    expect(body).toMatchObject({ status: 'CONCLUIDA', pix: [{ endToEndId, valor: '45.00' }] });
    expect(psp.simulator.state().balances).toMatchObject([{ total: 95_500 }, { total: 4_500 }]);
    expect(await payCode('q1', code)).toMatchObject({ status: 409 });
  });

  it('ends NAO_REALIZADO if the charge was paid meanwhile', async () => {
    const { txid, code } = await chargeOfOther();
    await payCode('q1', code);
    psp.simulator.pay({ txid });
    expect(psp.simulator.settleSend({ idEnvio: 'q1' })).toMatchObject({ status: 'NAO_REALIZADO' });
    expect(await money()).toBe(100_000);
  });

  const merchant = { merchantName: 'LOJA', merchantCity: 'SAO PAULO' };

  it.each<[string, string, RegExp]>([
    ['is none', 'no code', /inválido/],
    ['is static', encodeBrCode({ ...merchant, kind: 'static', key: RECEIVER, amount: 100 }), /estática/],
    ['leads elsewhere', encodeBrCode({ ...merchant, kind: 'dynamic', location: 'psp.example/qr/v2/1' }), /inválido/],
  ])('is refused for a code that %s', async (_, code, reason) => {
    const { status, body } = await payCode('q1', code);
    expect(status).toBe(400);
    expect(body['violacoes']).toEqual([{ razao: expect.stringMatching(reason), propriedade: 'qrcode.pixCopiaECola' }]);
  });

  it('is refused with too little money, and where the test environment has no codes', async () => {
    const { code } = await chargeOfOther();
    psp.simulator.move({ clientId: DEFAULT_MERCHANT.clientId, amount: -95_501 });
    expect((await payCode('q1', code)).body).toMatchObject({
      type: 'https://pix.bcb.gov.br/api/v2/error/QrcodeOperacaoInvalida',
      violacoes: [{ propriedade: 'qrcode.pagador' }],
    });
    change({ sandboxRules: true });
    expect(await payCode('q1', code)).toMatchObject({
      status: 500,
      body: { type: 'https://pix.bcb.gov.br/api/v2/error/QrcodeErroInterno' },
    });
  });
});

describe('a description of a code', () => {
  const describeCode = (pixCopiaECola: string): Promise<PspAnswer> =>
    psp.callEfi('POST', '/v2/gn/qrcodes/detalhar', { pixCopiaECola });
  const cob = { calendario: { expiracao: 3_600 }, valor: { original: '45.00' }, chave: OTHER.pixKeys[0] };

  async function chargeOfOther(own: object = {}): Promise<{ txid: string; code: string }> {
    const txid = newTxid();
    const { body } = await psp.as(OTHER).call('PUT', `/cob/${txid}`, { ...cob, ...own });
    return { txid, code: String(body['pixCopiaECola']) };
  }

  it('shows the charge with its debtor masked', async () => {
    const debtor = { devedor: { nome: 'Francisco da Silva', cpf: '12345678909' }, solicitacaoPagador: 'Serviços.' };
    const { txid, code } = await chargeOfOther(debtor);
    const { status, body } = await describeCode(code);
    expect([status, body]).toEqual([
      200,
      {
        tipoCob: 'cob',
        txid,
        revisao: 0,
        calendario: { criacao: expect.any(String), apresentacao: expect.any(String), expiracao: 3_600 },
        status: 'ATIVA',
        devedor: { nome: 'Francisco da Silva', cpf: '***.456.789-**' },
        recebedor: { nome: expect.any(String), cnpj: OWN_CNPJ },
        valor: { final: '45.00' },
        chave: OTHER.pixKeys[0],
        solicitacaoPagador: 'Serviços.',
      },
    ]);
  });

  it('shows a new amount, a payment and the end of a charge', async () => {
    const { txid, code } = await chargeOfOther();
    await psp.as(OTHER).call('PATCH', `/cob/${txid}`, { valor: { original: '46.00' } });
    expect((await describeCode(code)).body).toMatchObject({ revisao: 1, valor: { final: '46.00' }, status: 'ATIVA' });
    psp.simulator.pay({ txid });
    expect((await describeCode(code)).body).toMatchObject({ status: 'CONCLUIDA' });
    const removed = await chargeOfOther();
    psp.simulator.expire({ txid: removed.txid, removed: true });
    expect((await describeCode(removed.code)).body).toMatchObject({ status: 'REMOVIDA_PELO_PSP' });
  });

  const merchant = { merchantName: 'LOJA', merchantCity: 'SAO PAULO' };

  it.each<[string, string, number, RegExp]>([
    ['is none', 'no code', 422, /inválido/],
    ['is static', encodeBrCode({ ...merchant, kind: 'static', key: RECEIVER, amount: 100 }), 400, /estática/],
    [
      'leads elsewhere',
      encodeBrCode({ ...merchant, kind: 'dynamic', location: 'psp.example/qr/v2/1' }),
      422,
      /inválido/,
    ],
  ])('is refused for a code that %s', async (_, code, status, reason) => {
    expect(await describeCode(code)).toMatchObject({
      status,
      headers: { 'content-type': 'application/problem+json' },
      body: {
        type: 'https://pix.bcb.gov.br/api/v2/error/QrcodeOperacaoInvalida',
        status,
        violacoes: [{ razao: expect.stringMatching(reason), propriedade: 'qrcode.pixCopiaECola' }],
      },
    });
  });

  it('is refused for a receiver whose key is gone, and where the test environment has no codes', async () => {
    const { code } = await chargeOfOther();
    psp.simulator.addKey({ key: OTHER.pixKeys[0] ?? '', owner: null });
    expect(await describeCode(code)).toMatchObject({
      status: 400,
      body: { violacoes: [{ razao: 'A chave do recebedor não foi encontrada' }] },
    });
    change({ sandboxRules: true });
    expect(await describeCode(code)).toMatchObject({
      status: 500,
      body: { detail: 'Funcionalidade desabilitada em ambiente de homologação.' },
    });
  });

  it('fails by fault with the documents of API Pix', async () => {
    const { code } = await chargeOfOther();
    psp.simulator.addFault({ operation: 'qrcode.detail', fault: { kind: 'throttle', retryAfterSeconds: 9 } });
    expect(await describeCode(code)).toMatchObject({
      status: 429,
      headers: { 'retry-after': '9' },
      body: { type: 'https://pix.bcb.gov.br/api/v2/error/BaldeFichasVazio' },
    });
    psp.simulator.addFault({ operation: 'qrcode.detail', fault: { kind: 'error', effect: false } });
    expect(await describeCode(code)).toMatchObject({
      status: 500,
      body: { type: 'https://pix.bcb.gov.br/api/v2/error/QrcodeErroInterno' },
    });
    expect((await describeCode(code)).status).toBe(200);
  });

  it('needs the scope to read codes', async () => {
    const token = await psp.token({ scope: 'gn.qrcodes.pay' });
    const answer = await psp.send('POST', `${psp.simulator.efiUrl}/v2/gn/qrcodes/detalhar`, {
      headers: { authorization: `Bearer ${String(token.body['access_token'])}`, 'content-type': 'application/json' },
      body: '{}',
    });
    expect(answer).toMatchObject({ status: 403, body: { error: 'insufficient_scope' } });
  });
});

describe('the course of a send', () => {
  it('is reported to the webhook of the payer key: paid', async () => {
    change({ feeCents: 50 });
    const { e2eId } = (await put('a1')).body;
    psp.simulator.settleSend({ idEnvio: 'a1' });
    await arrived(1);
    expect(receiver.received[0]?.path).toMatch(/\/pix$/);
    expect(told()).toEqual([
      {
        endToEndId: e2eId,
        chave: KEY,
        tipo: 'SOLICITACAO',
        status: 'REALIZADO',
        valor: '12.34',
        horario: expect.stringMatching(/Z$/),
        infoPagador: 'Repasse',
        gnExtras: { idEnvio: 'a1', tarifa: '0.50' },
      },
    ]);
  });

  it('is reported to the webhook of the payer key: rejected, with the reason', async () => {
    await put('a1');
    psp.simulator.settleSend({ idEnvio: 'a1', status: 'NAO_REALIZADO', error: { codigo: 'AC06' } });
    await arrived(1);
    expect(told()).toMatchObject([
      {
        status: 'NAO_REALIZADO',
        horario: null,
        gnExtras: { idEnvio: 'a1', erro: { codigo: 'AC06', origem: 'PSP do usuário recebedor' } },
      },
    ]);
    expect((await lookUp('a1')).body).not.toHaveProperty('gnExtras');
    expect(() => psp.simulator.settleSend({ idEnvio: 'a1' })).toThrow(/for good/);
  });

  it('can be a review, which is paid or rejected after its time', async () => {
    change({ delayMs: 10, reviewStatus: 'REVISAO' });
    const review = { kind: 'review', ms: 60 } as const;
    psp.simulator.addFault({ operation: 'send', fault: review });
    psp.simulator.addFault({ operation: 'send', fault: { ...review, status: 'NAO_REALIZADO' } });
    await put('a1');
    await put('a2');
    expect((await lookUp('a1')).body['status']).toBe('REVISAO');
    await becomes('a1', 'REALIZADO');
    await becomes('a2', 'NAO_REALIZADO');
    expect(psp.simulator.state().faults.made).toEqual({ 'send review': 2 });
  });

  it('can be held by hand until it is settled', async () => {
    change({ delayMs: 30 });
    await put('a1');
    psp.simulator.reviewSend({ idEnvio: 'a1' });
    await put('a2');
    await becomes('a2', 'REALIZADO');
    expect((await lookUp('a1')).body['status']).toBe('EM_PROCESSAMENTO');
    expect(psp.simulator.settleSend({ idEnvio: 'a1' })).toMatchObject({ status: 'REALIZADO' });
    expect(() => psp.simulator.reviewSend({ idEnvio: 'a1' })).toThrow(/REALIZADO/);
  });

  it('can end as rejected, or be revoked after it was paid', async () => {
    change({ delayMs: 10 });
    psp.simulator.addFault({ operation: 'send', fault: { kind: 'reject' } });
    psp.simulator.addFault({ operation: 'send', fault: { kind: 'revoke', afterMs: 40 } });
    await put('a1');
    await put('a2');
    await becomes('a1', 'NAO_REALIZADO');
    await becomes('a2', 'REALIZADO');
    await becomes('a2', 'NAO_REALIZADO');
    expect(await money()).toBe(100_000);
    await arrived(3);
    expect(told().map(({ status }) => status)).toEqual(
      expect.arrayContaining(['NAO_REALIZADO', 'REALIZADO', 'NAO_REALIZADO']),
    );
  });

  it('can be slow', async () => {
    change({ delayMs: 1 });
    psp.simulator.addFault({ operation: 'send', fault: { kind: 'slow', ms: 80 } });
    const begun = performance.now();
    await put('a1');
    await becomes('a1', 'REALIZADO');
    expect(performance.now() - begun).toBeGreaterThanOrEqual(75);
  });

  it('is drawn by the seed', async () => {
    change({ delayMs: 1 });
    psp.simulator.addFault({ operation: 'send', fault: { kind: 'reject' }, rate: 0.5 });
    for (let number = 0; number < 20; number += 1) await put(`a${String(number)}`, order('1.00'));
    const ended = (): string[] => psp.simulator.state().sends.map(({ status }) => status);
    await waitFor('the end of all', () => !ended().includes('EM_PROCESSAMENTO'));
    expect(new Set(ended())).toEqual(new Set(['REALIZADO', 'NAO_REALIZADO']));
    expect(psp.simulator.state().faults.made['send reject']).toBe(
      ended().filter((status) => status === 'NAO_REALIZADO').length,
    );
  });

  it('collides with another one of its merchant only if that is set', async () => {
    await put('a1');
    expect((await put('a2')).status).toBe(201);
    change({ collisions: 'reject' });
    expect((await put('a3')).status).toBe(201);
    expect((await lookUp('a3')).body['status']).toBe('NAO_REALIZADO');
    for (const idEnvio of ['a1', 'a2']) psp.simulator.settleSend({ idEnvio });
    await put('a4');
    expect((await lookUp('a4')).body['status']).toBe('EM_PROCESSAMENTO');
  });
});

describe('returns of a send', () => {
  it('come in parts, in the look-up, in the callback and on the account', async () => {
    await put('a1', order('10.00'));
    expect(() => psp.simulator.returnSend({ idEnvio: 'a1' })).toThrow(/EM_PROCESSAMENTO/);
    psp.simulator.settleSend({ idEnvio: 'a1' });
    psp.simulator.returnSend({ idEnvio: 'a1', amount: 400, at: '2026-11-30T12:00:00Z' });
    expect(await money()).toBe(100_000 - 600);
    psp.simulator.returnSend({ idEnvio: 'a1' });
    expect(() => psp.simulator.returnSend({ idEnvio: 'a1', amount: 1 })).toThrow(/only 0 cents/);
    expect(await money()).toBe(100_000);
    const { body } = await lookUp('a1');
    expect(body).toMatchObject({
      status: 'REALIZADO',
      devolucoes: [
        { rtrId: expect.stringMatching(/^D99999004/), valor: '4.00', horario: '2026-11-30T12:00:00.000Z' },
        { valor: '6.00' },
      ],
    });
    await arrived(3);
    const last = told().find(({ devolucoes }) => (devolucoes as unknown[] | undefined)?.length === 2);
    expect(last).toMatchObject({ gnExtras: { idEnvio: 'a1' }, devolucoes: body['devolucoes'] });
  });

  it('can come by themselves later, in equal parts of a share', async () => {
    change({ delayMs: 1 });
    const fault = { kind: 'return', afterMs: 20, share: 0.5, parts: 3 } as const;
    psp.simulator.addFault({ operation: 'send', fault });
    await put('a1', order('20.00'));
    await waitFor('the returns', () => psp.simulator.state().sends[0]?.devolucoes?.length === 3);
    expect(psp.simulator.state().sends[0]?.devolucoes?.map(({ valor }) => valor)).toEqual(['3.34', '3.33', '3.33']);
    expect(await money()).toBe(100_000 - 1_000);
  });

  it.each([
    ['bare', 1],
    ['none', 0],
  ] as const)('are called back as %s if that is set', async (returnCallback, count) => {
    change({ returnCallback });
    await put('a1');
    psp.simulator.settleSend({ idEnvio: 'a1' });
    await arrived(1);
    psp.simulator.returnSend({ idEnvio: 'a1' });
    psp.simulator.announce({ endToEndId: psp.simulator.state().sends[0]?.endToEndId ?? '' });
    await arrived(2 + count);
    const bare = told().filter((entry) => !('gnExtras' in entry));
    expect(bare).toHaveLength(count);
  });
});

describe('the list of sends', () => {
  const list = (query: string): Promise<PspAnswer> => psp.callEfi('GET', `/v2/gn/pix/enviados?${query}`);
  const ALL = 'inicio=2020-01-01T00:00:00Z&fim=2099-12-31T23:59:59Z';
  const ids = async (query: string): Promise<unknown[]> =>
    ((await list(`${ALL}&${query}`)).body['pix'] as Record<string, unknown>[]).map(({ idEnvio }) => idEnvio);

  it('filters by state, receiver and returns, page by page', async () => {
    await put('a1', order('1.00', { chave: '12345678909' }));
    await put('a2', order('2.00', { contaBanco: ACCOUNT }));
    await put('a3', order('3.00'));
    psp.simulator.settleSend({ idEnvio: 'a1' });
    psp.simulator.settleSend({ idEnvio: 'a2', status: 'NAO_REALIZADO' });
    psp.simulator.returnSend({ idEnvio: 'a1', amount: 1 });
    expect(await ids('')).toEqual(['a1', 'a2', 'a3']);
    expect(await ids('status=REALIZADO')).toEqual(['a1']);
    expect(await ids('status=CONCLUIDA')).toEqual(['a1']);
    expect(await ids('status=NAO_REALIZADO')).toEqual(['a2']);
    expect(await ids('cpf=12345678909')).toEqual(['a1', 'a2']);
    expect(await ids('devolucaoPresente=true')).toEqual(['a1']);
    expect(await ids('paginacao.itensPorPagina=2&paginacao.paginaAtual=1')).toEqual(['a3']);
    const { body } = await list(`${ALL}&paginacao.itensPorPagina=2&exibirCodigoBanco=true`);
    expect(body['parametros']).toEqual({
      inicio: '2020-01-01T00:00:00Z',
      fim: '2099-12-31T23:59:59Z',
      exibirCodigoBanco: true,
      paginacao: { paginaAtual: 0, itensPorPagina: 2, quantidadeDePaginas: 2, quantidadeTotalDeItens: 3 },
    });
    expect(body['pix']).toMatchObject([{}, { favorecido: { contaBanco: { codigoBanco: '09089356' } } }]);
    expect((await psp.as(OTHER).callEfi('GET', `/v2/gn/pix/enviados?${ALL}`)).body['pix']).toEqual([]);
  });

  it('has Pix that somebody sent in the app, without an id of the merchant', async () => {
    psp.simulator.sendInApp({ clientId: DEFAULT_MERCHANT.clientId, amount: 800, key: RECEIVER });
    const { body } = await list(ALL);
    expect(body['pix']).toMatchObject([{ valor: '8.00', status: 'REALIZADO', favorecido: { chave: RECEIVER } }]);
    expect((body['pix'] as object[])[0]).not.toHaveProperty('idEnvio');
    expect((body['pix'] as object[])[0]).not.toHaveProperty('chave');
    expect(await money()).toBe(100_000 - 800);
  });

  it.each([
    '',
    'inicio=2020-01-01T00:00:00Z',
    `${ALL}&status=PAGO`,
    'inicio=2021-01-01T00:00:00Z&fim=2020-01-01T00:00:00Z',
  ])('refuses the query "%s"', async (query) => {
    expect(await list(query)).toMatchObject({ status: 400, body: { nome: 'valor_invalido' } });
  });
});

describe('the balance', () => {
  it('is the sum of the opening balance, received Pix, devolutions, sends, fees, returns and movements', async () => {
    change({ feeCents: 50 });
    psp.simulator.change({ returnDelayMs: null });
    const { endToEndId } = psp.simulator.pay({ key: KEY, amount: 5_000 });
    expect(await money()).toBe(105_000);
    await psp.call('PUT', `/pix/${endToEndId}/devolucao/${newReturnId()}`, { valor: '20.00' });
    expect(await money()).toBe(103_000);
    await put('a1', order('10.00'));
    await put('a2', order('30.00'));
    expect(await money()).toBe(103_000 - 1_050 - 3_050);
    psp.simulator.settleSend({ idEnvio: 'a1' });
    psp.simulator.settleSend({ idEnvio: 'a2', status: 'NAO_REALIZADO' });
    expect(await money()).toBe(103_000 - 1_050);
    psp.simulator.returnSend({ idEnvio: 'a1', amount: 300 });
    expect(await money()).toBe(103_000 - 750);
    psp.simulator.move({ clientId: DEFAULT_MERCHANT.clientId, amount: -250 });
    expect(await money()).toBe(102_000);
  });

  it('shows blocked money beside it, which cannot be sent', async () => {
    const blocked = { clientId: DEFAULT_MERCHANT.clientId, judicial: 30_000, med: 20_000 };
    psp.simulator.block(blocked);
    const { body } = await psp.callEfi('GET', '/v2/gn/saldo/?bloqueios=true');
    expect(body).toEqual({ saldo: '500.00', bloqueios: { judicial: '300.00', med: '200.00', total: '500.00' } });
    expect((await psp.callEfi('GET', '/v2/gn/saldo?bloqueios=false')).body).toEqual({ saldo: '500.00' });
    expect((await psp.callEfi('GET', '/v2/gn/saldo?bloqueios=yes')).status).toBe(400);
    expect((await put('a1', order('500.01'))).body['nome']).toBe('saldo_insuficiente');
    psp.simulator.block({ ...blocked, judicial: 0 });
    expect((await put('a1', order('800.00'))).status).toBe(201);
    expect(await money()).toBe(0);
  });

  it('does not pay a devolution that it does not cover', async () => {
    psp.simulator.change({ returnDelayMs: 1 });
    const { endToEndId } = psp.simulator.pay({ key: KEY, amount: 5_000 });
    psp.simulator.block({ clientId: DEFAULT_MERCHANT.clientId, judicial: 101_000 });
    const id = newReturnId();
    const settled = async (): Promise<unknown> =>
      (await psp.call('GET', `/pix/${endToEndId}/devolucao/${id}`)).body['status'];
    await psp.call('PUT', `/pix/${endToEndId}/devolucao/${id}`, { valor: '40.01' });
    await waitFor('the end of the devolution', async () => (await settled()) !== 'EM_PROCESSAMENTO');
    expect((await psp.call('GET', `/pix/${endToEndId}/devolucao/${id}`)).body).toMatchObject({
      status: 'NAO_REALIZADO',
      motivo: 'Saldo insuficiente para realizar a devolução.',
    });
    expect(await money()).toBe(4_000);
  });

  it('blocks what an open MED asks for, and loses it when the MED is settled', async () => {
    const { endToEndId } = psp.simulator.pay({ key: KEY, amount: 5_000 });
    const { id } = psp.simulator.med({ endToEndId });
    const read = async (): Promise<unknown> => (await psp.callEfi('GET', '/v2/gn/saldo?bloqueios=true')).body;
    expect(await read()).toMatchObject({ saldo: '1000.00', bloqueios: { med: '50.00' } });
    psp.simulator.settleReturn({ endToEndId, id });
    expect(await read()).toMatchObject({ saldo: '1000.00', bloqueios: { med: '0.00' } });
  });
});

describe("Efí's test environment", () => {
  const SANDBOX = { chave: 'efipay@sejaefi.com.br' };

  beforeEach(() => {
    change({ sandboxRules: true, delayMs: 5 });
  });

  it.each([
    ['0.01', 'REALIZADO', []],
    ['10.00', 'REALIZADO', []],
    ['10.01', 'NAO_REALIZADO', []],
    ['20.00', 'NAO_REALIZADO', []],
    ['4.00', 'REALIZADO', ['2.00', '2.00']],
    ['5.00', 'REALIZADO', ['5.00']],
  ])('ends a send of %s as %s, of which %j comes back', async (valor, status, parts) => {
    expect((await put('a1', order(valor, SANDBOX))).status).toBe(201);
    await becomes('a1', status);
    await arrived(1 + parts.length);
    const { body } = await lookUp('a1');
    expect(((body['devolucoes'] ?? []) as { valor: string }[]).map((part) => part.valor)).toEqual(parts);
  });

  it('leaves the course of a send to a fault', async () => {
    psp.simulator.addFault({ operation: 'send', fault: { kind: 'reject' } });
    await put('a1', order('1.00', SANDBOX));
    await becomes('a1', 'NAO_REALIZADO');
  });

  it('refuses more than 20.00 and other keys in the request; accounts follow the amounts', async () => {
    expect(await put('a1', order('20.01', SANDBOX))).toMatchObject({ status: 422, body: { nome: 'pagamento_negado' } });
    expect(await put('a1', order('1.00'))).toMatchObject({ status: 404 });
    expect((await put('a1', order('1.00', { contaBanco: ACCOUNT }))).status).toBe(201);
    expect((await put('a2', order('1.00', { chave: OWN_CNPJ }), '/v2/gn/pix/a2/mesma-titularidade')).status).toBe(500);
  });
});

describe('faults of money out', () => {
  it.each([true, false])('leave a send unanswered, with effect: %s', async (effect) => {
    psp.simulator.addFault({ operation: 'send.put', fault: { kind: 'timeout', effect } });
    await psp.token();
    await expect(put('a1')).rejects.toMatchObject({ code: 'UND_ERR_SOCKET' });
    expect((await lookUp('a1')).status).toBe(effect ? 200 : 404);
    expect((await put('a1')).status).toBe(effect ? 409 : 201);
    expect(await money()).toBe(100_000 - 1_234);
  });

  it.each([true, false])("answer 500 in Efí's words, with effect: %s", async (effect) => {
    psp.simulator.addFault({ operation: 'send.put', fault: { kind: 'error', effect } });
    expect(await put('a1')).toMatchObject({ status: 500, body: { nome: 'erro_aplicacao' } });
    expect((await lookUp('a1')).status).toBe(effect ? 200 : 404);
  });

  it('answer 429 with the time to wait and an empty bucket', async () => {
    psp.simulator.addFault({ operation: 'send.put', fault: { kind: 'throttle', retryAfterSeconds: 7 } });
    expect(await put('a1')).toMatchObject({
      status: 429,
      headers: { 'retry-after': '7', 'bucket-size': '0', 'content-type': 'application/json' },
      body: { nome: 'balde_fichas_vazio' },
    });
    expect((await lookUp('a1')).status).toBe(404);
  });

  it.each([
    ['id_envio_duplicado', 409, false],
    ['id_envio_duplicado', 409, true],
    ['pagamento_negado', 422, false],
    ['pagamento_negado', 422, true],
  ] as const)('answer %s (%d), with effect: %s', async (error, status, effect) => {
    psp.simulator.addFault({ operation: 'send.put', fault: { kind: 'refuse', error, effect } });
    expect(await put('a1')).toMatchObject({ status, body: { nome: error } });
    expect((await lookUp('a1')).status).toBe(effect ? 200 : 404);
  });

  it('apply to look-ups, lists and balances too', async () => {
    await put('a1');
    psp.simulator.addFault({ operation: 'send.get', fault: { kind: 'unavailable' } });
    psp.simulator.addFault({ operation: 'send.list', fault: { kind: 'error', effect: false } });
    psp.simulator.addFault({ operation: 'balance.get', fault: { kind: 'error', effect: false } });
    expect((await lookUp('a1')).status).toBe(503);
    expect((await psp.callEfi('GET', '/v2/gn/pix/enviados?inicio=x')).status).toBe(500);
    expect((await psp.callEfi('GET', '/v2/gn/saldo')).status).toBe(500);
    expect((await lookUp('a1')).status).toBe(200);
  });

  it('with an error of Efí cannot be given to requests of the standard', () => {
    const fault = { kind: 'refuse', error: 'pagamento_negado' } as const;
    expect(() => {
      psp.simulator.addFault({ operation: 'cob.put', fault });
    }).toThrow(/money out/);
  });

  it('delay, double or lose callbacks of sends only, if so configured', async () => {
    psp.simulator.addFault({ operation: 'callback.send', fault: { kind: 'lose' } });
    psp.simulator.addFault({ operation: 'callback.send', fault: { kind: 'duplicate', times: 2 } });
    psp.simulator.addFault({ operation: 'callback.send', fault: { kind: 'delay', ms: 60 } });
    psp.simulator.pay({ key: KEY, amount: 1, txid: newTxid() });
    for (const idEnvio of ['lost', 'doubled', 'late', 'usual']) {
      await put(idEnvio);
      psp.simulator.settleSend({ idEnvio });
    }
    await arrived(5);
    const names = told().map((entry) => (entry['gnExtras'] as { idEnvio: string } | undefined)?.idEnvio ?? 'received');
    expect([...names].sort()).toEqual(['doubled', 'doubled', 'late', 'received', 'usual']);
    expect(names.at(-1)).toBe('late');
  });
});

describe('the standard below /v2', () => {
  it('is the same as below /api/v2', async () => {
    const { body } = await psp.callEfi('GET', `/v2/webhook/${KEY}`);
    expect(body).toEqual((await psp.call('GET', `/webhook/${KEY}`)).body);
    expect(body).toMatchObject({ webhookUrl: receiver.url });
  });
});

describe('the control endpoint', () => {
  it('does what the methods do with sends, keys and money', async () => {
    const post = (action: string, body: object): Promise<PspAnswer> =>
      psp.send('POST', `${psp.simulator.controlUrl}/${action}`, { body: JSON.stringify(body) });
    const { clientId } = DEFAULT_MERCHANT;
    expect((await post('block', { clientId, med: 100 })).body).toMatchObject({ blockedByMed: 100, available: 99_900 });
    expect((await post('move', { clientId, amount: 5 })).body).toMatchObject({ total: 100_005 });
    expect((await post('addKey', { key: 'nobody@example.com', owner: null })).body).toEqual({ done: true });
    expect((await put('a1', order('1.00', { chave: 'nobody@example.com' }))).status).toBe(404);
    await put('a1');
    expect((await post('reviewSend', { idEnvio: 'a1' })).status).toBe(200);
    expect((await post('settleSend', { idEnvio: 'a1' })).body).toMatchObject({ status: 'REALIZADO' });
    expect((await post('returnSend', { idEnvio: 'a1', amount: 34 })).body).toMatchObject({
      devolucoes: [{ valor: '0.34' }],
    });
    expect((await post('sendInApp', { clientId, amount: 1, key: RECEIVER })).status).toBe(200);
    expect((await post('settleSend', { idEnvio: 'unknown' })).status).toBe(404);
    expect((await post('settleSend', {})).status).toBe(400);
    expect((await post('move', { amount: 5 })).body['error']).toMatch(/say clientId/);
    const state = await psp.send('GET', `${psp.simulator.controlUrl}/state`);
    expect(state.body).toMatchObject({
      sends: [{ idEnvio: 'a1', clientId }, { clientId }],
      balances: [{ clientId }, {}],
    });
  });
});
