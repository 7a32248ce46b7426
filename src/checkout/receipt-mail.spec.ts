import { expect, it } from '@jest/globals';
import type { Transaction } from '../transactions/index.js';
import { receiptMail } from './receipt-mail.js';

it('a receipt mail keeps the texts of payers and merchants on their own lines', () => {
  const sale: Partial<Transaction> = {
    amount: 1990,
    currency: 'BRL',
    paymentMethods: ['PIX'],
    paidWith: 'PIX',
    endToEndId: null,
    customerName: 'Maria\r\nValor: R$ 1,00',
    metadata: {
      description: 'Pedido\u2028Para: Banco\u202e https://evil.example/x www.evil.example 12.345.678/0001-90',
    },
    mode: 'live',
    id: 'sale',
  };
  const account = {
    name: 'Padaria\nBcc: x bad.example/login bad.example:8443/x https://bad.example',
    contactEmail: 'owner@example.com',
  };
  const transaction = { ...sale, paidAt: new Date(0) } as Transaction & { paidAt: Date };
  const { subject, text } = receiptMail(transaction, account, 'https://pay.example.com');
  expect(subject).toContain('para Padaria Bcc: x bad… bad… … /');
  expect(text).toContain('Recibo de pagamento, Maria Valor: R$ 1,00.');
  expect(text).toContain('Referente a: Pedido Para: Banco  … … 12.345.678/0001-90');
  expect(text).toContain('Para: Padaria Bcc: x bad… bad… … (owner@example.com)');
  expect(text).not.toContain('evil');
  expect(text).not.toMatch(/^(?:Valor: R\$ 1,00|Para: Banco|Bcc)|\u2028|\u202e/mu);
});
