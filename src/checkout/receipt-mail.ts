import { saoPauloTime } from '../brazil/index.js';
import type { Account } from '../accounts/index.js';
import { moneyText } from '../core/money/index.js';
import { bilingualMail } from '../core/mail/index.js';
import { plainWords } from '../core/text.js';
import type { Transaction } from '../transactions/index.js';

type PaidTransaction = Transaction & { readonly paidAt: Date };

const METHOD: Readonly<Record<string, { readonly portuguese: string; readonly english: string }>> = {
  PIX: { portuguese: 'Pix', english: 'Pix' },
  BOLETO: { portuguese: 'boleto', english: 'boleto' },
  CREDIT_CARD: { portuguese: 'cartão de crédito', english: 'credit card' },
};

/** The mail to a payer about a paid sale: receiver, amount, description, time, and a link to the receipt. */
export function receiptMail(
  transaction: PaidTransaction,
  account: Pick<Account, 'name' | 'contactEmail'>,
  publicBaseUrl: string,
): { subject: string; text: string; html: string } {
  const { amount, currency, paidAt, paidWith, endToEndId, metadata, id, mode } = transaction;
  const isTest = mode === 'test';
  const money = moneyText(amount, currency);
  const name = plainWords(account.name);
  const { contactEmail } = account;
  const customerName = transaction.customerName === null ? null : plainWords(transaction.customerName);
  const description = metadata['description'];
  const method = METHOD[paidWith ?? ''];
  const page = `${publicBaseUrl}/checkout/${id}/receipt`;
  const lines = (language: 'portuguese' | 'english'): string[] => {
    const say = (portuguese: string, english: string): string => (language === 'portuguese' ? portuguese : english);
    return [
      ...(isTest ? [say('TESTE: nenhum dinheiro foi pago.', 'TEST: no money was paid.')] : []),
      say(
        `Recibo de pagamento${customerName === null ? '' : `, ${customerName}`}.`,
        `Receipt of a payment${customerName === null ? '' : `, ${customerName}`}.`,
      ),
      say(`Para: ${name} (${contactEmail})`, `To: ${name} (${contactEmail})`),
      say(`Valor: ${money}`, `Amount: ${money}`),
      ...(typeof description === 'string' && description !== ''
        ? [say(`Referente a: ${plainWords(description)}`, `For: ${plainWords(description)}`)]
        : []),
      say(
        `Pago em: ${saoPauloTime(paidAt)} (horário de Brasília)`,
        `Paid on: ${saoPauloTime(paidAt, 'english')} (Brasília time)`,
      ),
      ...(method === undefined ? [] : [say(`Forma de pagamento: ${method.portuguese}`, `Method: ${method.english}`)]),
      ...(endToEndId === null
        ? []
        : [say(`Identificador da transação: ${endToEndId}`, `Id of the payment: ${endToEndId}`)]),
      say(`Recibo, por 30 dias: ${page}`, `Receipt, for 30 days: ${page}?lang=en`),
    ];
  };
  const subject = `Recibo: ${money} para ${name} / Receipt`;
  return bilingualMail({
    page,
    subject: isTest ? `TESTE: ${subject}` : subject,
    portuguese: lines('portuguese'),
    english: lines('english'),
  });
}
