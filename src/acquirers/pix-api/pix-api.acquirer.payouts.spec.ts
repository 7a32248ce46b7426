import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { encodeBrCode } from '../../brazil/index.js';
import { Clock } from '../../core/clock.js';
import { createLogger } from '../../core/log/index.js';
import { Metrics } from '../../core/metrics/index.js';
import { type ReturnRequest, UnreadableAnswer } from '../acquirer.port.js';
import type { ListedPayout, PayoutDesk, PayoutOrder, UnreadablePayout } from '../payout-desk.port.js';
import { findDesk } from './desks/index.js';
import type { FeeSchedule } from './fees.js';
import { PixApiAcquirer } from './pix-api.acquirer.js';
import { PixApiClient } from './pix-api.client.js';
import { findProfile } from './profiles.js';
import { aConnection, aPage, aProblem, E2E, type FakePsp, PIX_KEY, type Reply, startPsp } from './psp.fixture.js';

const SEND_ID = '019aa0f0a1b27000800000000000abcd';
const RTR = 'D12345678202609091221abcdefghijk';
const NOW = new Date('2026-09-09T20:30:00Z');
const TAX_ID = '52998224725';
const ORDER: PayoutOrder = {
  accountId: 'a1',
  sendId: SEND_ID,
  amount: 1234,
  target: { type: 'pix_key', key: 'maria.segredo@example.com', taxId: TAX_ID },
  ownTaxId: null,
  description: 'Nota 7',
};
const FEE: FeeSchedule = {
  operation: 'payout',
  validFrom: '2026-01-01',
  bps: 119,
  fixed: 0,
  minimum: 50,
  maximum: null,
};

class StoppedClock extends Clock {
  override now(): Date {
    return NOW;
  }
}

/** A 201 of Efí, as its document shows it. */
function taken(own: object = {}): object {
  const horario = { solicitacao: '2026-09-09T20:29:59.905Z' };
  return { idEnvio: SEND_ID, e2eId: E2E, valor: '12.34', horario, status: 'EM_PROCESSAMENTO', ...own };
}

/** A sent Pix in a look-up or the list. */
function sent(own: object = {}): object {
  return {
    endToEndId: E2E,
    idEnvio: SEND_ID,
    valor: '12.34',
    chave: PIX_KEY,
    status: 'REALIZADO',
    infoPagador: 'Nota 7',
    horario: { solicitacao: '2026-09-09T20:20:00.000Z', liquidacao: '2026-09-09T20:20:01.000Z' },
    favorecido: { chave: 'maria.segredo@example.com', identificacao: { nome: 'Maria Segredo', cpf: '***.982.247-**' } },
    ...own,
  };
}

const efi = (nome: string, mensagem = 'Maria Segredo'): object => ({ nome, mensagem });

describe('the desk of Efí', () => {
  let psp: FakePsp;
  let client: PixApiClient;
  let acquirer: PixApiAcquirer;
  let desk: PayoutDesk;
  let metrics: Metrics;
  let log: string[];

  beforeEach(async () => {
    psp = await startPsp();
    const profile = findProfile('efi')!;
    const connection = aConnection(psp, { profile: 'efi', fees: [FEE] });
    client = new PixApiClient(connection, profile, { limits: { answerMs: 300, callMs: 1_000 } });
    metrics = new Metrics();
    log = [];
    const logger = createLogger('debug', { write: (line) => void log.push(line) });
    const deskOf = () => findDesk(profile.payouts.value);
    acquirer = new PixApiAcquirer('pix-api:c1', async () => client, new StoppedClock(), logger, metrics, deskOf);
    desk = acquirer.payouts!;
  });
  afterEach(async () => {
    await client.close();
    await psp.stop();
    expect(log.join('\n')).not.toMatch(/Maria|Segredo|52998224725|the-secret|Bearer/i);
  });

  const reply = (status: number, body?: unknown, headers: Record<string, string> = {}): void => {
    psp.script = () => ({ status, body, headers });
  };
  const asked = (): string[] => psp.exchanges.map(({ asked: { method, path } }) => `${method} ${path}`);
  const odd = async (what: string): Promise<number> =>
    (await metrics.acquirerOddAnswers.get()).values
      .filter(({ labels }) => labels.what === what)
      .reduce((sum, { value }) => sum + value, 0);

  describe('a send', () => {
    it('goes to a key under our id, and has its holder checked', async () => {
      reply(201, taken());
      expect(await desk.send(ORDER)).toEqual({ kind: 'accepted', endToEndId: E2E });
      expect(psp.exchanges.map(({ asked: { method, path, body } }) => ({ method, path, body }))).toEqual([
        {
          method: 'PUT',
          path: `/v3/gn/pix/${SEND_ID}`,
          body: {
            valor: '12.34',
            pagador: { chave: PIX_KEY, infoPagador: 'Nota 7' },
            favorecido: { chave: 'maria.segredo@example.com', cpf: TAX_ID },
          },
        },
      ]);
    });

    it.each<[string, Reply | 'drop' | 'hang', unknown]>([
      [
        'a 201 with the other name of the end-to-end id',
        { status: 201, body: taken({ e2eId: undefined, endToEndId: E2E }) },
        { kind: 'accepted', endToEndId: E2E },
      ],
      [
        'a 201 without an end-to-end id',
        { status: 201, body: taken({ e2eId: undefined }) },
        { kind: 'accepted', endToEndId: null },
      ],
      [
        'a 200 of a paid one',
        { status: 200, body: taken({ status: 'REALIZADO' }) },
        { kind: 'accepted', endToEndId: E2E },
      ],
      [
        'a 201 of a failed one',
        { status: 201, body: taken({ status: 'NAO_REALIZADO' }) },
        { kind: 'refused', reason: 'refused' },
      ],
      ['a status that nobody knows', { status: 201, body: taken({ status: 'EM_ESPERA' }) }, { kind: 'unknown' }],
      ['another amount', { status: 201, body: taken({ valor: '12.35' }) }, { kind: 'unknown' }],
      ['an amount that cannot be read', { status: 201, body: taken({ valor: '1.234,00' }) }, { kind: 'unknown' }],
      ['another id', { status: 201, body: taken({ idEnvio: 'x' }) }, { kind: 'unknown' }],
      ['no id', { status: 201, body: taken({ idEnvio: undefined }) }, { kind: 'unknown' }],
      ['another payer', { status: 201, body: taken({ chave: 'other@example.com' }) }, { kind: 'unknown' }],
      ['a 2xx without a body', { status: 204 }, { kind: 'unknown' }],
      ['a 2xx of HTML', { status: 200, text: '<html>' }, { kind: 'unknown' }],
      [
        'an account that is blocked',
        { status: 400, body: efi('documento_bloqueado') },
        { kind: 'refused', reason: 'refused' },
      ],
      [
        'a payer’s key of another account',
        { status: 400, body: efi('chave_invalida') },
        { kind: 'refused', reason: 'refused' },
      ],
      [
        'another holder of the key',
        { status: 400, body: efi('chave_nao_pertence_ao_documento') },
        { kind: 'refused', reason: 'destination_mismatch' },
      ],
      [
        'a wrong field',
        { status: 400, body: efi('valor_invalido') },
        { kind: 'refused', reason: 'destination_invalid' },
      ],
      [
        'a body against the schema',
        { status: 400, body: efi('json_invalido') },
        { kind: 'refused', reason: 'refused' },
      ],
      [
        'too small a balance',
        { status: 400, body: efi('saldo_insuficiente') },
        { kind: 'refused', reason: 'insufficient_funds' },
      ],
      [
        'a key that nobody has',
        { status: 404, body: efi('chave_favorecido_nao_encontrada') },
        { kind: 'refused', reason: 'destination_invalid' },
      ],
      ['a refusal by analysis', { status: 422, body: efi('pagamento_negado') }, { kind: 'refused', reason: 'refused' }],
      ['a name that Efí does not document', { status: 422, body: efi('envio_em_andamento') }, { kind: 'unknown' }],
      ['a name of every object', { status: 400, body: efi('constructor') }, { kind: 'unknown' }],
      ['a 404 of a gateway', { status: 404, body: { message: 'no Route matched' } }, { kind: 'unknown' }],
      ['a 404 without a body', { status: 404 }, { kind: 'unknown' }],
      ['an id in use', { status: 409, body: efi('id_envio_duplicado') }, { kind: 'unknown' }],
      ['a 409 with the name of a refusal', { status: 409, body: efi('valor_invalido') }, { kind: 'unknown' }],
      ['a 500', { status: 500, body: efi('erro_aplicacao') }, { kind: 'unknown' }],
      ['a 503 of a gateway', { status: 503, text: '<html>' }, { kind: 'unknown' }],
      ['a 408', { status: 408, body: {} }, { kind: 'unknown' }],
      ['a broken connection', 'drop', { kind: 'unknown' }],
      ['no answer in time', 'hang', { kind: 'unknown' }],
      [
        'no key look-ups left',
        { status: 429, body: efi('balde_fichas_vazio'), headers: { 'retry-after': '17' } },
        { kind: 'not_now', retryAfterMs: 17_000 },
      ],
      [
        'no key look-ups left, without a time',
        { status: 429, body: efi('balde_fichas_vazio') },
        { kind: 'not_now', retryAfterMs: 60_000 },
      ],
      [
        'a pause of nothing',
        { status: 429, headers: { 'retry-after': '0' } },
        { kind: 'not_now', retryAfterMs: 1_000 },
      ],
      [
        'a pause of a year',
        { status: 429, headers: { 'retry-after': '999999' } },
        { kind: 'not_now', retryAfterMs: 86_400_000 },
      ],
      [
        'a call that is not allowed',
        { status: 403, body: aProblem('AcessoNegado', 403) },
        { kind: 'not_now', retryAfterMs: 600_000 },
      ],
      [
        'a scope that was not granted',
        { status: 403, body: { error: 'insufficient_scope' } },
        { kind: 'refused', reason: 'refused' },
      ],
    ])('has the right outcome after %s', async (_, answer, expected) => {
      psp.script = () => answer;
      expect(await desk.send(ORDER)).toEqual(expected);
      // Each call may cost a look-up of a key, or money.
      expect(asked()).toEqual([`PUT /v3/gn/pix/${SEND_ID}`]);
    });

    it('is not made without a token, so that nothing can have happened', async () => {
      psp.tokenScript = () => ({ status: 401, body: {} });
      expect(await desk.send(ORDER)).toEqual({ kind: 'not_now', retryAfterMs: 5_000 });
      expect(asked()).toEqual([]);
    });

    it('is repeated with a new token when the PSP refuses the old one', async () => {
      psp.script = ({ headers }) =>
        headers.authorization === 'Bearer t1' ? { status: 401, body: {} } : { status: 201, body: taken() };
      expect(await desk.send(ORDER)).toMatchObject({ kind: 'accepted' });
    });

    it('is not made over a connection that cannot be used, or under an id that fits no path', async () => {
      const broken = new PixApiAcquirer(
        'pix-api:c1',
        () => Promise.reject(new Error('gone')),
        new StoppedClock(),
        createLogger('silent'),
        metrics,
        () => findDesk('efi'),
      );
      expect(await broken.payouts!.send(ORDER)).toMatchObject({ kind: 'not_now' });
      expect(await broken.payouts!.lookUp(ORDER)).toEqual({ kind: 'unknown' });
      const escaping = { ...ORDER, sendId: '../x' };
      expect(await desk.send(escaping)).toMatchObject({ kind: 'not_now' });
      expect(await desk.lookUp(escaping)).toEqual({ kind: 'unknown' });
      expect(asked()).toEqual([]);
    });
  });

  describe('a dynamic code', () => {
    const location = 'pix.example.com/qr/v2/9d36b84fc70b478fb95c12729b90ca25';
    const brCode = encodeBrCode({ kind: 'dynamic', location, merchantName: 'Loja', merchantCity: 'SAO PAULO' });
    const dynamic = { ...ORDER, target: { type: 'br_code', brCode, taxId: null } } as const;
    const details = (own: object = {}): Reply => ({
      status: 200,
      body: {
        tipoCob: 'cob',
        status: 'ATIVA',
        valor: { final: '12.34' },
        recebedor: { nome: 'Maria Segredo' },
        ...own,
      },
    });
    const script = (detail: Reply | 'hang'): void => {
      psp.script = ({ method }) => (method === 'POST' ? detail : { status: 201, body: taken() });
    };

    it('is paid once its amount is the ordered one', async () => {
      script(details());
      expect(await desk.send(dynamic)).toEqual({ kind: 'accepted', endToEndId: E2E });
      expect(asked()).toEqual(['POST /v2/gn/qrcodes/detalhar', `PUT /v2/gn/pix/${SEND_ID}/qrcode`]);
      expect(psp.exchanges[1]?.asked.body).toEqual({
        pagador: { chave: PIX_KEY, infoPagador: 'Nota 7' },
        pixCopiaECola: brCode,
      });
    });

    it.each<[string, Reply | 'hang', unknown]>([
      ['another amount', details({ valor: { final: '12.35' } }), { kind: 'refused', reason: 'destination_invalid' }],
      ['no amount', details({ valor: {} }), { kind: 'refused', reason: 'destination_invalid' }],
      ['a charge that was paid', details({ status: 'CONCLUIDA' }), { kind: 'refused', reason: 'destination_invalid' }],
      ['an unreadable answer', { status: 200, body: [] }, { kind: 'refused', reason: 'destination_invalid' }],
      [
        'a code that Efí refuses',
        { status: 422, body: aProblem('QrcodeOperacaoInvalida', 422) },
        { kind: 'refused', reason: 'destination_invalid' },
      ],
      ['an endpoint that is gone', { status: 404, body: {} }, { kind: 'refused', reason: 'refused' }],
      ['no look-ups left', { status: 429, headers: { 'retry-after': '9' } }, { kind: 'not_now', retryAfterMs: 9_000 }],
      [
        'a failure of Efí',
        { status: 500, body: aProblem('QrcodeErroInterno', 500) },
        { kind: 'not_now', retryAfterMs: 5_000 },
      ],
      ['no answer', 'hang', { kind: 'not_now', retryAfterMs: 5_000 }],
    ])('is not paid after %s', async (_, detail, expected) => {
      script(detail);
      expect(await desk.send(dynamic)).toEqual(expected);
      expect(asked()).toEqual(['POST /v2/gn/qrcodes/detalhar']);
    });

    it('is refused by name when the money does not suffice', async () => {
      const violations = [{ razao: 'Saldo insuficiente para realizar o pagamento', propriedade: 'qrcode.pagador' }];
      const refusal = { status: 400, body: aProblem('QrcodeOperacaoInvalida', 400, violations) };
      psp.script = ({ method }) => (method === 'POST' ? details() : refusal);
      expect(await desk.send(dynamic)).toEqual({ kind: 'refused', reason: 'insufficient_funds' });
    });
  });

  describe('a look-up', () => {
    it('asks by our id', async () => {
      reply(200, sent());
      expect(await desk.lookUp(ORDER)).toEqual({
        kind: 'paid',
        endToEndId: E2E,
        at: new Date('2026-09-09T20:20:01.000Z'),
        fee: 50,
        returns: [],
      });
      expect(asked()).toEqual([`GET /v2/gn/pix/enviados/id-envio/${SEND_ID}`]);
      expect(await odd('field')).toBe(0);
    });

    const processing = (solicitacao: string): object =>
      sent({ status: 'EM_PROCESSAMENTO', horario: { solicitacao, liquidacao: null } });
    it.each<[string, Reply, unknown]>([
      [
        'one that was just sent',
        { status: 200, body: processing('2026-09-09T20:29:00Z') },
        { kind: 'processing', reason: 'sent', endToEndId: E2E },
      ],
      [
        'one that takes long, as an examined one',
        { status: 200, body: processing('2026-09-09T20:27:00Z') },
        { kind: 'processing', reason: 'review', endToEndId: E2E },
      ],
      [
        'one without times',
        { status: 200, body: sent({ status: 'EM_PROCESSAMENTO', horario: null }) },
        { kind: 'processing', reason: 'sent', endToEndId: E2E },
      ],
      [
        'a paid one without times, by its end-to-end id',
        { status: 200, body: sent({ horario: {}, endToEndId: 'E12345678202609091221kkkkkkkkkkk' }) },
        { kind: 'paid', at: new Date('2026-09-09T12:21:00Z') },
      ],
      [
        'a failed one',
        { status: 200, body: sent({ status: 'NAO_REALIZADO', horario: null }) },
        { kind: 'failed', reason: 'refused' },
      ],
      [
        'one that Efí does not know',
        { status: 404, body: aProblem('PixEnviadoNaoEncontrado', 404) },
        { kind: 'not_found' },
      ],
      ['a 404 of a gateway', { status: 404, body: { message: 'no Route matched' } }, { kind: 'unknown' }],
      ['a 404 without a body', { status: 404 }, { kind: 'unknown' }],
      ['a status that nobody knows', { status: 200, body: sent({ status: 'DEVOLVIDO' }) }, { kind: 'unknown' }],
      ['another amount', { status: 200, body: sent({ valor: '12.3' }) }, { kind: 'unknown' }],
      ['another id', { status: 200, body: sent({ idEnvio: 'x' }) }, { kind: 'unknown' }],
      ['another payer', { status: 200, body: sent({ chave: 'other@example.com' }) }, { kind: 'unknown' }],
      ['a list', { status: 200, body: [sent()] }, { kind: 'unknown' }],
      ['a scope that was not granted', { status: 403, body: { error: 'insufficient_scope' } }, { kind: 'unknown' }],
      ['a refusal', { status: 400, body: efi('valor_invalido') }, { kind: 'unknown' }],
    ])('understands %s', async (_, answer, expected) => {
      psp.script = () => answer;
      expect(await desk.lookUp(ORDER)).toMatchObject(expected as object);
    });

    it('does not know the state after a failure', async () => {
      reply(500, efi('erro_aplicacao'));
      expect(await desk.lookUp(ORDER)).toEqual({ kind: 'unknown' });
    });

    it('has each return once, in every form', async () => {
      const devolucoes = [
        { rtrId: RTR, valor: '2.00', horario: '2026-09-09T20:25:00Z' },
        { rtrId: RTR, valor: '2.00', horario: '2026-09-09T20:25:00Z' },
        {
          id: 'x',
          rtrId: `${RTR}2`,
          valor: '1.5',
          horario: { solicitacao: '2026-09-09T20:26:00Z' },
          status: 'DEVOLVIDO',
          motivo: 'MD06',
        },
        { rtrId: `${RTR}3`, valor: '1.00', status: 'EM_PROCESSAMENTO' },
        { rtrId: `${RTR}4`, valor: '1.00', status: 'NAO_REALIZADO' },
      ];
      reply(200, sent({ devolucoes }));
      expect(await desk.lookUp(ORDER)).toMatchObject({
        kind: 'paid',
        returns: [
          { returnId: RTR, endToEndId: RTR, amount: 200, reason: null, at: new Date('2026-09-09T20:25:00Z') },
          { returnId: `${RTR}2`, amount: 150, reason: 'MD06', at: new Date('2026-09-09T20:26:00Z') },
        ],
      });
      expect(await odd('field')).toBe(0);
    });

    it.each([
      ['no id', { valor: '1.00' }],
      ['an id that fits no path', { rtrId: 'D 1', valor: '1.00' }],
      ['no amount', { rtrId: `${RTR}9` }],
      ['an amount of nothing', { rtrId: `${RTR}9`, valor: '0.00' }],
      ['a status that nobody knows', { rtrId: `${RTR}9`, valor: '1.00', status: 'TALVEZ' }],
      ['no form', 7],
    ])('leaves out a return with %s, which does not hide the payment', async (_, bad) => {
      reply(200, sent({ devolucoes: [bad, { rtrId: RTR, valor: '2.00' }] }));
      expect(await desk.lookUp(ORDER)).toMatchObject({
        kind: 'paid',
        returns: [{ returnId: RTR, amount: 200, at: NOW }],
      });
      expect(await odd('field')).toBe(1);
    });

    it('does not believe that more came back than was sent', async () => {
      reply(200, sent({ devolucoes: [{ rtrId: RTR, valor: '12.35' }] }));
      expect(await desk.lookUp(ORDER)).toEqual({ kind: 'unknown' });
      expect(await odd('other_amount')).toBe(1);
    });
  });

  describe('the list of payouts', () => {
    const FROM = new Date('2026-09-09T12:00:00Z');
    const TO = new Date('2026-09-09T21:00:00Z');
    const read = async (): Promise<(ListedPayout | UnreadablePayout)[]> => {
      const listed = [];
      for await (const one of desk.list!(FROM, TO)) listed.push(one);
      return listed;
    };
    const all = (...pix: object[]): void => {
      psp.script = ({ query }) => ({ status: 200, body: aPage(query['inicio'] === '2026-09-09T12:00:00Z' ? pix : []) });
    };

    it('has those of a time, with their states, returns and hints', async () => {
      const times = { solicitacao: '2026-09-09T13:00:00Z' };
      all(
        sent({ devolucoes: [{ rtrId: RTR, valor: '2.00' }] }),
        sent({ endToEndId: 'e2', idEnvio: 'p2', status: 'EM_PROCESSAMENTO', horario: times }),
        sent({ endToEndId: 'e3', idEnvio: 'p3', status: 'NAO_REALIZADO', horario: times }),
        sent({ endToEndId: 'e4', idEnvio: undefined, chave: undefined, horario: times }),
        sent({ endToEndId: 'e5', idEnvio: 'p5', chave: 'other@example.com' }),
        sent({ endToEndId: 'e6', idEnvio: 'p6', horario: { solicitacao: '2026-09-09T11:59:59.9Z' } }),
      );
      expect(await read()).toMatchObject([
        {
          sendId: SEND_ID,
          endToEndId: E2E,
          amount: 1234,
          at: new Date('2026-09-09T20:20:00Z'),
          state: { kind: 'paid', fee: 50, returns: [{ returnId: RTR }] },
          hint: { kind: 'payout', reference: `${SEND_ID}/REALIZADO.1` },
        },
        { sendId: 'p2', state: { kind: 'processing' }, hint: { reference: 'p2/EM_PROCESSAMENTO' } },
        { sendId: 'p3', state: { kind: 'failed' }, hint: { reference: 'p3/NAO_REALIZADO' } },
        { sendId: null, amount: 1234, state: { kind: 'paid' }, hint: null },
      ]);
      expect(psp.exchanges[0]?.asked).toMatchObject({
        method: 'GET',
        path: '/v2/gn/pix/enviados',
        query: { inicio: '2026-09-09T12:00:00Z', fim: '2026-09-09T18:00:00Z', 'paginacao.paginaAtual': '0' },
      });
    });

    it('shows entries that cannot be read', async () => {
      all(
        sent({ valor: '1,00' }),
        sent({ endToEndId: 'e2', idEnvio: 'p2', status: 'TALVEZ' }),
        sent({ endToEndId: 'e3', idEnvio: 'p3', valor: {} }),
        sent({ endToEndId: 'e4', idEnvio: 'p4', devolucoes: [{ valor: '1.00' }] }),
        { endToEndId: 'e5', idEnvio: '../x' },
      );
      const unreadable = { amount: null, state: { kind: 'unknown' } };
      expect(await read()).toMatchObject([
        { ...unreadable, sendId: SEND_ID, hint: { reference: `${SEND_ID}/REALIZADO` } },
        { ...unreadable, sendId: 'p2', hint: { reference: 'p2/TALVEZ' } },
        { ...unreadable, sendId: 'p3', hint: { reference: 'p3/UNREADABLE' } },
        { ...unreadable, sendId: 'p4' },
        { ...unreadable, sendId: null, endToEndId: 'e5', hint: null },
      ]);
    });

    it('is read in its bare form, and is empty after a 404', async () => {
      psp.script = ({ query }) => ({ status: 200, body: query['inicio'] === '2026-09-09T12:00:00Z' ? [sent()] : [] });
      expect(await read()).toMatchObject([{ sendId: SEND_ID }]);
      reply(404, aProblem('PixEnviadoNaoEncontrado', 404));
      expect(await read()).toEqual([]);
    });

    it('throws when it cannot be read', async () => {
      reply(200, { erro: 'x' });
      await expect(read()).rejects.toMatchObject({ reason: 'malformed_answer' });
      reply(400, efi('valor_invalido'));
      await expect(read()).rejects.toMatchObject({ reason: 'valor_invalido' });
    });
  });

  describe('the balance', () => {
    it('has its blocks', async () => {
      reply(200, { saldo: '1234.56', bloqueios: { judicial: '0.00', med: '7.5', total: '7.50' } });
      expect(await desk.balance!()).toEqual({ available: 123_456, blocked: { judicial: 0, med: 750 } });
      expect(psp.exchanges[0]?.asked).toMatchObject({ path: '/v2/gn/saldo', query: { bloqueios: 'true' } });
    });

    it('may be below zero', async () => {
      reply(200, { saldo: '-0.50', bloqueios: { total: '0.00' } });
      expect(await desk.balance!()).toEqual({ available: -50, blocked: {} });
    });

    it.each([
      ['without its blocks', { saldo: '1.00' }],
      ['whose total is another one', { saldo: '1.00', bloqueios: { med: '1.00', total: '2.00' } }],
      ['with a block that cannot be read', { saldo: '1.00', bloqueios: { med: '1,00', total: '1.00' } }],
      ['with a total that cannot be read', { saldo: '1.00', bloqueios: { med: '1.00', total: 'x' } }],
      ['that cannot be read', { saldo: '1,00', bloqueios: {} }],
      ['of nothing', null],
    ])('throws for one %s', async (_, body) => {
      reply(200, body);
      await expect(desk.balance!()).rejects.toThrow(UnreadableAnswer);
    });
  });

  describe('a refund by cashout', () => {
    const REQUEST: ReturnRequest = {
      accountId: 'a1',
      way: 'cashout',
      reference: 'E12345678202009091221kkkkkkkkkkk',
      returnId: SEND_ID,
      cause: 'refund',
      amount: 1234,
      currency: 'BRL',
      destination: '529.982.247-25',
    };

    it('goes to the key, under the refund’s id', async () => {
      expect(acquirer.capabilities.refunds).toEqual({ PIX: ['cashout', 'devolution'] });
      reply(201, taken());
      expect(await acquirer.requestReturn(REQUEST)).toEqual({ kind: 'in_progress' });
      expect(psp.exchanges[0]?.asked).toMatchObject({
        method: 'PUT',
        path: `/v3/gn/pix/${SEND_ID}`,
        body: { valor: '12.34', pagador: { chave: PIX_KEY }, favorecido: { chave: TAX_ID, cpf: TAX_ID } },
      });
    });

    it.each<[string, Reply | 'drop', unknown]>([
      ['an id in use', { status: 409, body: efi('id_envio_duplicado') }, { kind: 'in_progress' }],
      ['a lost answer', 'drop', { kind: 'in_progress' }],
      ['a pause', { status: 429 }, { kind: 'in_progress' }],
      ['a refusal', { status: 422, body: efi('pagamento_negado') }, { kind: 'failed', reason: 'refused' }],
      [
        'an empty account',
        { status: 400, body: efi('saldo_insuficiente') },
        { kind: 'failed', reason: 'insufficient_funds' },
      ],
      [
        'an unknown key',
        { status: 404, body: efi('chave_favorecido_nao_encontrada') },
        { kind: 'failed', reason: 'destination_invalid' },
      ],
      [
        'another holder',
        { status: 400, body: efi('chave_nao_pertence_ao_documento') },
        { kind: 'failed', reason: 'destination_invalid' },
      ],
    ])('has the right outcome after %s', async (_, answer, expected) => {
      psp.script = () => answer;
      expect(await acquirer.requestReturn(REQUEST)).toEqual(expected);
    });

    it.each<[string, Reply, unknown]>([
      ['a paid one', { status: 200, body: sent() }, { kind: 'returned', bankReference: E2E, fee: 50 }],
      [
        'one of which a part came back',
        { status: 200, body: sent({ devolucoes: [{ rtrId: RTR, valor: '2.00' }] }) },
        { kind: 'returned', bankReference: E2E, fee: 50 },
      ],
      [
        'one that came back',
        { status: 200, body: sent({ devolucoes: [{ rtrId: RTR, valor: '12.34' }] }) },
        { kind: 'failed', reason: 'destination_invalid' },
      ],
      ['one on its way', { status: 200, body: sent({ status: 'EM_PROCESSAMENTO' }) }, { kind: 'in_progress' }],
      ['a failed one', { status: 200, body: sent({ status: 'NAO_REALIZADO' }) }, { kind: 'failed', reason: 'refused' }],
      ['an unreadable one', { status: 200, body: sent({ valor: 'x' }) }, { kind: 'in_progress' }],
      ['an unknown one', { status: 404, body: aProblem('PixEnviadoNaoEncontrado', 404) }, { kind: 'not_found' }],
    ])('understands a look-up of %s', async (_, answer, expected) => {
      psp.script = () => answer;
      expect(await acquirer.getReturn(REQUEST)).toEqual(expected);
    });

    it('needs a Pix key and a connection with a desk', async () => {
      const nowhere = { ...REQUEST, destination: 'somebody' };
      expect(await acquirer.requestReturn(nowhere)).toEqual({ kind: 'failed', reason: 'destination_invalid' });
      const standard = new PixApiAcquirer(
        'pix-api:c1',
        async () => client,
        new StoppedClock(),
        createLogger('silent'),
        metrics,
      );
      expect(standard.payouts).toBeUndefined();
      expect(standard.capabilities.refunds).toEqual({ PIX: ['devolution'] });
      expect(await standard.requestReturn(REQUEST)).toMatchObject({ kind: 'failed' });
      expect(await standard.getReturn(REQUEST)).toEqual({ kind: 'not_found' });
      expect(asked()).toEqual([]);
    });
  });
});
