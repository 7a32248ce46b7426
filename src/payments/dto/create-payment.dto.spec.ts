import { describe, expect, it } from '@jest/globals';
import { validateSync } from 'class-validator';
import { CreatePaymentDto } from './create-payment.dto.js';

function isAccepted(customerEmail: unknown): boolean {
  const body = { amount: 1, paymentMethods: ['PIX'], idempotencyKey: 'order-1042', customerEmail };
  return validateSync(Object.assign(new CreatePaymentDto(), body)).length === 0;
}

describe('customerEmail, by RFC 5322', () => {
  it.each([
    'maria@example.com',
    'Maria.da-Silva+tag@sub.example.com.br',
    "!#$%&'*+/=?^_`{|}~-@example.com",
    "o'brien@example.com",
    'x@example.c',
    'maria@localhost',
    'maria@mail_1.example.com',
    'maria@xn--mnchen-3ya.example',
    '"quoted local"@example.com',
    '"with@at"@example.com',
    String.raw`"with \" quote"@example.com`,
    'maria@[192.168.0.1]',
    `${'a'.repeat(64)}@example.com`,
  ])('is valid: %s', (email) => expect(isAccepted(email)).toBe(true));

  it.each([
    '',
    'maria',
    '@example.com',
    'maria@',
    'maria@@example.com',
    'a@b@example.com',
    '.maria@example.com',
    'maria.@example.com',
    'ma..ria@example.com',
    'maria@example..com',
    'maria@.example.com',
    'maria@-example.com',
    'maria silva@example.com',
    'maria@example com',
    'maria@example.com\n',
    '"unfinished@example.com',
    '"with " quote"@example.com',
    'maria@[300.1.1.1]',
    'Maria <maria@example.com>',
    'maria@example.com, jose@example.com',
    'joão@example.com',
    'o’brien@example.com',
    '"joão"@example.com',
    `${'a'.repeat(65)}@example.com`,
    `maria@${'a.'.repeat(130)}com`,
    42,
    ['maria@example.com'],
  ])('is invalid: %j', (email) => expect(isAccepted(email)).toBe(false));
});
