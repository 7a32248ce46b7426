import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Clock } from '../../core/clock.js';
import { createLogger } from '../../core/log/index.js';
import { Metrics } from '../../core/metrics/index.js';
import {
  type PixChargeRequest,
  type PixIssueOutcome,
  type ReturnRequest,
  type StatementLine,
  UnreadableAnswer,
  type UnreadableLine,
} from '../acquirer.port.js';
import { PixApiAcquirer } from './pix-api.acquirer.js';
import { PixApiClient } from './pix-api.client.js';
import { findProfile } from './profiles.js';
import {
  aCob,
  aConnection,
  aPage,
  aPix,
  aProblem,
  aReturn,
  E2E,
  type FakePsp,
  PIX_KEY,
  type Reply,
  startPsp,
  TXID,
} from './psp.fixture.js';

const PERSON = { cpf: '52998224725', nome: 'Maria Segredo' };
const REQUEST: PixChargeRequest = {
  txid: TXID,
  amount: 11_000,
  expiresAt: new Date('2026-09-09T21:15:00Z'),
  merchant: { name: 'Loja', city: 'SAO PAULO' },
  payer: { name: PERSON.nome, document: PERSON.cpf },
};
const RETURN: ReturnRequest = {
  accountId: 'a1',
  way: 'devolution',
  reference: E2E,
  returnId: 'r1',
  cause: 'refund',
  amount: 789,
  currency: 'BRL',
  destination: null,
};
const OTHER_KEY = 'other@example.com';

class StoppedClock extends Clock {
  constructor(public at = new Date('2026-09-09T20:30:00Z')) {
    super();
  }
  override now(): Date {
    return this.at;
  }
}

describe('PixApiAcquirer', () => {
  let psp: FakePsp;
  let client: PixApiClient;
  let acquirer: PixApiAcquirer;
  let metrics: Metrics;
  let log: string[];
  let connection: () => Promise<PixApiClient>;
  let clock: StoppedClock;

  beforeEach(async () => {
    psp = await startPsp();
    client = new PixApiClient(aConnection(psp), findProfile('standard')!);
    metrics = new Metrics();
    log = [];
    const logger = createLogger('debug', { write: (line) => void log.push(line) });
    connection = async () => client;
    clock = new StoppedClock();
    acquirer = new PixApiAcquirer('pix-api:c1', () => connection(), clock, logger, metrics);
  });
  afterEach(async () => {
    await client.close();
    await psp.stop();
    // Checked after every test: the log names no person and no secret.
    expect(log.join('\n')).not.toMatch(/Maria|52998224725|the-secret|Bearer/);
  });

  const reply = (status: number, body: unknown): void => {
    psp.script = () => ({ status, body });
  };
  const asked = (): string[] => psp.exchanges.map(({ asked: { method, path } }) => `${method} ${path}`);
  const issue = async (): Promise<PixIssueOutcome> => {
    const outcome = await acquirer.pixIssuer.issue(REQUEST);
    if (!('kind' in outcome)) throw new Error('it is remote');
    return outcome;
  };
  const odd = async (what: string): Promise<number> =>
    (await metrics.acquirerOddAnswers.get()).values
      .filter(({ labels }) => labels.what === what)
      .reduce((sum, { value }) => sum + value, 0);

  describe('a charge', () => {
    it('is created under our txid', async () => {
      reply(201, aCob());
      expect(await issue()).toMatchObject({ kind: 'issued', brCode: expect.stringMatching(/^000201/) as unknown });
      expect(psp.exchanges[0]?.asked).toMatchObject({
        method: 'PUT',
        path: `/cob/${TXID}`,
        body: { calendario: { expiracao: 2700 }, devedor: PERSON, valor: { original: '110.00' }, chave: PIX_KEY },
      });
    });

    it('is not created once its time for paying is over, and no request is sent', async () => {
      reply(201, aCob());
      const expiresAt = new StoppedClock().now();
      expect(await acquirer.pixIssuer.issue({ ...REQUEST, expiresAt })).toEqual({ kind: 'unavailable' });
      expect(asked()).toEqual([]);
    });

    it.each([
      ['another txid', { txid: 'x'.repeat(32) }, 'other_txid'],
      ['another key', { chave: OTHER_KEY }, 'other_key'],
      ['no code', { location: null, loc: null }, 'no_br_code'],
      ['no sense', { valor: PERSON }, 'malformed'],
    ])('has an unknown outcome when the answer has %s', async (_, own, what) => {
      reply(201, aCob({ devedor: PERSON, ...own }));
      expect(await issue()).toEqual({ kind: 'unknown' });
      expect(await odd(what)).toBe(1);
    });

    it('is refused with a reason that names the field and repeats no personal data', async () => {
      const violacoes = [{ razao: `Maria ${PERSON.cpf}`, propriedade: 'cob.devedor.cpf', valor: PERSON.cpf }];
      reply(400, aProblem('CobOperacaoInvalida', 400, violacoes));
      expect(await issue()).toEqual({
        kind: 'refused',
        code: 'CobOperacaoInvalida',
        reason: 'The acquirer refused the charge: cob.devedor.cpf.',
      });
    });

    it.each([
      ['a 412', 412, undefined],
      ['a 412 with words', 412, { title: 'Pré-condição falhou' }],
      ['a property', 400, aProblem('CobOperacaoInvalida', 400, [{ razao: 'x', propriedade: 'cob.chave' }])],
      ['a reason', 400, { detail: 'A chave informada não pertence ao usuário recebedor' }],
      ['a code', 422, { type: 'https://pix.example/error/ChaveNaoCadastrada' }],
    ])('is refused because of the connection’s Pix key after %s', async (_, status, body) => {
      reply(status, body);
      expect(await issue()).toMatchObject({ kind: 'refused', fault: 'connection' });
      expect(log.join('')).toContain('refuses the connection’s Pix key');
    });

    it.each([
      ['110.01', { status: 'REMOVIDA_PELO_USUARIO_RECEBEDOR' }, 'refused'],
      ['11.00', { status: 'REMOVIDA_PELO_USUARIO_RECEBEDOR' }, 'refused'],
      ['1,10', { status: 'REMOVIDA_PELO_USUARIO_RECEBEDOR' }, 'refused'],
      ['110.01', {}, 'unknown'],
    ])(
      'is cancelled when the PSP created it over R$ %s instead of 110.00; the PSP then answers %j',
      async (original, after, outcome) => {
        const valor = { original };
        psp.script = ({ method }) => ({ status: 200, body: aCob({ valor, ...(method === 'PATCH' ? after : {}) }) });
        if (outcome === 'refused') expect(await issue()).toMatchObject({ kind: outcome, fault: 'acquirer' });
        else await expect(issue()).rejects.toThrow('not_removed');
        expect(asked()).toEqual([`PUT /cob/${TXID}`, `PATCH /cob/${TXID}`]);
        expect(await odd('other_amount')).toBe(1);
        // A later query does not show the charge as payable either.
        const state = acquirer.getPixCharge(TXID, REQUEST.amount);
        if (outcome === 'refused')
          expect(await state).toMatchObject({ kind: 'found', brCode: '', isOtherAmount: true });
        else await expect(state).rejects.toThrow('not_removed');
      },
    );

    it('is not cancelled if it was paid over another amount, and its payment is reported', async () => {
      reply(200, aCob({ status: 'CONCLUIDA', valor: { original: '1.00' }, pix: [aPix()] }));
      const state = await acquirer.getPixCharge(TXID, REQUEST.amount);
      expect(state).toMatchObject({ brCode: '', payments: [{ reference: E2E }], isOtherAmount: true });
      expect(asked()).toEqual([`GET /cob/${TXID}`]);
    });

    it.each(['', null, undefined, '7D9F0335-8DCC-4054-9BF9-0DBD61D36906', '7d9f03358dcc40549bf90dbd61d36906'])(
      'is ours by its txid when its key is %j',
      async (chave) => {
        reply(201, aCob({ chave }));
        expect(await issue()).toMatchObject({ kind: 'issued' });
      },
    );

    it('never cuts a name in the middle of a character', async () => {
      reply(201, aCob());
      const letters = 'a'.repeat(199);
      for (const [name, nome] of [
        [`${letters}😀`, letters],
        [`${letters.slice(1)}😀`, `${letters.slice(1)}😀`],
        [`${letters.slice(1)}👩‍👩‍👧`, letters.slice(1)],
        [`${letters}${'ã'.normalize('NFD')}`, letters],
        ['Ana \ud83d', 'Ana \ufffd'],
      ]) {
        await acquirer.pixIssuer.issue({ ...REQUEST, payer: { name: name ?? null, document: PERSON.cpf } });
        const [{ asked: sent } = {}] = psp.exchanges.slice(-1);
        expect((sent?.body as { devedor: { nome: string } }).devedor.nome).toBe(nome);
        expect(sent?.text).not.toMatch(/\\ud[89a-f]/i);
      }
    });

    it('passes on the client’s result: unavailable or unknown', async () => {
      psp.script = () => 'drop';
      expect(await issue()).toEqual({ kind: 'unknown' });
      psp.script = () => ({ status: 429, headers: { 'retry-after': '0' } });
      expect(await issue()).toEqual({ kind: 'unavailable' });
    });

    it('is unavailable when its connection cannot be loaded, and no request is sent', async () => {
      connection = () => Promise.reject(new Error('the seal is broken'));
      expect(await issue()).toEqual({ kind: 'unavailable' });
      expect(log.join('')).toContain('the seal is broken');
      expect(asked()).toEqual([]);
    });

    it('is never created with an invalid txid', async () => {
      for (const txid of ['../../pix', 'short', `${'x'.repeat(26)}?`]) {
        await expect(acquirer.getPixCharge(txid)).rejects.toThrow(RangeError);
        await expect(acquirer.cancel(txid)).rejects.toThrow(RangeError);
      }
      expect(asked()).toEqual([]);
    });

    it('is found with its code and its payments', async () => {
      reply(200, aCob({ status: 'CONCLUIDA', pix: [aPix()] }));
      expect(await acquirer.getPixCharge(TXID)).toMatchObject({
        kind: 'found',
        ended: null,
        payments: [{ reference: E2E }],
      });
      reply(200, aCob({ status: 'REMOVIDA_PELO_PSP', location: null, loc: null }));
      expect(await acquirer.getPixCharge(TXID)).toMatchObject({ brCode: '', ended: { end: 'refused' }, payments: [] });
      reply(200, aCob({ calendario: { criacao: '2026-09-09T20:15:00Z', expiracao: 60 } }));
      expect(await acquirer.getPixCharge(TXID)).toMatchObject({
        ended: { end: 'expired', at: new Date('2026-09-09T20:16:00Z') },
      });
      const withoutCode = { location: null, loc: null, pixCopiaECola: null };
      reply(200, aCob({ ...withoutCode, pix: [aPix()] }));
      expect(await acquirer.getPixCharge(TXID)).toMatchObject({ brCode: '', payments: [{ reference: E2E }] });
      reply(200, aCob(withoutCode));
      await expect(acquirer.getPixCharge(TXID)).rejects.toMatchObject({ kind: 'unknown' });
      reply(404, aProblem('CobNaoEncontrado', 404));
      expect(await acquirer.getPixCharge(TXID)).toEqual({ kind: 'not_found' });
    });

    it('has its payment looked up in the list if its answer does not name one', async () => {
      const other = 'E12345678202009091221zzzzzzzzzzz';
      psp.script = ({ path }) => ({
        status: 200,
        body:
          path === '/pix'
            ? aPage([aPix(), aPix({ endToEndId: other, txid: 'y'.repeat(26) })])
            : aCob({ status: 'CONCLUIDA' }),
      });
      expect(await acquirer.getPixCharge(TXID)).toMatchObject({
        kind: 'found',
        ended: null,
        payments: [{ reference: E2E }],
      });
      expect(psp.exchanges[1]?.asked.query).toMatchObject({
        txid: TXID,
        inicio: '2026-09-09T20:15:00Z',
        fim: '2026-09-09T20:29:57Z',
      });
    });

    it.each([
      ['its answer', [aPix({ endToEndId: 7 })]],
      ['the list', undefined],
    ])('does not count as unpaid when its payment in %s cannot be read', async (_, pix) => {
      psp.script = ({ path }) => ({
        status: 200,
        body: path === '/pix' ? aPage([aPix({ endToEndId: 'E1' })]) : aCob({ status: 'CONCLUIDA', pix }),
      });
      await expect(acquirer.getPixCharge(TXID)).rejects.toThrow(UnreadableAnswer);
      expect(await odd('malformed')).toBe(1);
    });

    it('reports a payment whose id is readable, even if its other fields are not', async () => {
      reply(200, aCob({ status: 'CONCLUIDA', pix: [aPix({ valor: 7, horario: 'x' }), null] }));
      expect(await acquirer.getPixCharge(TXID)).toMatchObject({ kind: 'found', payments: [{ reference: E2E }] });
    });

    it('is neither found nor absent when the answer is about another charge', async () => {
      for (const own of [{ txid: 'x'.repeat(32) }, { chave: OTHER_KEY }]) {
        reply(200, aCob(own));
        await expect(acquirer.getPixCharge(TXID)).rejects.toMatchObject({ kind: 'unknown' });
      }
    });

    it.each([{ status: 7 }, { valor: '110.00' }])('exists but cannot be read: %j', async (own) => {
      reply(200, aCob(own));
      await expect(acquirer.getPixCharge(TXID)).rejects.toThrow(UnreadableAnswer);
      await expect(acquirer.getStatus(TXID)).rejects.toMatchObject({ kind: 'unknown' });
    });

    it('is cancelled; an absent, paid or removed charge is no error', async () => {
      reply(200, aCob({ status: 'REMOVIDA_PELO_USUARIO_RECEBEDOR' }));
      await acquirer.cancel(TXID);
      expect(psp.exchanges[0]?.asked).toMatchObject({
        method: 'PATCH',
        body: { status: 'REMOVIDA_PELO_USUARIO_RECEBEDOR' },
      });
      reply(404, aProblem('CobNaoEncontrado', 404));
      await acquirer.cancel(TXID);
      const refuse = (state: Record<string, unknown>): void => {
        psp.script = ({ method }): Reply =>
          method === 'GET'
            ? { status: 200, body: aCob(state) }
            : { status: 400, body: aProblem('CobOperacaoInvalida', 400) };
      };
      refuse({ status: 'CONCLUIDA', pix: [aPix()] });
      await acquirer.cancel(TXID);
      refuse({ status: 'REMOVIDA_PELO_PSP' });
      await acquirer.cancel(TXID);
      // The charge was paid, but the PSP does not name the payment.
      refuse({ status: 'CONCLUIDA' });
      await acquirer.cancel(TXID);
      refuse({});
      await expect(acquirer.cancel(TXID)).rejects.toThrow('cob.patch');
    });

    it('does not count as removed if the PSP accepts the removal but still shows the charge', async () => {
      const answer = (body: unknown, state: Record<string, unknown>): void => {
        psp.script = ({ method }): Reply => ({ status: 200, body: method === 'GET' ? aCob(state) : body });
      };
      const removed = { status: 'REMOVIDA_PELO_USUARIO_RECEBEDOR' };
      for (const body of ['<html>', {}, aCob({ ...removed, txid: `${TXID.slice(0, -1)}x` })]) {
        answer(body, {});
        await expect(acquirer.cancel(TXID)).rejects.toThrow('cob.patch: not_removed (unknown)');
        // A query shows that the charge is removed.
        answer(body, removed);
        await acquirer.cancel(TXID);
      }
      answer(aCob(), removed);
      await expect(acquirer.cancel(TXID)).rejects.toThrow('cob.patch: not_removed (unknown)');
    });

    it('has a provider status without names of persons', async () => {
      reply(200, aCob({ devedor: PERSON }));
      const status = await acquirer.getStatus(TXID);
      expect(status).toMatchObject({ status: 'ATIVA', raw: { txid: TXID } });
      expect(JSON.stringify(status)).not.toContain(PERSON.cpf);
      reply(404, aProblem('CobNaoEncontrado', 404));
      expect(await acquirer.getStatus(TXID)).toBeNull();
    });
  });

  describe('a Pix', () => {
    it('has the data that the PSP confirms', async () => {
      reply(200, aPix({ pagador: PERSON }));
      expect(await acquirer.getPix(E2E)).toMatchObject({
        endToEndId: E2E,
        txid: TXID,
        amount: 11_000,
        payerDocument: PERSON.cpf,
      });
      reply(404, aProblem('PixNaoEncontrado', 404));
      expect(await acquirer.getPix(E2E)).toBeNull();
    });

    it.each([
      ['another key', { chave: OTHER_KEY }, 'other_key', 'foreign'],
      ['another id', { endToEndId: 'E'.repeat(32) }, 'other_id', null],
    ])('is not ours with %s', async (_, own, what, answer) => {
      reply(200, aPix({ pagador: PERSON, ...own }));
      expect(await acquirer.getPix(E2E)).toBe(answer);
      expect(await odd(what)).toBe(1);
      expect(log.join('')).toContain(E2E);
    });

    it.each([
      ['an amount that could be two', { valor: '1,234.5' }],
      ['no amount', { valor: '' }],
      ['no id', { endToEndId: 7 }],
    ])('cannot be read, but still exists, with %s', async (_, own) => {
      reply(200, aPix({ pagador: PERSON, ...own }));
      await expect(acquirer.getPix(E2E)).rejects.toThrow(UnreadableAnswer);
      await expect(acquirer.getDispute(`${E2E}/m1`)).rejects.toThrow(UnreadableAnswer);
      expect(await odd('malformed')).toBe(2);
      expect(log.join('')).toContain(E2E);
      // A Pix to another key does not concern us, whatever else it says.
      reply(200, aPix({ ...own, chave: OTHER_KEY }));
      expect(await acquirer.getPix(E2E)).toBe('foreign');
    });

    it.each(['110.0', '110'])('is credited with the amount written as %s', async (valor) => {
      reply(200, aPix({ valor }));
      expect(await acquirer.getPix(E2E)).toMatchObject({ amount: 11_000 });
    });

    it.each([
      ['as a number', 52_998_224_725, {}],
      ['as a number, of a Pix that cannot be read', 52_998_224_725, { valor: '1,234.5' }],
    ])('is not ours if it names another key, written %s', async (_, chave, own) => {
      reply(200, aPix({ chave, txid: undefined, ...own }));
      expect(await acquirer.getPix(E2E)).toBe('foreign');
    });

    it.each([
      ['a list', { chave: [OTHER_KEY] }],
      ['an object', { chave: { chave: OTHER_KEY } }],
      ['a fraction', { chave: 7.5 }],
      ['an object in place of the txid', { txid: { txid: TXID } }],
    ])('cannot be read if its key is %s', async (_, own) => {
      reply(200, aPix(own));
      await expect(acquirer.getPix(E2E)).rejects.toThrow(UnreadableAnswer);
    });

    it('cannot be read if neither its key nor the key of its charge can', async () => {
      psp.script = ({ path }) => ({
        status: 200,
        body: path.startsWith('/cob/') ? aCob({ chave: [OTHER_KEY] }) : aPix({ chave: undefined }),
      });
      await expect(acquirer.getPix(E2E)).rejects.toThrow(UnreadableAnswer);
    });

    it('is ours without a key when its charge is ours', async () => {
      const script = (chave: string): void => {
        psp.script = ({ path }) => ({
          status: 200,
          body: path.startsWith('/cob/') ? aCob({ chave }) : aPix({ chave: undefined }),
        });
      };
      script(PIX_KEY);
      expect(await acquirer.getPix(E2E)).toMatchObject({ endToEndId: E2E });
      script(OTHER_KEY);
      expect(await acquirer.getPix(E2E)).toBe('foreign');
      // If the query for the charge is refused, nobody knows whether the Pix is ours.
      psp.script = ({ path }) =>
        path.startsWith('/cob/')
          ? { status: 400, body: aProblem('CobConsultaInvalida', 400) }
          : { status: 200, body: aPix({ chave: undefined }) };
      await expect(acquirer.getPix(E2E)).rejects.toThrow(UnreadableAnswer);
    });

    it('is credited even if its returns cannot be read', async () => {
      const devolucoes = [{ id: 'm1', natureza: 'MED_FRAUDE', valor: '7.89' }, 7, aReturn()];
      reply(200, aPix({ devolucoes }));
      expect(await acquirer.getPix(E2E)).toMatchObject({ endToEndId: E2E, amount: 11_000 });
      await expect(acquirer.getDispute(`${E2E}/m1`)).rejects.toThrow(UnreadableAnswer);
      // The return without an id may be the requested one.
      await expect(acquirer.getDispute(`${E2E}/m2`)).rejects.toThrow(UnreadableAnswer);
      expect(await odd('malformed')).toBe(2);
      reply(200, aPage([aPix({ devolucoes })]));
      const lines: (StatementLine | UnreadableLine)[] = [];
      clock.at = new Date('2026-09-12T00:00:00Z');
      const window = { from: new Date('2026-09-10T13:00:00Z'), to: new Date('2026-09-10T14:00:00Z') };
      for await (const line of acquirer.statement(window)) lines.push(line);
      expect(lines).toEqual([
        { pix: expect.objectContaining({ endToEndId: E2E }), returns: [expect.objectContaining({ returnId: 'r1' })] },
        { what: 'return', endToEndId: E2E, returnId: 'm1', hint: { kind: 'dispute', reference: `${E2E}/m1` } },
        { what: 'return', endToEndId: E2E, returnId: null, hint: null },
      ]);
    });

    it('is not queried by an invalid id', async () => {
      expect(await acquirer.getPix('../cob/x')).toBeNull();
      expect(await acquirer.getDispute('x/y')).toBeNull();
      expect(asked()).toEqual([]);
    });

    it('throws when the PSP cannot be reached', async () => {
      reply(400, aProblem('PixConsultaInvalida', 400));
      await expect(acquirer.getPix(E2E)).rejects.toMatchObject({ kind: 'unknown' });
    });
  });

  describe('a dispute', () => {
    it('is read from a return that the bank made', async () => {
      const devolucoes = [aReturn(), aReturn({ id: 'm1', natureza: 'MED_FRAUDE', status: 'DEVOLVIDO' })];
      reply(200, aPix({ devolucoes }));
      expect(await acquirer.getDispute(`${E2E}/m1`)).toMatchObject({
        reference: `${E2E}/m1`,
        status: 'closed',
        result: 'agreed',
        amount: 789,
        txid: TXID,
      });
      expect(await acquirer.getDispute(`${E2E}/none`)).toBeNull();
      expect(await acquirer.getDispute(`${E2E}/r1`)).toBeNull();
    });
  });

  describe('a return', () => {
    it('is requested under its id', async () => {
      reply(201, aReturn());
      expect(await acquirer.requestReturn(RETURN)).toEqual({ kind: 'in_progress' });
      expect(psp.exchanges[0]?.asked).toMatchObject({
        method: 'PUT',
        path: `/pix/${E2E}/devolucao/r1`,
        body: { valor: '7.89' },
      });
    });

    it.each([
      ['DEVOLVIDO', undefined, { kind: 'returned', bankReference: 'D12345678202009091000abcde123456', fee: 0 }],
      ['NAO_REALIZADO', 'Saldo insuficiente', { kind: 'failed', reason: 'insufficient_funds' }],
      ['NAO_REALIZADO', undefined, { kind: 'failed', reason: 'refused' }],
      ['EM_PROCESSAMENTO', undefined, { kind: 'in_progress' }],
    ])('is read with the status %s (%s)', async (status, motivo, state) => {
      reply(200, aReturn({ status, motivo }));
      expect(await acquirer.getReturn(RETURN)).toEqual(state);
    });

    it.each(['0.01', '9999.00'])(
      'has an unknown outcome when the answer has the amount R$ %s instead of R$ 7.89',
      async (valor) => {
        reply(200, aReturn({ status: 'DEVOLVIDO', valor }));
        await expect(acquirer.getReturn(RETURN)).rejects.toMatchObject({ kind: 'unknown' });
      },
    );

    it('is not found, or refused, if the PSP does not know it', async () => {
      reply(404, aProblem('PixDevolucaoNaoEncontrada', 404));
      expect(await acquirer.getReturn(RETURN)).toEqual({ kind: 'not_found' });
      expect(await acquirer.requestReturn(RETURN)).toEqual({ kind: 'failed', reason: 'refused' });
    });

    it('fails with the reason amount_exceeded when the PSP says that the amount is too large', async () => {
      const violacoes = [{ razao: 'A devolução excederia o valor do pix', propriedade: 'devolucao.valor' }];
      reply(400, aProblem('PixDevolucaoInvalida', 400, violacoes));
      expect(await acquirer.requestReturn(RETURN)).toEqual({ kind: 'failed', reason: 'amount_exceeded' });
    });

    it('is queried instead when its id is already in use', async () => {
      const problem = { ...aProblem('PixDevolucaoInvalida', 400), detail: 'id já utilizado por outra requisição' };
      psp.script = ({ method }) =>
        method === 'PUT' ? { status: 400, body: problem } : { status: 200, body: aReturn({ status: 'DEVOLVIDO' }) };
      expect(await acquirer.requestReturn(RETURN)).toMatchObject({ kind: 'returned' });
    });

    it.each([{ id: 'r2' }, { valor: '7.90' }, { status: 'NEW' }, { valor: PERSON.nome }])(
      'has an unknown outcome when the answer is %j',
      async (own) => {
        reply(201, aReturn(own));
        await expect(acquirer.requestReturn(RETURN)).rejects.toMatchObject({ kind: 'unknown' });
      },
    );

    it('keeps its unknown outcome after a time-out, a 5xx or a denied access', async () => {
      for (const answer of ['drop', { status: 500 }, { status: 403 }] as const) {
        psp.script = () => answer;
        await expect(acquirer.requestReturn(RETURN)).rejects.toThrow('return.put');
      }
      expect(asked()).toHaveLength(3);
    });
  });

  describe('the statement', () => {
    beforeEach(() => {
      clock.at = new Date('2026-09-12T00:00:00Z');
    });

    const FROM = new Date('2026-09-10T00:00:00Z');
    const hour = (hours: number): string => new Date(FROM.getTime() + hours * 3_600_000).toISOString();
    const pixAt = (id: number, hours: number, own: Record<string, unknown> = {}): Record<string, unknown> =>
      aPix({ endToEndId: String(id).padStart(32, 'E'), horario: hour(hours), ...own });
    const all = async (to: string, withReturns = false): Promise<(StatementLine | UnreadableLine)[]> => {
      const lines: (StatementLine | UnreadableLine)[] = [];
      for await (const line of acquirer.statement({ from: FROM, to: new Date(to), withReturns })) lines.push(line);
      return lines;
    };
    const collect = async (to: string, withReturns = false): Promise<StatementLine[]> =>
      (await all(to, withReturns)).filter((line) => 'pix' in line);

    it('follows the pages and returns each entry once, oldest first', async () => {
      psp.script = ({ query }) => {
        const page = Number(query['paginacao.paginaAtual']);
        return { status: 200, body: aPage([pixAt(9 - page, 3 - page), pixAt(5, 2.5)], 3, page) };
      };
      const lines = await collect(hour(4));
      expect(lines.map(({ pix }) => Number(pix.endToEndId.replace(/E/g, '')))).toEqual([7, 8, 5, 9]);
      expect(psp.exchanges.map((each) => each.asked.query)).toEqual(
        [0, 1, 2].map((page) => ({
          inicio: '2026-09-10T00:00:00Z',
          fim: '2026-09-10T04:00:00Z',
          'paginacao.paginaAtual': String(page),
          'paginacao.itensPorPagina': '100',
        })),
      );
    });

    it('reads a long period window by window', async () => {
      psp.script = ({ query }) => ({
        status: 200,
        body: aPage([pixAt(Number(query.inicio?.slice(11, 13)), Number(query.inicio?.slice(11, 13)))]),
      });
      const lines = await collect(hour(24), true);
      expect(lines.map(({ pix }) => pix.settledAt.toISOString())).toEqual([hour(0), hour(6), hour(12), hour(18)]);
      expect(psp.exchanges.every(({ asked: { query } }) => query['devolucaoPresente'] === 'true')).toBe(true);
    });

    it('leaves out foreign Pix and Pix outside the period, names unreadable ones, and goes on', async () => {
      const pix = [
        pixAt(1, 1, { chave: OTHER_KEY }),
        pixAt(2, 5),
        { rubbish: true },
        pixAt(3, 2, { valor: 'x' }),
        pixAt(4, 3, { devolucoes: [aReturn(), aReturn({ id: '/' })] }),
        pixAt(5, 4),
        // Unreadable entries with another key, outside the period, and within it.
        pixAt(6, 2, { chave: OTHER_KEY, valor: 7 }),
        pixAt(7, 5, { valor: 7 }),
        pixAt(8, 2, { valor: 7, horario: 'x' }),
      ];
      reply(200, aPage(pix));
      const [line, ...unreadable] = await all(hour(4));
      expect(line).toMatchObject({ returns: [{ returnId: 'r1', amount: 789, cause: 'requested' }] });
      const [id3, id4, id8] = [3, 4, 8].map((id) => String(id).padStart(32, 'E'));
      expect(unreadable).toEqual([
        { what: 'pix', endToEndId: null, returnId: null, hint: null },
        { what: 'pix', endToEndId: id3, returnId: null, hint: { kind: 'pix', reference: id3, txid: TXID } },
        { what: 'return', endToEndId: id4, returnId: null, hint: null },
        { what: 'pix', endToEndId: id8, returnId: null, hint: { kind: 'pix', reference: id8, txid: TXID } },
      ]);
      expect([await odd('malformed'), await odd('field')]).toEqual([4, 1]);
    });

    it('never queries a period that ends in the future or within the last seconds', async () => {
      reply(200, { pix: [] });
      clock.at = new Date('2026-09-10T01:00:00.700Z');
      await collect(hour(24));
      expect(psp.exchanges.map(({ asked: { query } }) => query.fim)).toEqual(['2026-09-10T00:59:57Z']);
      clock.at = FROM;
      expect(await collect(hour(24))).toEqual([]);
      expect(psp.exchanges).toHaveLength(1);
    });

    it.each([
      ['404', { status: 404, body: aProblem('NaoEncontrado', 404) }],
      ['404 without a body', { status: 404 }],
      ['204', { status: 204 }],
      ['a page without entries', { status: 200, body: aPage([]) }],
      ['null in place of the entries', { status: 200, body: { ...aPage([]), pix: null } }],
      ['a page whose count never ends', { status: 200, body: aPage([], 999_999_999) }],
    ])('accepts %s as an empty list', async (_, answer: Reply) => {
      psp.script = () => answer;
      expect(await all(hour(1))).toEqual([]);
      expect(psp.exchanges).toHaveLength(1);
    });

    it.each([
      ['404', { status: 404, body: aProblem('NaoEncontrado', 404) }],
      ['204', { status: 204 }],
    ])('does not take a %s instead of an announced page for the end of the list', async (_, missing: Reply) => {
      psp.script = ({ query }) =>
        query['paginacao.paginaAtual'] === '0' ? { status: 200, body: aPage([pixAt(1, 0.5)], 3) } : missing;
      await expect(collect(hour(1))).rejects.toMatchObject({ reason: 'missing_page' });
    });

    it('treats a 404 after a full page as the end if no number of pages was given', async () => {
      const pix = Array.from({ length: 100 }, (_, id) => pixAt(id, 0.5));
      psp.script = ({ query }) =>
        query['paginacao.paginaAtual'] === '0' ? { status: 200, body: { pix } } : { status: 404 };
      expect(await all(hour(1))).toHaveLength(100);
    });

    it('stops at a PSP that repeats one page without end', async () => {
      reply(200, aPage([pixAt(1, 0.5)], 999_999_999));
      await expect(collect(hour(1))).rejects.toMatchObject({ reason: 'endless_pages' });
      expect(psp.exchanges).toHaveLength(2);
    });

    it('assigns an entry to a period by the minute of its id if the clock of the PSP is wrong', async () => {
      const [from, to] = [new Date('2026-09-10T20:00:00Z'), new Date('2026-09-10T21:00:00Z')];
      const listed = async (minute: string, horario: unknown): Promise<number> => {
        reply(200, aPage([aPix({ endToEndId: `E12345678${minute}kkkkkkkkkkk`, horario })]));
        let lines = 0;
        for await (const _ of acquirer.statement({ from, to })) lines += 1;
        return lines;
      };
      // Local time marked as UTC, clocks that are off by hours, and unreadable times.
      expect(await listed('202609102030', '2026-09-10T17:30:10Z')).toBe(1);
      expect(await listed('202609102030', '2026-09-11T02:30:10Z')).toBe(1);
      expect(await listed('202609102030', '2026-09-09T02:30:10Z')).toBe(1);
      expect(await listed('202609102030', 'yesterday')).toBe(1);
      expect(await listed('202609101959', null)).toBe(1);
      expect(await listed('202609102330', '2026-09-10T20:30:10Z')).toBe(0);
      expect(await listed('202609101930', 'yesterday')).toBe(0);
      // At the edges the clock decides: a payment takes some seconds.
      expect(await listed('202609101959', '2026-09-10T20:00:00Z')).toBe(1);
      expect(await listed('202609102059', '2026-09-10T21:00:00Z')).toBe(0);
    });

    it('stops at a PSP whose page is too large for memory', async () => {
      reply(200, aPage(Array.from({ length: 1_001 }, (_, id) => pixAt(id, 1))));
      await expect(collect(hour(1))).rejects.toMatchObject({ kind: 'unknown' });
    });

    it('stops at a PSP whose answer is not a list', async () => {
      for (const body of [{}, { message: 'later' }, { pix: 'x' }, { pix: 7 }, 'x']) {
        reply(200, body);
        await expect(collect(hour(1))).rejects.toMatchObject({ kind: 'unknown' });
      }
      reply(200, { pix: [] });
      expect(await collect(hour(1))).toEqual([]);
    });
  });
});
