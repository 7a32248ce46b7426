import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { DEFAULT_MERCHANT } from '../../tools/psp-simulator/simulator.js';
import { newTxid } from '../../src/brazil/index.js';
import { EfiSdk } from '../support/efi-sdk.js';
import { describeWith } from '../support/needs.js';
import { PspUnderTest } from '../support/psp-client.js';

const KEY = DEFAULT_MERCHANT.pixKeys[0] ?? '';
const RECEIVER = 'francisco@example.com';
const OWN_CNPJ = '11222333000181';
const OTHER = { clientId: 'other', clientSecret: 'another secret', pixKeys: ['loja@example.com'] };
const WEBHOOK = 'https://shop.example/callbacks';
const ACCOUNT = {
  nome: 'Francisco da Silva',
  cpf: '12345678909',
  codigoBanco: '09089356',
  agencia: '1',
  conta: '123453',
  tipoConta: 'cacc',
};
const EVER = { inicio: '2020-01-01T00:00:00.000Z', fim: '2099-12-31T23:59:59.000Z' };

const order = (favorecido: object, valor = '12.34'): object => ({
  valor,
  pagador: { chave: KEY, infoPagador: 'Repasse' },
  favorecido,
});

// Efí's SDK is a client that nobody here wrote: it shows that the simulator speaks Efí's language and not our own.
describeWith('efiSdk')("Efí's own SDK against the simulator", () => {
  let psp: PspUnderTest;
  let sdk: EfiSdk;

  beforeEach(async () => {
    psp = await PspUnderTest.start({
      merchants: [{ ...DEFAULT_MERCHANT, openingBalance: 100_000 }, OTHER],
      settings: { sends: { delayMs: null, form: 'sdk' }, callbacks: { retryDelaysMs: [] } },
    });
    await psp.call('PUT', `/webhook/${KEY}`, { webhookUrl: WEBHOOK });
    psp.simulator.addKey({ key: RECEIVER, owner: { document: '12345678909', name: 'Francisco da Silva' } });
    // Callbacks have nowhere to go.
    psp.simulator.addFault({ operation: 'callback', fault: { kind: 'lose' }, rate: 1 });
    sdk = new EfiSdk(psp.simulator);
  });

  afterEach(async () => {
    sdk.stop();
    await psp.stop();
  });

  async function codeOfOther(): Promise<string> {
    const cob = { calendario: { expiracao: 3_600 }, valor: { original: '45.00' }, chave: OTHER.pixKeys[0] };
    return String((await psp.as(OTHER).call('PUT', `/cob/${newTxid()}`, cob)).body['pixCopiaECola']);
  }

  it.each<[string, object]>([
    ['a key', { chave: RECEIVER }],
    ['a key and its tax id', { chave: RECEIVER, cpf: '12345678909' }],
    ['an account of a person', { contaBanco: ACCOUNT }],
    ['an account of a company', { contaBanco: { ...ACCOUNT, cpf: undefined, cnpj: OWN_CNPJ } }],
  ])(
    'sends to %s, and its schemas accept the request and each answer until the money is back',
    async (_, favorecido) => {
      const body = JSON.parse(JSON.stringify(order(favorecido))) as object;
      expect(sdk.faultsOf('PixSendBodySchema', body)).toEqual([]);
      const accepted = await sdk.client.pixSend({ idEnvio: 'a1' }, body);
      expect(sdk.faultsOf('PixSendResponseSchema', accepted)).toEqual([]);
      expect(accepted).toMatchObject({ idEnvio: 'a1', valor: '12.34', status: 'EM_PROCESSAMENTO' });

      const lookUps = async (): Promise<unknown> => {
        const byId = await sdk.client.pixSendDetailId({ idEnvio: 'a1' });
        expect(sdk.faultsOf('PixSendDetailIdResponseSchema', byId)).toEqual([]);
        const byEndToEndId = await sdk.client.pixSendDetail({ e2eId: String(accepted['endToEndId']) });
        expect(byEndToEndId).toEqual(byId);
        return byId;
      };
      expect(await lookUps()).toMatchObject({ status: 'EM_PROCESSAMENTO', chave: KEY, infoPagador: 'Repasse' });
      psp.simulator.settleSend({ idEnvio: 'a1' });
      expect(await lookUps()).toMatchObject({ status: 'REALIZADO' });
      psp.simulator.returnSend({ idEnvio: 'a1', amount: 234 });
      psp.simulator.returnSend({ idEnvio: 'a1' });
      expect(await lookUps()).toMatchObject({ devolucoes: [{ valor: '2.34' }, { valor: '10.00' }] });
      psp.simulator.settleSend({ idEnvio: 'a1', status: 'NAO_REALIZADO' });
      expect(await lookUps()).toMatchObject({ status: 'NAO_REALIZADO' });
    },
  );

  it('sends to the own tax id and pays a code', async () => {
    const own = order({ chave: OWN_CNPJ });
    expect(sdk.faultsOf('PixSendSameOwnershipBodySchema', own)).toEqual([]);
    const moved = await sdk.client.pixSendSameOwnership({ idEnvio: 'a1' }, own);
    expect(sdk.faultsOf('PixSendSameOwnershipResponseSchema', moved)).toEqual([]);
    const payment = { pagador: { chave: KEY, infoPagador: 'Compra' }, pixCopiaECola: await codeOfOther() };
    expect(sdk.faultsOf('PixQrCodeBodySchema', payment)).toEqual([]);
    const paid = await sdk.client.pixQrCodePay({ idEnvio: 'a2' }, payment);
    expect(sdk.faultsOf('PixQrCodePayResponseSchema', paid)).toEqual([]);
    expect(paid).toMatchObject({ idEnvio: 'a2', valor: '45.00' });
  });

  it('lists sends page by page, with its own filters', async () => {
    for (const number of [1, 2, 3]) {
      await sdk.client.pixSend({ idEnvio: `a${String(number)}` }, order({ chave: RECEIVER }, `${String(number)}.00`));
    }
    psp.simulator.settleSend({ idEnvio: 'a2' });
    const page = { 'paginacao.paginaAtual': 1, 'paginacao.itensPorPagina': 2 };
    for (const [filter, ids] of [
      [{}, ['a1', 'a2', 'a3']],
      [page, ['a3']],
      [{ status: 'REALIZADO' }, ['a2']],
      [{ cpf: '12345678909', exibirCodigoBanco: true }, ['a1', 'a2', 'a3']],
    ] as const) {
      const list = await sdk.client.pixSendList({ ...EVER, ...filter });
      expect(sdk.faultsOf('PixSendListParamsSchema', { ...EVER, ...filter })).toEqual([]);
      expect(sdk.faultsOf('PixSendListResponseSchema', list)).toEqual([]);
      expect((list['pix'] as { idEnvio: string }[]).map(({ idEnvio }) => idEnvio)).toEqual(ids);
    }
  });

  it('reads the balance, its blocks and the webhook', async () => {
    psp.simulator.block({ clientId: DEFAULT_MERCHANT.clientId, judicial: 100, med: 250 });
    const withBlocks = await sdk.client.getAccountBalance({ bloqueios: true });
    expect(withBlocks).toEqual({ saldo: '996.50', bloqueios: { judicial: '1.00', med: '2.50', total: '3.50' } });
    const bare = await sdk.client.getAccountBalance({});
    expect(bare).toEqual({ saldo: '996.50' });
    for (const balance of [withBlocks, bare]) {
      expect(sdk.faultsOf('GetAccountBalanceResponseSchema', balance)).toEqual([]);
    }
    const webhook = await sdk.client.pixDetailWebhook({ chave: KEY });
    expect(sdk.faultsOf('PixDetailWebhookResponseSchema', webhook)).toEqual([]);
    expect(webhook).toMatchObject({ webhookUrl: WEBHOOK, chave: KEY });
  });

  it('throws the answer of a request that was refused', async () => {
    await sdk.client.pixSend({ idEnvio: 'a1' }, order({ chave: RECEIVER }));
    const refusals: [Promise<unknown>, object][] = [
      [sdk.client.pixSend({ idEnvio: 'a1' }, order({ chave: RECEIVER })), { nome: 'id_envio_duplicado' }],
      [sdk.client.pixSend({ idEnvio: 'a2' }, order({ chave: RECEIVER }, '0.00')), { nome: 'valor_invalido' }],
      [sdk.client.pixSendSameOwnership({ idEnvio: 'a2' }, order({ chave: RECEIVER })), { nome: expect.any(String) }],
      [sdk.client.pixSendDetailId({ idEnvio: 'a2' }), { status: 404, title: 'Não Encontrado' }],
      [sdk.client.pixSendList({ ...EVER, fim: '2019-01-01T00:00:00.000Z' }), { nome: 'valor_invalido' }],
    ];
    for (const [refused, body] of refusals) await expect(refused).rejects.toMatchObject(body);
  });

  it('finds only these differences in the form that the pages of Efí show', async () => {
    psp.simulator.change({ sends: { form: 'documented' } });
    const accepted = await sdk.client.pixSend({ idEnvio: 'a1' }, order({ chave: RECEIVER }));
    expect(accepted).toHaveProperty('e2eId');
    expect(sdk.faultsOf('PixSendResponseSchema', accepted)).toEqual(['endToEndId']);
    await sdk.client.pixSend({ idEnvio: 'a2' }, order({ contaBanco: ACCOUNT }));
    const [byKey, byAccount] = await Promise.all(
      ['a1', 'a2'].map((idEnvio) => sdk.client.pixSendDetailId({ idEnvio })),
    );
    expect(byKey).toMatchObject({
      favorecido: { identificacao: { nome: 'Francisco da Silva', cpf: '***.456.789-**' } },
    });
    expect(byAccount).toMatchObject({ favorecido: { contaBanco: { tipoConta: 'corrente' } } });
    for (const send of [byKey, byAccount]) {
      expect(sdk.faultsOf('PixSendDetailIdResponseSchema', send)).toEqual(['favorecido']);
    }
  });
});
