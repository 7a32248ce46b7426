import type { Account } from '../accounts/index.js';
import { moneyText } from '../acquirers/index.js';
import { bilingualMail, type Mail } from '../core/mail/index.js';
import type { Amount } from '../core/money/index.js';
import type { MedCase } from './med-case.js';
import type { MoneyOutcome } from './med-cases.machine.js';

/** Tells the account's contact that money was disputed, how much of it is held and until when to answer. */
export function openedMail({ id, contactEmail }: Account, medCase: MedCase): Mail {
  const { responseDeadline } = medCase;
  const path = `/v1/med/cases/med_${medCase.id}`;
  const disputed = moneyText(medCase.amount, medCase.currency);
  const held = moneyText(medCase.heldAmount, medCase.currency);
  return {
    accountId: id,
    to: contactEmail,
    ...bilingualMail({
      mode: medCase.mode,
      subject: `MED aberto: ${disputed} / MED opened: ${disputed}`,
      portuguese: [
        `Um pagamento foi contestado (${KIND[medCase.type].portuguese}). Valor contestado: ${disputed}.`,
        `Cobrança: ch_${medCase.transactionId}`,
        `Caso: med_${medCase.id}`,
        ...(medCase.reason === null ? [] : [`Motivo informado: ${medCase.reason}`]),
        `Valor bloqueado do seu saldo até a decisão: ${held}. O saldo disponível pode ficar negativo.`,
        responseDeadline === null
          ? 'O prazo para responder não foi informado.'
          : `Prazo para responder: ${timeText(responseDeadline)}.`,
        `Para contestar: POST ${path}/appeal com {"reason": "…"}, e anexe provas. Para aceitar a perda: POST ${path}/accept.`,
      ],
      english: [
        `A payment was disputed (${KIND[medCase.type].english}). Disputed amount: ${disputed}.`,
        `Charge: ch_${medCase.transactionId}`,
        `Case: med_${medCase.id}`,
        ...(medCase.reason === null ? [] : [`Claimed reason: ${medCase.reason}`]),
        `Held from your balance until the ruling: ${held}. The available balance may become negative.`,
        responseDeadline === null
          ? 'The deadline for answering was not informed.'
          : `Deadline for answering: ${timeText(responseDeadline)}.`,
        `To contest it: POST ${path}/appeal with {"reason": "…"}, and attach evidence. To accept the loss: POST ${path}/accept.`,
      ],
    }),
  };
}

/** @param amount what was held and has now its destination */
export function resolvedMail({ id, contactEmail }: Account, medCase: MedCase, amount: Amount): Mail {
  const money = moneyText(amount, medCase.currency);
  const outcome = OUTCOME[medCase.moneyOutcome ?? 'lost'];
  return {
    accountId: id,
    to: contactEmail,
    ...bilingualMail({
      mode: medCase.mode,
      subject: `MED encerrado: ${outcome.subject.portuguese} / MED resolved: ${outcome.subject.english}`,
      portuguese: [
        `O caso med_${medCase.id} da cobrança ch_${medCase.transactionId} foi encerrado.`,
        `${outcome.text.portuguese} Valor: ${money}.`,
        `Detalhes: GET /v1/med/cases/med_${medCase.id}`,
      ],
      english: [
        `The case med_${medCase.id} of the charge ch_${medCase.transactionId} was resolved.`,
        `${outcome.text.english} Amount: ${money}.`,
        `Details: GET /v1/med/cases/med_${medCase.id}`,
      ],
    }),
  };
}

/** The bank has ruled otherwise after the case was over. @param taken from the merchant; negative: was given back */
export function correctedMail({ id, contactEmail }: Account, medCase: MedCase, taken: Amount): Mail {
  const money = moneyText(Math.abs(taken), medCase.currency);
  const text = taken < 0 || medCase.moneyOutcome === 'refunded_to_merchant' ? GIVEN_BACK : TAKEN;
  return {
    accountId: id,
    to: contactEmail,
    ...bilingualMail({
      mode: medCase.mode,
      subject: `MED corrigido: ${text.subject.portuguese} / MED corrected: ${text.subject.english}`,
      portuguese: [
        `O banco mudou a decisão do caso med_${medCase.id} da cobrança ch_${medCase.transactionId}, que estava encerrado.`,
        `${text.text.portuguese} Valor: ${money}.`,
        `Detalhes: GET /v1/med/cases/med_${medCase.id}`,
      ],
      english: [
        `The bank has changed its ruling of the case med_${medCase.id} of the charge ch_${medCase.transactionId}, which was closed.`,
        `${text.text.english} Amount: ${money}.`,
        `Details: GET /v1/med/cases/med_${medCase.id}`,
      ],
    }),
  };
}

interface Words {
  readonly portuguese: string;
  readonly english: string;
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

function timeText(at: Date): string {
  return `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
