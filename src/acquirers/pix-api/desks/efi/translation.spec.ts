import { describe, expect, it } from '@jest/globals';
import { encodeBrCode } from '../../../../brazil/index.js';
import type { PayoutOrder, PayoutTarget } from '../../../payout-desk.port.js';
import { efi } from './index.js';
import { sendRequest } from './translation.js';

const CPF = '52998224725';
const CNPJ = '11222333000181';
const MERCHANT = { merchantName: 'Loja', merchantCity: 'SAO PAULO' };
const ACCOUNT: PayoutTarget = {
  type: 'bank_account',
  ispb: '09089356',
  branch: '1',
  number: '123453',
  accountType: 'checking',
  name: ' José Carvalho ',
  taxId: CPF,
};

function request(target: PayoutTarget, own: Partial<PayoutOrder> = {}): ReturnType<typeof sendRequest> {
  const order = { accountId: 'a1', sendId: 's1', amount: 1234, ownTaxId: null, description: null };
  return sendRequest({ ...order, target, ...own }, 'shop@example.com');
}
const staticCode = (own: object): PayoutTarget => ({
  type: 'br_code',
  brCode: encodeBrCode({ kind: 'static', key: 'maria@example.com', ...MERCHANT, ...own }),
  taxId: null,
});

describe('a send at Efí', () => {
  const pagador = { chave: 'shop@example.com' };

  it.each<[string, PayoutTarget, object]>([
    ['a phone', { type: 'pix_key', key: '+5531999998888', taxId: CPF }, { chave: '+5531999998888', cpf: CPF }],
    ['a CNPJ', { type: 'pix_key', key: CNPJ, taxId: CNPJ }, { chave: CNPJ, cnpj: CNPJ }],
    ['a key of an unknown holder', { type: 'pix_key', key: 'm@example.com', taxId: null }, { chave: 'm@example.com' }],
    [
      'an account',
      ACCOUNT,
      {
        contaBanco: {
          nome: 'José Carvalho',
          cpf: CPF,
          codigoBanco: '09089356',
          agencia: '1',
          conta: '123453',
          tipoConta: 'cacc',
        },
      },
    ],
    ['a static code', staticCode({ amount: 1234 }), { chave: 'maria@example.com' }],
    ['a static code without an amount', staticCode({}), { chave: 'maria@example.com' }],
  ])('goes to %s', (_, target, favorecido) => {
    const body = { valor: '12.34', pagador, favorecido };
    expect(request(target)).toEqual({ path: '/v3/gn/pix/s1', body, code: null });
  });

  it('to a savings account has its type', () => {
    const { body } = request({ ...ACCOUNT, accountType: 'savings', taxId: CNPJ }) ?? {};
    expect(body).toMatchObject({ favorecido: { contaBanco: { tipoConta: 'svgs', cnpj: CNPJ } } });
  });

  it('to the own tax id goes to the endpoint that compares it', () => {
    const path = '/v2/gn/pix/s1/mesma-titularidade';
    expect(request(ACCOUNT, { ownTaxId: CPF })).toMatchObject({ path });
    expect(request({ type: 'pix_key', key: 'm@example.com', taxId: CPF }, { ownTaxId: CPF })).toMatchObject({ path });
  });

  it.each<[string, PayoutTarget]>([
    ['a payment account, for which Efí documents no code', { ...ACCOUNT, accountType: 'payment' }],
    ['a static code of another amount', staticCode({ amount: 1235 })],
    ['a code that cannot be read', { type: 'br_code', brCode: '000201', taxId: null }],
  ])('does not go to %s', (_, target) => expect(request(target)).toBeNull());

  it('has a description only if there is one, at its longest length', () => {
    const target = { type: 'pix_key', key: 'm@example.com', taxId: null } as const;
    const bodyOf = (description: string): object | undefined => request(target, { description })?.body;
    expect(bodyOf(' ')).toMatchObject({ pagador: { chave: 'shop@example.com' } });
    expect(JSON.stringify(bodyOf(' '))).not.toContain('infoPagador');
    expect(bodyOf('é'.repeat(200))).toMatchObject({ pagador: { infoPagador: 'é'.repeat(140) } });
  });
});

describe('a callback of Efí', () => {
  const entry = (own: object = {}): object => ({
    endToEndId: 'E090893562021030PIf25a7868',
    chave: '2c3c7441-b91e-4982-3c25-6105581e18ae',
    tipo: 'SOLICITACAO',
    status: 'REALIZADO',
    valor: '0.01',
    horario: '2021-03-04T20:39:47.000Z',
    gnExtras: { idEnvio: '123ABC' },
    ...own,
  });
  const references = (one: unknown): (string | undefined)[] | null =>
    efi.hintsOf(one)?.map(({ kind, reference }) => `${kind} ${reference}`) ?? null;

  it.each<[string, object, string[]]>([
    ['a paid send', entry(), ['payout 123ABC/REALIZADO']],
    [
      'a rejected send',
      entry({
        status: 'NAO_REALIZADO',
        horario: null,
        gnExtras: { idEnvio: '123ABC', erro: { codigo: 'AC03', origem: 'PSP do usuário recebedor', motivo: 'x' } },
      }),
      ['payout 123ABC/NAO_REALIZADO.AC03'],
    ],
    [
      'returns',
      entry({ devolucoes: [{ rtrId: 'D1', valor: '1.00' }, { id: 'r2' }, { rtrId: 'a b' }, 7] }),
      ['payout 123ABC/REALIZADO', 'payout 123ABC/D1', 'payout 123ABC/r2'],
    ],
    ['a single return', entry({ devolucoes: { rtrId: 'D1' } }), ['payout 123ABC/REALIZADO', 'payout 123ABC/D1']],
    ['only an id', { gnExtras: { idEnvio: '123ABC' } }, ['payout 123ABC/MOVED']],
    ['a status that is no word', entry({ status: '<script>' }), ['payout 123ABC/MOVED']],
    ['a send of the app, which has no id', entry({ gnExtras: {} }), []],
    ['an id that fits no path', entry({ gnExtras: { idEnvio: '../x' } }), []],
  ])('names the payout of %s', (_, one, hints) => expect(references(one)).toEqual(hints));

  it.each([null, 7, 'x', [], {}, { endToEndId: 'E1', txid: 't', gnExtras: { tarifa: '0.01' } }])(
    'is not about a payout: %j',
    (one) => expect(efi.hintsOf(one)).toBeNull(),
  );
});
