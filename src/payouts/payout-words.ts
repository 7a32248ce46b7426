import type { PayoutSchedule } from '../accounts/index.js';
import { moneyText } from '../core/money/index.js';
import type { PayoutFailure } from './payout.entity.js';
import type { ShownTarget } from './targets.js';

/** A text in both languages of mails. */
export interface Words {
  readonly portuguese: string;
  readonly english: string;
}

/** Names a masked receiver. */
export function receiverWords(shown: ShownTarget): Words {
  switch (shown.type) {
    case 'pix_key':
      return { portuguese: `chave Pix ${shown.key}`, english: `Pix key ${shown.key}` };
    case 'br_code': {
      const key = shown.key === null ? '' : ` (${shown.key})`;
      return { portuguese: `código Pix${key}`, english: `Pix code${key}` };
    }
    case 'bank_account': {
      const { ispb, branch, number } = shown;
      return {
        portuguese: `banco ${ispb}, agência ${branch}, conta ${number}`,
        english: `bank ${ispb}, branch ${branch}, account ${number}`,
      };
    }
  }
}

/** Says why a payout reached nobody. */
export const FAILURE_WORDS: Readonly<Record<PayoutFailure, Words>> = {
  destination_invalid: {
    portuguese: 'A chave ou conta de destino não existe ou não recebe Pix.',
    english: 'The key or account of the destination does not exist, or takes no Pix.',
  },
  destination_mismatch: {
    portuguese: 'O CPF ou CNPJ informado não é o do dono do destino.',
    english: 'The CPF or CNPJ sent is not that of the destination’s owner.',
  },
  insufficient_funds: {
    portuguese: 'A conta no banco que envia não tinha saldo. Fale com o operador do serviço.',
    english: 'The bank account that sends had not enough money. Tell the operator of the service.',
  },
  limit_exceeded: {
    portuguese: 'O banco recusou o envio por um limite dele. Tente um valor menor ou outro horário.',
    english: 'The bank refused it because of a limit of its own. Try a smaller amount or another hour.',
  },
  rejected_by_receiver: {
    portuguese: 'O banco de destino recusou o valor.',
    english: 'The bank of the destination refused the money.',
  },
  refused: { portuguese: 'O banco recusou o envio.', english: 'The bank refused to send it.' },
  cancelled: { portuguese: 'O saque foi cancelado.', english: 'The payout was cancelled.' },
  approval_refused: { portuguese: 'A aprovação foi recusada.', english: 'The approval was refused.' },
  not_supported: {
    portuguese: 'A conexão com o banco não envia mais dinheiro a este destino. Fale com o operador do serviço.',
    english:
      'The connection with the bank no longer sends money to this destination. Tell the operator of the service.',
  },
  destination_not_allowed: {
    portuguese: 'A conta não pode mais enviar a este destino.',
    english: 'The account may no longer send to this destination.',
  },
  not_sent: {
    portuguese: 'O banco confirmou que não enviou o dinheiro.',
    english: 'The bank confirmed that it did not send the money.',
  },
  revoked_by_bank: {
    portuguese: 'O banco tinha confirmado o pagamento e voltou atrás.',
    english: 'The bank had confirmed the payment and took that back.',
  },
};

/** Why an occurrence of a schedule sends nothing. The limits have their own names. */
export type NotSent =
  | 'destination_gone'
  | 'destination_not_allowed'
  | 'account_tax_id_missing'
  | 'PAYOUT_NOT_SUPPORTED'
  | 'no_provider_configured'
  | 'document_blocked'
  | 'payout_max'
  | 'payout_daily_max'
  | 'payout_night_max';

export const NOT_SENT_WORDS: Readonly<Record<NotSent, Words>> = {
  destination_gone: {
    portuguese: 'O destino da programação foi excluído. Escolha outro destino na programação.',
    english: 'The destination of the schedule was deleted. Choose another one in the schedule.',
  },
  destination_not_allowed: {
    portuguese:
      'A conta só pode enviar a contas bancárias do próprio titular, e o CPF ou CNPJ deste destino é outro. Escolha um destino seu ou fale com o operador do serviço.',
    english:
      'The account may send to bank accounts of its own holder only, and the CPF or CNPJ of this destination is another one. Choose a destination of yours, or ask the operator of the service.',
  },
  account_tax_id_missing: {
    portuguese: 'O CPF ou CNPJ da sua conta não está cadastrado. O operador do serviço o cadastra.',
    english: 'The CPF or CNPJ of your account is not known. The operator of the service sets it.',
  },
  PAYOUT_NOT_SUPPORTED: {
    portuguese: 'O banco ligado à sua conta não envia dinheiro a este tipo de destino. Fale com o operador do serviço.',
    english:
      'The bank connected to your account does not send to this kind of destination. Ask the operator of the service.',
  },
  no_provider_configured: {
    portuguese: 'A sua conta não tem banco ligado para o modo real. Fale com o operador do serviço.',
    english: 'Your account has no bank connected in live mode. Ask the operator of the service.',
  },
  document_blocked: {
    portuguese: 'O CPF ou CNPJ do destino está na lista de bloqueio da conta.',
    english: 'The CPF or CNPJ of the destination is on the block list of the account.',
  },
  payout_max: {
    portuguese: 'O limite por saque da conta não permite enviar o mínimo da programação.',
    english: 'The account’s limit per payout does not allow the minimum of the schedule.',
  },
  payout_daily_max: {
    portuguese: 'O limite diário de saques da conta foi atingido.',
    english: 'The account’s daily limit of payouts is reached.',
  },
  payout_night_max: {
    portuguese: 'O limite de saques à noite (20h às 6h) foi atingido. Programe um horário de dia.',
    english: 'The limit of payouts at night (20:00 to 06:00) is reached. Schedule a time by day.',
  },
};

/** Names the limit that made a payout smaller. */
export const LIMIT_WORDS: Readonly<Record<Extract<NotSent, `payout_${string}`>, Words>> = {
  payout_max: { portuguese: 'limite por saque', english: 'limit per payout' },
  payout_daily_max: { portuguese: 'limite diário', english: 'daily limit' },
  payout_night_max: { portuguese: 'limite da noite (20h às 6h)', english: 'limit at night (20:00 to 06:00)' },
};

const WEEKDAYS: readonly Words[] = [
  { portuguese: 'segunda-feira', english: 'Monday' },
  { portuguese: 'terça-feira', english: 'Tuesday' },
  { portuguese: 'quarta-feira', english: 'Wednesday' },
  { portuguese: 'quinta-feira', english: 'Thursday' },
  { portuguese: 'sexta-feira', english: 'Friday' },
];

/** Says when a schedule sends, what and to whom. */
export function scheduleWords(schedule: PayoutSchedule, receiver: Words): Words {
  const { every, on, at, leave, minimum } = schedule;
  const day = on ?? 1;
  const weekday = WEEKDAYS[day - 1];
  const days = {
    day: { portuguese: 'Todo dia útil', english: 'Every bank day' },
    week: { portuguese: `Toda ${weekday?.portuguese}`, english: `Every ${weekday?.english}` },
    month: { portuguese: `Todo dia ${day} do mês`, english: `On day ${day} of every month` },
  }[every];
  const [left, least] = [moneyText(leave, 'BRL'), moneyText(minimum, 'BRL')];
  return {
    portuguese: `${days.portuguese} às ${at} (horário de Brasília), para ${receiver.portuguese}. Fica na conta: ${left}. Envia a partir de ${least}.`,
    english: `${days.english} at ${at} (Brasília time), to ${receiver.english}. Stays in the account: ${left}. Sends ${least} or more.`,
  };
}
