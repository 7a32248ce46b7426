import { describe, expect, it } from '@jest/globals';
import { bankName, BANKS } from '../../dashboard/src/banks.js';
import {
  detectKey,
  mayBePhone,
  OTHER_BANK,
  readCode,
  RECEIVER,
  shownReceiver,
  targetOf,
} from '../../dashboard/src/receiver.js';
import { encodeBrCode } from '../../src/brazil/br-code.js';

const CPF = '52998224725';
/** A CPF that is also a mobile phone with its area code. */
const CPF_AND_PHONE = '11987654374';
const CODE = { merchantName: 'Maria', merchantCity: 'Recife', key: CPF } as const;

describe('a Pix key as people type it', () => {
  it.each([
    ['529.982.247-25', 'cpf', CPF],
    ['11.222.333/0001-81', 'cnpj', '11222333000181'],
    ['Ana@Example.com', 'email', 'ana@example.com'],
    ['+55 11 98765-4321', 'phone', '+5511987654321'],
    ['(11) 98765-4321', 'phone', '+5511987654321'],
    ['11 98765-4321', 'phone', '+5511987654321'],
    ['11-2345-6789', 'phone', '+551123456789'],
    ['123e4567-e12b-12d1-a456-426655440000', 'random', '123e4567-e12b-12d1-a456-426655440000'],
  ])('%s is a %s', (typed, kind, key) => expect(detectKey(typed)).toEqual({ kind, key }));

  it('is never guessed to be a phone by its digits alone', () => {
    expect([detectKey(CPF_AND_PHONE)?.kind, mayBePhone(CPF_AND_PHONE)]).toEqual(['cpf', true]);
    expect([detectKey('11987654321'), mayBePhone('11987654321')]).toEqual([null, true]);
    expect(detectKey(`(11) ${CPF_AND_PHONE.slice(2)}`)?.kind).toBe('phone');
    expect([mayBePhone(CPF), mayBePhone('11 98765')]).toEqual([true, false]);
  });

  it.each(['', '1198765', 'ana', '52998224724'])('%j is none', (typed) => expect(detectKey(typed)).toBeNull());
});

describe('a receiver of the form', () => {
  it('needs the tax id of keys that change their owner only', () => {
    expect(targetOf({ ...RECEIVER, key: CPF })).toEqual({ type: 'pix_key', key: CPF });
    expect(targetOf({ ...RECEIVER, key: 'ana@example.com' })).toBeNull();
    expect(targetOf({ ...RECEIVER, key: 'ana@example.com', tax_id: '529.982.247-25' })).toEqual({
      ...{ type: 'pix_key', key: 'ana@example.com', tax_id: CPF },
    });
    expect(targetOf({ ...RECEIVER, key: 'ana@example.com', tax_id: '529.982.247-24' })).toBeNull();
  });

  it('by a Pix code shows its name and amount', () => {
    const code = encodeBrCode({ ...CODE, kind: 'static', amount: 1990 });
    expect(readCode(` ${code} `)).toEqual({ amount: 1990, name: 'Maria' });
    expect(readCode(encodeBrCode({ ...CODE, kind: 'static' }))?.amount).toBeNull();
    expect(readCode(code.slice(0, -1))).toBeNull();
    expect(targetOf({ ...RECEIVER, type: 'br_code', br_code: code })).toEqual({ type: 'br_code', br_code: code });
  });

  it('by a bank account needs all of its fields', () => {
    const account = {
      ...{ ...RECEIVER, type: 'bank_account', bank: '60701190', branch: '0001', number: '12345-6' },
      ...{ name: ' Padaria ', tax_id: CPF },
    };
    const target = {
      ...{ type: 'bank_account', ispb: '60701190', branch: '0001', number: '12345-6' },
      ...{ account_type: 'checking', name: 'Padaria', tax_id: CPF },
    };
    expect(targetOf(account)).toEqual(target);
    expect(targetOf({ ...account, bank: OTHER_BANK, ispb: '12345678' })).toEqual({ ...target, ispb: '12345678' });
    for (const missing of ['bank', 'branch', 'number', 'name', 'tax_id']) {
      expect(targetOf({ ...account, [missing]: '' })).toBeNull();
    }
    expect(targetOf({ ...account, bank: OTHER_BANK, ispb: '123' })).toBeNull();
  });

  it('is shown with its tax id masked and its key in full', () => {
    expect(shownReceiver({ type: 'pix_key', key: 'ana@example.com', tax_id: CPF })).toEqual({
      ...{ type: 'pix_key', key: 'ana@example.com', key_type: 'email', tax_id: '***.982.247-**' },
    });
  });
});

describe('banks', () => {
  it('are listed by name, each with an ISPB of its own', () => {
    const names = BANKS.map(([, name]) => name);
    expect(names).toEqual([...names].sort((a, b) => a.localeCompare(b, 'pt-BR')));
    expect(new Set(BANKS.map(([ispb]) => ispb)).size).toBe(BANKS.length);
    expect(BANKS.filter(([ispb]) => !/^\d{8}$/.test(ispb))).toEqual([]);
  });

  it('outside of the list are shown by their ISPB', () => {
    expect([bankName('18236120'), bankName('12345678')]).toEqual(['Nubank', 'ISPB 12345678']);
  });
});
