import type { ReactNode } from 'react';
import type { ConnectionBody } from '../../../src/operations/dto/connection.body.js';
import type { FraudHitBody } from '../../../src/operations/dto/fraud-hit.body.js';
import type { MedReviewBody, MedWaitingBody } from '../../../src/operations/dto/med-review.body.js';
import type { NegativeBalanceBody } from '../../../src/operations/dto/negative-balance.body.js';
import type { ReturnedBody } from '../../../src/operations/dto/returned.body.js';
import type { ReviewBody, UnmatchedPixBody, UnreadableBody } from '../../../src/operations/dto/review.body.js';
import type { UncertainPayoutBody } from '../../../src/operations/dto/uncertain-payout.body.js';
import type { WorkBody } from '../../../src/operations/dto/work.body.js';
import { call } from '../api.js';
import { ActionDialog } from '../dialog.js';
import { dateOf, money, percent } from '../format.js';
import { type Translate, useLanguage } from '../language.js';
import { useRefresh } from '../lists.js';
import { Id, Money, Status, Time } from '../ui.js';
import { fraudOperation, fraudRule, modeName, returnReason, returnStatus, unreadableKind, workKind } from '../words.js';
import { Corrections, CorrectPix } from './corrections.js';
import { medReviewColumns } from './med-reviews.js';
import { Accounts } from './operator-accounts.js';
import { AccountName, List, type Queue } from './operator-list.js';
import { uncertainPayoutColumns } from './operator-payouts.js';

type Titled = readonly [title: string, shown: ReactNode];

function listed<R>(queue: Queue<R>): Titled {
  return [queue.label, <List key={queue.path} {...queue} />];
}

/** Queues by the names under which the service counts them. */
export function operatorQueues(t: Translate): Readonly<Record<string, Titled>> {
  return {
    reviews: listed<ReviewBody>({
      label: t('Pagamentos retidos', 'Held payments'),
      path: 'reviews',
      empty: t('Nenhum pagamento aguarda decisão.', 'No payment awaits a decision.'),
      keyOf: ({ id }) => id,
      columns: [
        { name: t('Quando', 'When'), cell: (one) => <Time at={one.settled_at} /> },
        { name: t('Conta', 'Account'), cell: (one) => `${one.account.name} (${modeName(one.mode, t)})` },
        { name: t('Valor', 'Amount'), isNumber: true, cell: (one) => <Money {...one} /> },
        { name: t('Venda', 'Sale'), cell: (one) => <Id value={one.charge_id} /> },
        { name: t('Pagador esperado', 'Expected payer'), cell: (one) => one.expected_payer_tax_id ?? '–' },
        { name: t('Pago por', 'Paid by'), cell: (one) => one.reported_payer_tax_id ?? '–' },
        { name: t('Motivo', 'Reason'), cell: (one) => (one.reason === null ? '–' : returnReason(one.reason, t)) },
        { name: t('Decisão', 'Decision'), cell: (one) => <Decision review={one} /> },
      ],
    }),
    med: listed<MedReviewBody>({
      label: t('Disputas a decidir', 'Disputes to decide'),
      path: 'med',
      empty: t('Nenhuma disputa aguarda decisão.', 'No dispute awaits a decision.'),
      keyOf: ({ id }) => id,
      columns: medReviewColumns(t),
    }),
    med_waiting: listed<MedWaitingBody>({
      label: t('Disputas sem venda', 'Disputes without a sale'),
      path: 'med/waiting',
      empty: t('Nenhuma.', 'None.'),
      keyOf: ({ id }) => id,
      columns: [
        { name: t('Aberta', 'Opened'), cell: (one) => <Time at={one.opened_at} /> },
        { name: t('Pagamento', 'Payment'), cell: (one) => one.payment },
        { name: t('Valor', 'Amount'), isNumber: true, cell: (one) => <Money amount={one.amount} /> },
        { name: t('Prazo', 'Deadline'), cell: (one) => <Time at={one.response_deadline} /> },
        { name: t('Referência', 'Reference'), cell: (one) => <Id value={one.payment_reference} /> },
      ],
    }),
    unmatched: listed<UnmatchedPixBody>({
      label: t('Pix sem cobrança', 'Unmatched Pix'),
      path: 'unmatched',
      empty: t('Nenhum Pix sem cobrança.', 'No unmatched Pix.'),
      keyOf: ({ id }) => id,
      columns: [
        { name: t('Quando', 'When'), cell: (one) => <Time at={one.settled_at} /> },
        { name: t('Valor', 'Amount'), isNumber: true, cell: (one) => <Money amount={one.amount} /> },
        { name: t('Pago por', 'Paid by'), cell: (one) => one.reported_payer_tax_id ?? '–' },
        {
          name: t('Conta', 'Account'),
          cell: (one) => (one.account_id === null ? '–' : <AccountName id={one.account_id} />),
        },
        {
          name: t('Motivo', 'Reason'),
          cell: (one) => one.failure_reason ?? (one.reason === null ? '–' : returnReason(one.reason, t)),
        },
        { name: t('Conexão', 'Connection'), cell: (one) => one.acquirer },
        { name: 'End-to-end', cell: (one) => <Id value={one.end_to_end_id} /> },
        { name: t('Decisão', 'Decision'), cell: (one) => <CorrectPix pix={one} /> },
      ],
    }),
    corrections: [t('Correções', 'Corrections'), <Corrections key="corrections" />],
    returned: listed<ReturnedBody>({
      label: t('Pix devolvidos', 'Returned Pix'),
      path: 'returned',
      empty: t('Nenhum.', 'None.'),
      keyOf: ({ id }) => id,
      columns: [
        { name: t('Quando', 'When'), cell: (one) => <Time at={one.settled_at} /> },
        { name: t('Conta', 'Account'), cell: (one) => `${one.account.name} (${modeName(one.mode, t)})` },
        { name: t('Valor', 'Amount'), isNumber: true, cell: (one) => <Money {...one} /> },
        { name: t('Motivo', 'Reason'), cell: (one) => returnReason(one.reason, t) },
        { name: t('Situação', 'Status'), cell: (one) => one.failure_reason ?? returnStatus(one.status, t) },
        { name: 'End-to-end', cell: (one) => <Id value={one.end_to_end_id} /> },
      ],
    }),
    negative_balances: listed<NegativeBalanceBody>({
      label: t('Saldos negativos', 'Negative balances'),
      path: 'negative-balances',
      empty: t('Nenhum saldo está negativo.', 'No balance is below zero.'),
      keyOf: (one) => `${one.account_id} ${one.mode} ${one.currency}`,
      columns: [
        { name: t('Desde', 'Since'), cell: (one) => <Time at={one.negative_since} /> },
        { name: t('Conta', 'Account'), cell: (one) => <AccountName id={one.account_id} mode={one.mode} /> },
        {
          name: t('Disponível', 'Available'),
          isNumber: true,
          cell: (one) => <Money {...one} amount={one.available} />,
        },
        { name: t('Próximo aviso', 'Next notice'), cell: (one) => <Time at={one.next_notice_at} /> },
      ],
    }),
    payouts: listed<UncertainPayoutBody>({
      label: t('Saques sem desfecho', 'Payouts without an outcome'),
      path: 'payouts',
      empty: t(
        'Todo saque enviado há mais de cinco minutos tem um desfecho.',
        'Every payout that was sent more than five minutes ago has an outcome.',
      ),
      keyOf: ({ id }) => id,
      columns: uncertainPayoutColumns(t),
    }),
    unreadable: listed<UnreadableBody>({
      label: t('Mensagens ilegíveis do banco', 'Unreadable bank messages'),
      path: 'unreadable',
      empty: t('Nenhuma mensagem ilegível.', 'No unreadable messages.'),
      keyOf: ({ id }) => id,
      columns: [
        { name: t('Desde', 'Since'), cell: (one) => <Time at={one.unreadable_since} /> },
        { name: t('Tipo', 'Type'), cell: (one) => unreadableKind(one.kind, t) },
        { name: t('Conexão', 'Connection'), cell: (one) => one.acquirer },
        { name: t('Referência', 'Reference'), cell: (one) => <Id value={one.reference} /> },
      ],
    }),
    work: listed<WorkBody>({
      label: t('Trabalho atrasado', 'Overdue work'),
      path: 'work',
      empty: t('Nada está atrasado.', 'Nothing is overdue.'),
      keyOf: (one) => `${one.kind} ${one.subject_id}`,
      columns: [
        { name: t('Previsto para', 'Was due'), cell: (one) => <Time at={one.due_at} /> },
        { name: t('Tipo', 'Type'), cell: (one) => workKind(one.kind, t) },
        { name: t('Tentativas', 'Attempts'), isNumber: true, cell: (one) => String(one.attempts) },
        { name: t('Último erro', 'Last error'), cell: (one) => one.last_error ?? '–' },
        { name: t('Referência', 'Reference'), cell: (one) => <Id value={one.subject_id} /> },
      ],
    }),
    fraud: listed<FraudHitBody>({
      label: t('Antifraude', 'Fraud guard'),
      path: 'fraud-hits',
      empty: t('Nenhuma recusa.', 'No refusals.'),
      keyOf: ({ id }) => id,
      columns: [
        { name: t('Quando', 'When'), cell: (one) => <Time at={one.created_at} /> },
        { name: t('Regra', 'Rule'), cell: (one) => fraudRule(one.code, t) },
        { name: t('Operação', 'Operation'), cell: (one) => fraudOperation(one.operation, t) },
        { name: t('Valor', 'Amount'), isNumber: true, cell: (one) => <Money amount={one.amount} /> },
        { name: t('Documento', 'Document'), cell: (one) => one.document ?? '–' },
        {
          name: t('Recusada', 'Refused'),
          cell: (one) => (one.enforced ? t('sim', 'yes') : t('só registrada', 'only recorded')),
        },
      ],
    }),
    connections: listed<ConnectionBody>({
      label: t('Conexões a bancos', 'Connections to banks'),
      path: 'connections',
      empty: t('Nenhuma conta conectada a um banco.', 'No account is connected to a bank.'),
      keyOf: ({ id }) => id,
      columns: [
        { name: t('Conta', 'Account'), cell: (one) => <AccountName id={one.account_id} /> },
        { name: t('Banco', 'Bank'), cell: (one) => one.psp },
        { name: t('Chave Pix', 'Pix key'), cell: (one) => <Id value={one.pix_key} /> },
        {
          name: t('Situação', 'Status'),
          cell: (one) => (
            <Status
              value={one.in_use ? 'ACTIVE' : 'CANCELLED'}
              label={one.in_use ? t('Em uso', 'In use') : t('Sem uso', 'Not in use')}
            />
          ),
        },
        { name: t('Tarifas', 'Fees'), cell: (one) => <Fees fees={one.fees} /> },
        {
          name: t('Certificado até', 'Certificate until'),
          cell: ({ certificate_expires_at: at }) =>
            at !== null && Date.parse(at) < Date.now() + CERTIFICATE_MS ? (
              <strong className="problem">
                <Time at={at} />
              </strong>
            ) : (
              <Time at={at} />
            ),
        },
        {
          name: t('Avisos registrados', 'Callbacks registered'),
          cell: (one) => <Time at={one.webhook_registered_at} />,
        },
        { name: t('Configurada', 'Configured'), cell: (one) => <Time at={one.updated_at} /> },
      ],
    }),
    accounts: [t('Contas', 'Accounts'), <Accounts key="accounts" />],
  };
}

/** A held payment is either credited or returned. */
function Decision({ review }: { review: ReviewBody }): ReactNode {
  const { t, language } = useLanguage();
  const refresh = useRefresh('operations');
  if (review.status !== 'pending') return returnStatus(review.status, t);
  const amount = money(review.amount, review.currency, language);
  const whose = review.account.name;
  const decide = (decision: 'accept' | 'return'): Promise<void> =>
    call('POST', `/v1/operations/reviews/${review.id}/${decision}`).then(refresh);
  return (
    <div className="actions">
      <ActionDialog trigger={t('Aceitar', 'Accept')} tone="primary" act={() => decide('accept')}>
        <p>{t(`${amount} são creditados a ${whose}.`, `${amount} are credited to ${whose}.`)}</p>
      </ActionDialog>
      <ActionDialog trigger={t('Devolver', 'Return')} tone="danger" act={() => decide('return')}>
        <p>{t(`${amount} voltam para quem pagou.`, `${amount} go back to who paid.`)}</p>
      </ActionDialog>
    </div>
  );
}

/** Early enough to get a new certificate: banks take days for that. */
const CERTIFICATE_MS = 30 * 86_400_000;

/** The bank's fees, each with its first day. */
function Fees({ fees }: Pick<ConnectionBody, 'fees'>): ReactNode {
  const { t, language } = useLanguage();
  if (fees.length === 0) return '–';
  const cents = (amount: number): string => money(amount, 'BRL', language);
  return (
    <ul className="bare">
      {fees.map(({ operation, valid_from: from, bps, fixed, minimum, maximum }, index) => (
        <li key={index}>
          {[
            `${operation === 'PIX' ? t('Recebimento', 'Payment') : t('Devolução', 'Return')} ${t('desde', 'from')} ${dateOf(from, language)}: ${percent(bps / 10_000, language)}`,
            ...(fixed > 0 ? [`+ ${cents(fixed)}`] : []),
            ...(minimum > 0 ? [`${t('mínimo', 'at least')} ${cents(minimum)}`] : []),
            ...(maximum === null ? [] : [`${t('máximo', 'at most')} ${cents(maximum)}`]),
          ].join(' ')}
        </li>
      ))}
    </ul>
  );
}
