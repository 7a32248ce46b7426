import { describe, expect, it } from '@jest/globals';
import { encodeBrCode } from '../brazil/index.js';
import { exportedTarget, identityOf, isOwn, keysOf, readTarget, shownTarget } from './targets.js';

const CPF = '52998224725';
const ACCOUNT = {
  ...{ type: 'bank_account', ispb: '00000000', branch: '0001', number: '12345-6', account_type: 'checking' },
  ...{ name: 'Ana', tax_id: CPF },
};
const CODE = encodeBrCode({ kind: 'static', key: CPF, merchantName: 'Ana', merchantCity: 'Recife', amount: 1990 });
const OPEN_CODE = encodeBrCode({ kind: 'static', key: 'ana@example.com', merchantName: 'Ana', merchantCity: 'Recife' });

describe('a receiver of payouts', () => {
  it.each([
    ['a CPF as key', { type: 'pix_key', key: '529.982.247-25' }, { type: 'pix_key', key: CPF, taxId: CPF }],
    [
      'an e-mail with its owner',
      { type: 'pix_key', key: 'Ana@Example.com', tax_id: CPF },
      { type: 'pix_key', key: 'ana@example.com', taxId: CPF },
    ],
    ['a code to a CPF', { type: 'br_code', br_code: CODE }, { type: 'br_code', brCode: CODE, taxId: CPF }],
    [
      'a code whose owner is not known',
      { type: 'br_code', br_code: OPEN_CODE },
      { type: 'br_code', brCode: OPEN_CODE, taxId: null },
    ],
    [
      'a bank account',
      ACCOUNT,
      {
        ...{ type: 'bank_account', ispb: '00000000', branch: '0001', number: '123456', accountType: 'checking' },
        ...{ name: 'Ana', taxId: CPF },
      },
    ],
  ])('is read: %s', (_what, sent, target) => {
    expect(readTarget(sent, 'destination', 1990)).toEqual({ target, violations: [] });
  });

  it.each([
    ['no type', {}, 'type', 'required'],
    ['a type that is none', { type: 'cheque' }, 'type', 'invalid'],
    ['a key that is none', { type: 'pix_key', key: 'ana' }, 'key', 'invalid'],
    ['no key', { type: 'pix_key' }, 'key', 'required'],
    ['a number as key', { type: 'pix_key', key: 52998224725 }, 'key', 'invalid'],
    ['a phone without its owner', { type: 'pix_key', key: '+5511987654321' }, 'tax_id', 'required'],
    ['a wrong tax id', { type: 'pix_key', key: 'ana@example.com', tax_id: '52998224724' }, 'tax_id', 'invalid'],
    [
      'a code of another amount',
      { type: 'br_code', br_code: CODE.replace('540519.90', '540519.91') },
      'br_code',
      'invalid',
    ],
    ['a code with a broken check sum', { type: 'br_code', br_code: `${CODE.slice(0, -1)}x` }, 'br_code', 'invalid'],
    ['a field of another type', { ...ACCOUNT, key: CPF }, 'key', 'invalid'],
    ['an unknown field', { ...ACCOUNT, constructor: 'x' }, 'constructor', 'unknown_field'],
    ['an ISPB of 3 digits', { ...ACCOUNT, ispb: '001' }, 'ispb', 'invalid'],
    ['a branch with its check digit', { ...ACCOUNT, branch: '0001-2' }, 'branch', 'invalid'],
    ['an account type that is none', { ...ACCOUNT, account_type: 'salary' }, 'account_type', 'invalid'],
    ['a blank name', { ...ACCOUNT, name: ' ' }, 'name', 'invalid'],
    ['a line break in the name', { ...ACCOUNT, name: 'Ana\nB' }, 'name', 'invalid'],
  ])('is refused: %s', (_what, sent, field, code) => {
    const { target, violations } = readTarget(sent, 'destination', 1990);
    expect(target).toBeNull();
    expect(violations.map((violation) => [violation.param, violation.code])).toEqual([[`destination.${field}`, code]]);
  });

  it('must have the amount of the payout if its code has one', () => {
    expect(readTarget({ type: 'br_code', br_code: CODE }, '', 1991).violations).toMatchObject([
      { param: 'br_code', code: 'amount_mismatch' },
    ]);
    expect(readTarget({ type: 'br_code', br_code: OPEN_CODE }, '', 1991).violations).toEqual([]);
  });

  it.each([
    [
      { type: 'pix_key', key: CPF },
      { key: '***.982.247-**', key_type: 'cpf', tax_id: '***.982.247-**' },
    ],
    [
      { type: 'pix_key', key: '+5511987654321', tax_id: CPF },
      { key: '+55***321', key_type: 'phone' },
    ],
    [
      { type: 'pix_key', key: '123e4567-e89b-12d3-a456-426614174000', tax_id: CPF },
      { key: '********-****-****-****-********4000', key_type: 'random' },
    ],
    [ACCOUNT, { number: '***56', branch: '0001', tax_id: '***.982.247-**' }],
  ])('is shown with its key and tax id masked: %j', (sent, shown) => {
    const { target } = readTarget(sent, '', null);
    if (!target) throw new Error('It was not read');
    const masked = shownTarget(target);
    expect(masked).toMatchObject(shown);
    expect(JSON.stringify(masked)).not.toMatch(/52998224725|987654321|123e4567/);
  });

  it.each([
    ['an account number of 2 digits', { ...ACCOUNT, number: '12' }, { number: '***' }],
    ['an account number of 3 digits', { ...ACCOUNT, number: '123' }, { number: '***3' }],
    ['an account number of 5 digits', { ...ACCOUNT, number: '12345' }, { number: '***5' }],
    ['an account number of 9 digits', { ...ACCOUNT, number: '123456789' }, { number: '***789' }],
    ['an account number of 20 digits', { ...ACCOUNT, number: '12345678901234567890' }, { number: '***890' }],
    ['an e-mail of 1 letter', { type: 'pix_key', key: 'x@y.co', tax_id: CPF }, { key: '***@y.co' }],
    ['an e-mail of 2 letters', { type: 'pix_key', key: 'xy@y.co', tax_id: CPF }, { key: '***@y.co' }],
    ['an e-mail of 3 letters', { type: 'pix_key', key: 'ana@y.co', tax_id: CPF }, { key: 'a***@y.co' }],
    ['a landline', { type: 'pix_key', key: '+551132654321', tax_id: CPF }, { key: '+55***321' }],
    ['a mobile phone', { type: 'pix_key', key: '+5511987654321', tax_id: CPF }, { key: '+55***321' }],
  ])('is shown by at most a third of its characters: %s', (_what, sent, shown) => {
    const { target } = readTarget(sent, '', null);
    if (!target) throw new Error('It was not read');
    expect(shownTarget(target)).toMatchObject(shown);
  });

  it('is the same by what decides where the money goes, whoever is named as owner', () => {
    const read = (sent: object): string => {
      const { target } = readTarget(sent as Record<string, unknown>, '', null);
      if (!target) throw new Error('It was not read');
      return identityOf(target);
    };
    expect(read({ ...ACCOUNT, name: 'Bia' })).toBe(read(ACCOUNT));
    expect(read({ ...ACCOUNT, number: '12345-7' })).not.toBe(read(ACCOUNT));
    expect(read({ type: 'pix_key', key: '529.982.247-25' })).toBe(read({ type: 'pix_key', key: CPF }));
  });

  const aCode = (amount?: number): object => ({
    type: 'br_code',
    br_code: encodeBrCode({
      ...{ kind: 'static', key: 'ana@example.com', merchantName: 'Ana', merchantCity: 'Recife' },
      ...(amount !== undefined && { amount }),
    }),
  });
  it.each<[string, object, object, boolean]>([
    ['a branch without its zeros', { ...ACCOUNT, branch: '1' }, { ...ACCOUNT, branch: '0001' }, true],
    ['a number with zeros before it', { ...ACCOUNT, number: '0012345-6' }, { ...ACCOUNT, number: '12345-6' }, true],
    ['another number', { ...ACCOUNT, number: '112345-6' }, { ...ACCOUNT, number: '12345-6' }, false],
    ['a code and its key', aCode(), { type: 'pix_key', key: 'Ana@Example.com', tax_id: CPF }, true],
    ['a code with an amount and one without', aCode(100), aCode(), true],
    ['a code and another key', aCode(), { type: 'pix_key', key: 'bia@example.com', tax_id: CPF }, false],
  ])('is one receiver or two: %s', (_what, one, other, isSame) => {
    const [first, second] = [one, other].map((sent) => {
      const { target } = readTarget(sent as Record<string, unknown>, '', null);
      if (!target) throw new Error('It was not read');
      return identityOf(target);
    });
    expect(first === second).toBe(isSame);
  });

  it.each([
    ['the same CPF', CPF, CPF, true],
    ['another CPF', CPF, '11144477735', false],
    ['another establishment of the CNPJ', '11222333000262', '11222333000181', true],
    ['another CNPJ', '11444777000161', '11222333000181', false],
    ['an unknown owner', null, CPF, false],
    ['an account without a tax id', CPF, null, false],
  ])('is the merchant itself or not: %s', (_what, taxId, account, expected) => {
    expect(isOwn(taxId, account)).toBe(expected);
  });
});

describe('a receiver as its person may see it', () => {
  it.each([
    ['a key', { type: 'pix_key', key: 'ana@example.com', tax_id: CPF }],
    ['a code', { type: 'br_code', br_code: OPEN_CODE, tax_id: null }],
    ['a bank account', { ...ACCOUNT, number: '123456' }],
  ])('has every field of %s', (_what, { tax_id, ...fields }) => {
    const { target } = readTarget(tax_id === null ? fields : { ...fields, tax_id }, '', null);
    expect(target && exportedTarget(target)).toEqual({ ...fields, tax_id });
  });

  it.each([
    ['Ana@Example.com', null, ['ana@example.com']],
    [null, '11987654321', ['+5511987654321']],
    [null, '5511987654321', ['+5511987654321']],
    ['ana@example.com', '123', ['ana@example.com']],
    ['no address', null, []],
  ])('is found by the keys of the e-mail %s and the phone %s', (email, phone, keys) => {
    expect(keysOf(email, phone)).toEqual(keys);
  });
});
