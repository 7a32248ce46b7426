import { saoPauloTime } from '../../brazil/index.js';
import { bilingualMail, type Mail, SECRET } from '../../core/mail/index.js';
import { type Amount, moneyText } from '../../core/money/index.js';
import { plainWords } from '../../core/text.js';
import { ORDER_KEYS, type Transaction } from '../../transactions/index.js';
import type { DisputedTransaction } from '../cases/disputed-transaction.js';
import type { MedCase } from '../cases/med-case.js';
import type { MoneyOutcome } from '../cases/med-cases.machine.js';

interface Words {
  readonly portuguese: string;
  readonly english: string;
}

/** The sale of a mail, with its account. */
type Sale = Pick<DisputedTransaction, 'account' | 'transaction'>;

/** Builds the mail about a new dispute: the disputed amount, the held part and the deadline for an answer. */
export function openedMail(
  sale: Sale & Pick<DisputedTransaction, 'cashoutsAmount'>,
  medCase: MedCase,
  publicBaseUrl: string,
): Mail {
  const { responseDeadline } = medCase;
  const page = pageOf(medCase, publicBaseUrl);
  const disputed = moneyText(medCase.amount, medCase.currency);
  const held = moneyText(medCase.heldAmount, medCase.currency);
  const kind = KIND[medCase.type];
  return mail(sale, page, medCase, subjectOf(medCase, 'aberto', 'opened', disputed, disputed), [
    {
      portuguese: `Um pagamento foi contestado (${kind.portuguese}). Valor contestado: ${disputed}.`,
      english: `A payment was disputed (${kind.english}). Disputed amount: ${disputed}.`,
    },
    ...aboutSale(sale, medCase, page),
    ...(medCase.reason === null
      ? []
      : [
          {
            portuguese: `Motivo informado: ${plainWords(medCase.reason)}`,
            english: `Claimed reason: ${plainWords(medCase.reason)}`,
          },
        ]),
    {
      portuguese: `Valor bloqueado do seu saldo até a decisão: ${held}. O saldo disponível pode ficar negativo.`,
      english: `Held from your balance until the ruling: ${held}. The available balance may become negative.`,
    },
    ...(sale.cashoutsAmount === 0 ? [] : [cashedOut(moneyText(sale.cashoutsAmount, medCase.currency))]),
    responseDeadline === null
      ? {
          portuguese: 'O prazo para responder não foi informado.',
          english: 'The deadline for answering was not informed.',
        }
      : {
          portuguese: `Prazo para responder: ${saoPauloTime(responseDeadline)} (horário de Brasília).`,
          english: `Deadline for answering: ${saoPauloTime(responseDeadline, 'english')} (Brasília time).`,
        },
    {
      portuguese:
        'Se ninguém responder a tempo, o banco decide sem as suas provas, e o valor bloqueado pode voltar ao pagador.',
      english:
        'If nobody answers in time, the bank decides without your evidence, and what is held may go back to the payer.',
    },
    {
      portuguese: 'Na página do caso você o contesta e anexa provas, ou aceita a perda.',
      english: 'On the page of the case you contest it and attach evidence, or accept the loss.',
    },
  ]);
}

/** Warns that the payer may have the money twice, which only the merchant can prove. */
function cashedOut(given: string): Words {
  return {
    portuguese: `Desta venda você já devolveu ${given} por um novo Pix, que o banco do pagador não conta como devolução: anexe o comprovante como prova.`,
    english: `Of this sale you have given back ${given} by a Pix of your own, which the payer’s bank does not count as a return: attach its receipt as evidence.`,
  };
}

/** @param amount formerly held, now with its final owner */
export function resolvedMail(sale: Sale, medCase: MedCase, amount: Amount, publicBaseUrl: string): Mail {
  const money = moneyText(amount, medCase.currency);
  const page = pageOf(medCase, publicBaseUrl);
  const { subject, text } = OUTCOME[medCase.moneyOutcome ?? 'lost'];
  return mail(sale, page, medCase, subjectOf(medCase, 'encerrado', 'resolved', subject.portuguese, subject.english), [
    {
      portuguese: `${text.portuguese} Valor: ${money}.`,
      english: `${text.english} Amount: ${money}.`,
    },
    ...aboutSale(sale, medCase, page),
  ]);
}

/**
 * Builds the mail about a ruling that changed after the case was over. @param taken from the merchant; negative: given
 * back
 */
export function correctedMail(sale: Sale, medCase: MedCase, taken: Amount, publicBaseUrl: string): Mail {
  const money = moneyText(Math.abs(taken), medCase.currency);
  const isBack = taken < 0 || medCase.moneyOutcome === 'refunded_to_merchant';
  const page = pageOf(medCase, publicBaseUrl);
  const { subject, text } = isBack ? GIVEN_BACK : TAKEN;
  return mail(sale, page, medCase, subjectOf(medCase, 'corrigido', 'corrected', subject.portuguese, subject.english), [
    {
      portuguese: 'O banco mudou a decisão deste caso, que estava encerrado.',
      english: 'The bank has changed its ruling of this case, which was closed.',
    },
    { portuguese: `${text.portuguese} Valor: ${money}.`, english: `${text.english} Amount: ${money}.` },
    ...aboutSale(sale, medCase, page),
  ]);
}

/** Uses "MED" for Pix only: it is a word of Pix, so cards have another subject. */
function subjectOf({ type }: MedCase, done: string, doneEnglish: string, what: string, whatEnglish: string): Words {
  const [kind, kindEnglish] = type === 'med' ? ['MED', 'MED'] : ['Caso de cartão', 'Card case'];
  return { portuguese: `${kind} ${done}: ${what}`, english: `${kindEnglish} ${doneEnglish}: ${whatEnglish}` };
}

/** @param subject, paragraphs Portuguese comes first */
function mail(
  { account, transaction }: Sale,
  page: string,
  { mode }: MedCase,
  subject: Words,
  paragraphs: readonly Words[],
): Mail {
  const secret = saleText(transaction);
  return {
    accountId: account.id,
    to: account.contactEmail,
    ...(secret === null ? {} : { secret }),
    ...bilingualMail({
      mode,
      page,
      subject: `${subject.portuguese} / ${subject.english}`,
      portuguese: paragraphs.map(({ portuguese }) => portuguese),
      english: paragraphs.map(({ english }) => english),
    }),
  };
}

/** Returns the address of a case in the dashboard. */
function pageOf({ id, mode }: MedCase, publicBaseUrl: string): string {
  return `${publicBaseUrl}/dashboard/${mode}/disputes/med_${id}`;
}

function aboutSale({ transaction }: Sale, medCase: MedCase, page: string): Words[] {
  const { id } = transaction;
  return [
    ...(saleText(transaction) === null
      ? []
      : [{ portuguese: `Cliente e pedido: ${SECRET}`, english: `Customer and order: ${SECRET}` }]),
    {
      portuguese: `Cobrança: ch_${id}. Caso: med_${medCase.id}.`,
      english: `Charge: ch_${id}. Case: med_${medCase.id}.`,
    },
    { portuguese: `Página do caso: ${page}`, english: `Page of the case: ${page}` },
  ];
}

/**
 * Describes the payer and the purchase. In a mail that waits the text is sealed, as all customers' names are.
 * @returns null when nothing is known
 */
function saleText({ customerName, metadata }: Transaction): string | null {
  const orders = [...ORDER_KEYS, 'description'].map((key) => metadata[key]);
  const texts = [customerName, ...orders].filter((value) => typeof value === 'string' || typeof value === 'number');
  const written = texts.map((value) => plainWords(String(value)).trim().slice(0, 200)).filter((text) => text !== '');
  return written.length === 0 ? null : written.join(' · ');
}

const KIND: Readonly<Record<MedCase['type'], Words>> = {
  med: { portuguese: 'MED, Mecanismo Especial de Devolução do Pix', english: 'MED, Pix chargeback' },
  chargeback: { portuguese: 'chargeback do cartão', english: 'card chargeback' },
  dispute: { portuguese: 'contestação do portador do cartão', english: 'cardholder’s dispute' },
  fraud: { portuguese: 'fraude no cartão', english: 'card fraud' },
};

const OUTCOME: Readonly<Record<MoneyOutcome, { subject: Words; text: Words }>> = {
  refunded_to_merchant: {
    subject: { portuguese: 'valor devolvido a você', english: 'money returned to you' },
    text: {
      portuguese: 'O valor bloqueado voltou ao seu saldo disponível.',
      english: 'The money that was held is back in your available balance.',
    },
  },
  closed_without_refund: {
    subject: { portuguese: 'sem devolução', english: 'closed without refund' },
    text: {
      portuguese: 'O caso terminou sem resposta sua e o valor bloqueado foi devolvido ao pagador.',
      english: 'The case ended without an answer of yours and the money that was held went back to the payer.',
    },
  },
  lost: {
    subject: { portuguese: 'valor perdido', english: 'money lost' },
    text: {
      portuguese: 'O valor bloqueado foi devolvido ao pagador.',
      english: 'The money that was held went back to the payer.',
    },
  },
};

const GIVEN_BACK = {
  subject: { portuguese: 'valor devolvido a você', english: 'money returned to you' },
  text: {
    portuguese: 'O valor perdido voltou ao seu saldo disponível.',
    english: 'The money that was lost is back in your available balance.',
  },
};

const TAKEN = {
  subject: { portuguese: 'valor perdido', english: 'money lost' },
  text: {
    portuguese: 'O valor saiu do seu saldo disponível e voltou ao pagador. O saldo pode ficar negativo.',
    english: 'The money left your available balance for the payer. The balance may become negative.',
  },
};
