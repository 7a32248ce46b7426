import type { PayoutBody } from '../../src/payouts/dto/payout.body.js';
import type { PayoutDestinationBody, ShownDestinationBody } from '../../src/payouts/dto/payout-destination.body.js';
import { bankName } from './banks.js';
import { dateTime, type Language, money, type Translate } from './format.js';
import { inWords } from './words.js';

export const PAYOUT_STATUSES: readonly PayoutBody['status'][] = [
  ...(['pending', 'processing', 'paid', 'failed', 'cancelled', 'refunded'] as const),
];

export const payoutStatus = inWords((t) => ({
  pending: t('Aguardando', 'Waiting'),
  processing: t('No banco', 'At the bank'),
  paid: t('Pago', 'Paid'),
  failed: t('Falhou', 'Failed'),
  cancelled: t('Cancelado', 'Cancelled'),
  refunded: t('Devolvido', 'Returned'),
}));

/** Why a payout failed or was cancelled. */
export const payoutFailure = inWords((t) => ({
  destination_invalid: t('O destino não existe ou não recebe Pix.', 'The destination does not exist or takes no Pix.'),
  destination_mismatch: t(
    'A chave ou a conta não é do CPF ou CNPJ informado.',
    'The key or account does not belong to the given CPF or CNPJ.',
  ),
  insufficient_funds: t('Faltou dinheiro na conta de onde sai o Pix.', 'The account that sends the Pix was short.'),
  limit_exceeded: t('O valor passa do limite do banco.', 'The amount is above the bank’s limit.'),
  rejected_by_receiver: t('O banco de quem recebe recusou o Pix.', 'The receiver’s bank refused the Pix.'),
  refused: t('O banco recusou o saque.', 'The bank refused the payout.'),
  cancelled: t('Cancelado antes de sair.', 'Cancelled before it was sent.'),
  approval_refused: t('Outra pessoa da conta recusou.', 'Another person of the account refused it.'),
  not_supported: t(
    'O banco desta conta não envia Pix para este tipo de destino.',
    'The bank of this account does not send Pix to this kind of destination.',
  ),
  destination_not_allowed: t(
    'Esta conta só saca para contas do próprio titular.',
    'Payouts of this account go to its own bank accounts only.',
  ),
  not_sent: t('O banco não enviou o saque.', 'The bank did not send the payout.'),
  revoked_by_bank: t(
    'O banco informou que pagou e depois voltou atrás.',
    'The bank reported it as paid and took that back.',
  ),
}));

/** Why a Pix came back, by the codes of BACEN's catalog of messages. */
export const returnCode = inWords((t) => ({
  AC03: t('a agência ou conta não existe', 'the branch or account does not exist'),
  AC06: t('a conta está bloqueada', 'the account is blocked'),
  AC07: t('a conta foi encerrada', 'the account was closed'),
  AC14: t('o tipo da conta está errado', 'the kind of account is wrong'),
  AG03: t('a conta não recebe Pix', 'the account takes no Pix'),
  BE01: t('o CPF ou CNPJ não é do titular da conta', 'the CPF or CNPJ is not of the account’s holder'),
  BE08: t('falha do banco', 'fault of the bank'),
  FR01: t('suspeita de fraude', 'suspected fraud'),
  MD06: t('quem recebeu devolveu', 'the receiver returned it'),
  SL02: t('o banco não aceita este Pix', 'the bank does not take this Pix'),
}));

export const keyKind = inWords((t) => ({
  cpf: 'CPF',
  cnpj: 'CNPJ',
  email: 'E-mail',
  phone: t('Celular', 'Phone'),
  random: t('Chave aleatória', 'Random key'),
}));

export const accountType = inWords((t) => ({
  checking: t('Conta corrente', 'Checking account'),
  savings: t('Poupança', 'Savings account'),
  payment: t('Conta de pagamento', 'Payment account'),
}));

/** A receiver on one line. */
export function receiverLine(receiver: ShownDestinationBody, t: Translate): string {
  switch (receiver.type) {
    case 'pix_key':
      return `${keyKind(receiver.key_type ?? '', t)} ${receiver.key ?? ''}`;
    case 'br_code':
      return receiver.key == null
        ? t('Pix copia e cola', 'Pix code')
        : `${t('Pix copia e cola', 'Pix code')} · ${receiver.key}`;
    case 'bank_account':
      return `${bankName(receiver.ispb ?? '')} · ${receiver.branch ?? ''} / ${receiver.number ?? ''}`;
  }
}

/** A saved destination on one line, by its name if it has one. */
export function destinationName({ label, ...receiver }: PayoutDestinationBody, t: Translate): string {
  const line = receiverLine(receiver, t);
  return label === undefined ? line : `${label} (${line})`;
}

/** The receiver's data as facts. */
export function receiverFacts(receiver: ShownDestinationBody, t: Translate): readonly (readonly [string, string])[] {
  const taxId = [['CPF / CNPJ', receiver.tax_id ?? t('não informado', 'not given')]] as const;
  switch (receiver.type) {
    case 'pix_key':
      return [
        [t('Chave Pix', 'Pix key'), `${receiver.key ?? ''} (${keyKind(receiver.key_type ?? '', t)})`],
        ...(receiver.key_type === 'cpf' || receiver.key_type === 'cnpj' ? [] : taxId),
      ];
    case 'br_code':
      return [
        [t('Tipo', 'Kind'), t('Pix copia e cola', 'Pix code')],
        ...(receiver.key == null ? [] : ([[t('Chave Pix', 'Pix key'), receiver.key]] as const)),
      ];
    case 'bank_account':
      return [
        [t('Banco', 'Bank'), bankName(receiver.ispb ?? '')],
        [t('Agência', 'Branch'), receiver.branch ?? ''],
        [accountType(receiver.account_type ?? '', t), receiver.number ?? ''],
        ...taxId,
      ];
  }
}

/** Whether the night's limit holds the payout until 06:00 in São Paulo, where the clock is three hours behind UTC. */
export function awaitsMorning({ status, approval, send_after: at }: PayoutBody): boolean {
  if (status !== 'pending' || approval || at === undefined) return false;
  return at.endsWith('T09:00:00.000Z') && Date.parse(at) > Date.now();
}

/** Explains the status: the next step of an open payout, or the reason of an end. Null: the status says all. */
export function payoutNote(payout: PayoutBody, t: Translate, language: Language): string | null {
  const { status, approval, send_after: at, processing_reason: reason, failure, amount_returned: returned } = payout;
  const amount = money(returned ?? 0, payout.currency, language);
  switch (status) {
    case 'pending':
      if (approval) return t('aguarda a aprovação de outra pessoa', 'awaits another person’s approval');
      if (at === undefined) return t('sai em instantes', 'is sent in a moment');
      if (awaitsMorning(payout)) return t('aguarda as 6h: limite da noite', 'waits for 6 a.m.: limit of the night');
      return t(`sai a partir de ${dateTime(at, language)}`, `is sent after ${dateTime(at, language)}`);
    case 'processing':
      return (
        {
          review: t('em análise no banco', 'under review at the bank'),
          unknown: t('aguardando a resposta do banco', 'awaiting the bank’s response'),
          operator: t('em conferência com o banco', 'being checked with the bank'),
        }[reason ?? ''] ?? t('em envio pelo banco', 'being sent by the bank')
      );
    case 'failed':
    case 'cancelled':
      return failure ? payoutFailure(failure.reason, t) : null;
    case 'paid':
      return returned === undefined ? null : t(`${amount} voltaram`, `${amount} came back`);
    case 'refunded':
      return t('o valor inteiro voltou', 'all of it came back');
  }
}
