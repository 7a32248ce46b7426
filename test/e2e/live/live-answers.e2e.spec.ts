import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { newEndToEndId } from '../../../src/brazil/index.js';
import { LiveStory } from '../../support/live-story.js';
import { TestService } from '../../support/service.js';
import { waitFor } from '../../support/wait.js';

type Fields = Readonly<Record<string, unknown>>;

describe('a PSP whose answers deviate', () => {
  const service = TestService.forSpec();
  let story: LiveStory;

  beforeAll(async () => {
    story = await LiveStory.start(service);
  });
  // The answers depart from BACEN's document, in values of a wrong type or form and in codes of success.
  afterAll(() => story.stop([/ must | never answers 20/]));
  afterEach(() => {
    story.bank.clearFaults();
    return story.expectSameBooks();
  });

  /** From now on every answer to an operation has these fields, in place of the right ones. */
  function answers(operation: 'cob.put' | 'cob.get' | 'pix.get' | 'return.get' | 'return.put', fields: Fields): void {
    story.bank.addFault({ operation, fault: { kind: 'answer', fields }, rate: 1 });
  }

  /** The start of a minute, as an end-to-end id has no seconds: with and without a time, a Pix is of the same instant. */
  const SETTLED = new Date(Math.floor(Date.now() / 60_000) * 60_000);
  const local = (zone: string): string => new Date(SETTLED.getTime() - 3 * 3_600_000).toISOString().replace('Z', zone);

  it.each<[string, Fields]>([
    ['a key of no letters', { chave: '' }],
    ['no key', { chave: null }],
    ['a key in capitals', { chave: '8F3C1F2E-2D0B-4A53-9A6E-5B0C7F6F1D11' }],
    ['a CPF that is a number', { pagador: { cpf: 52998224725, nome: 'Ana' } }],
    ['a payer that is a text', { pagador: 'Ana' }],
    ['returns that are an object', { devolucoes: {} }],
    ['returns that are a text', { devolucoes: 'x' }],
    ['an amount that is a number', { valor: 19.9 }],
    ['a time without a zone', { horario: local('') }],
    ['an offset without a colon', { horario: local('-0300') }],
    ['local time marked as UTC', { horario: local('Z') }],
    ['no time', { horario: null }],
    ['a text of 10 000 letters', { infoPagador: 'x'.repeat(10_000), pagador: { nome: 'x'.repeat(10_000) } }],
  ])('a Pix with %s is credited', async (_, fields) => {
    const made = await story.charge();
    answers('pix.get', fields);
    story.pay(made, { endToEndId: newEndToEndId('99999008', SETTLED), at: SETTLED.toISOString() });
    await story.becomes(made, 'paid');
  });

  it.each<[string, Fields]>([
    ['a time without a zone', { calendario: { criacao: local(''), expiracao: 3600 } }],
    ['an offset without a colon', { calendario: { criacao: local('-0300'), expiracao: '3600' } }],
    ['no calendar', { calendario: null }],
    ['a key of no letters', { chave: '' }],
    ['an amount that is a number', { valor: { original: 19.9 } }],
    ['a debtor, a key and a location of other types', { devedor: 7, chave: 7, location: 7, loc: [] }],
    ['a state in small letters', { status: 'ativa' }],
  ])('a charge is made when its answer has %s', async (_, fields) => {
    answers('cob.put', fields);
    await story.paid();
  });

  it.each([200, 202])('a charge is made when it is answered with %i', async (status) => {
    story.bank.addFault({ operation: 'cob.put', fault: { kind: 'answer', status } });
    await story.paid();
  });

  it.each<[string, Fields]>([
    ['little in it', { rtrId: null, horario: null, natureza: null }],
    ['a state in small letters', { status: 'devolvido' }],
    ['an amount that is a number', { valor: 9.9 }],
  ])('a refund is made when the answer about the return has %s', async (_, fields) => {
    const { charge } = await story.paid();
    answers('return.put', { ...fields, status: 'EM_PROCESSAMENTO' });
    answers('return.get', fields);
    const asked = { amount: 990, reason: 'x', idempotencyKey: `key-${charge.id}` };
    const { status } = await service.call('POST', `/v1/payments/${charge.id}/refund`, { key: story.key, body: asked });
    expect(status).toBe(201);
    await waitFor('the refund', async () => {
      const { body } = await service.call('GET', `/v1/payments/${charge.id}/refunds`, { key: story.key });
      return JSON.stringify(body).includes('"REFUNDED"');
    });
  });

  it.each([
    [403, { error: 'invalid_token' }],
    [400, { error: 'invalid_token' }],
  ])('one new token is taken after %i %j', async (status, fields) => {
    const before = story.asked('token');
    story.bank.addFault({ operation: 'cob.put', fault: { kind: 'answer', status, fields } });
    await story.paid();
    expect(story.asked('token')).toBe(before + 1);
  });

  it('a refusal of the Pix key of the connection gives an error that names the key', async () => {
    story.bank.addFault({ operation: 'cob.put', fault: { kind: 'answer', status: 412, fields: null } });
    const { status, body } = await service.createCharge(story.key, {});
    expect([status, JSON.stringify(body)]).toEqual([422, expect.stringContaining('the Pix key of the account')]);
  });

  it('a charge that the PSP made with another amount is never shown, and is taken back', async () => {
    answers('cob.put', { valor: { original: '1.99' } });
    answers('cob.get', { valor: { original: '1.99' } });
    const { status, body } = await service.createCharge(story.key, {});
    expect([status, JSON.stringify(body)]).toEqual([422, expect.stringContaining('another amount')]);
    expect(story.bank.state().cobs.at(-1)?.status).toBe('REMOVIDA_PELO_USUARIO_RECEBEDOR');
  });

  it('the list is queried up to a time before now, and a 404 to it is accepted', async () => {
    const made = await story.charge();
    story.bank.addFault({ operation: 'callback', fault: { kind: 'lose' } });
    story.bank.addFault({ operation: 'pix.list', fault: { kind: 'answer', status: 404, fields: null } });
    story.pay(made);
    await story.sweepStatement();
    await waitFor('the list to be asked for', () => story.asked('pix.list') > 0);
    await story.sweepStatement();
    await story.becomes(made, 'paid');
  });
});
