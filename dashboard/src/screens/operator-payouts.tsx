import type { ReactNode } from 'react';
import type { UncertainPayoutBody } from '../../../src/operations/dto/uncertain-payout.body.js';
import { call } from '../api.js';
import { ActionDialog } from '../dialog.js';
import { money } from '../format.js';
import { useFields } from '../forms.js';
import { type Translate, useLanguage } from '../language.js';
import { useRefresh } from '../lists.js';
import { payoutFailure, receiverLine } from '../payout-words.js';
import { Choice, type Column, Facts, Field, Id, Input, Money, Status, Time } from '../ui.js';
import { inWords } from '../words.js';
import { AccountName } from './operator-list.js';

const REFUSALS = [
  ...['destination_invalid', 'destination_mismatch', 'insufficient_funds', 'limit_exceeded', 'rejected_by_receiver'],
  'refused',
];
const MOST_REASON = 500;

const whyItWaits = inWords((t) => ({
  sent: t('o banco não informou o resultado', 'the bank did not report the outcome'),
  review: t('em análise no banco', 'under review at the bank'),
  unknown: t('o banco não respondeu', 'the bank has not answered'),
  operator: t('o banco não encontra o envio', 'the bank does not find it'),
  queued: t('o banco ainda não aceitou o envio', 'the bank has not accepted it yet'),
}));

/** Payouts whose end the bank does not tell. */
export function uncertainPayoutColumns(t: Translate): readonly Column<UncertainPayoutBody>[] {
  return [
    { name: t('Enviado', 'Sent'), cell: (one) => <Time at={one.sent_at} /> },
    { name: t('Conta', 'Account'), cell: (one) => <AccountName id={one.account_id} mode={one.mode} /> },
    { name: t('Valor', 'Amount'), isNumber: true, cell: ({ payout }) => <Money {...payout} /> },
    {
      name: t('Situação', 'Status'),
      cell: ({ payout: { processing_reason: reason } }) => (
        <Status value={reason === 'operator' ? 'open' : 'processing'} label={whyItWaits(reason ?? 'queued', t)} />
      ),
    },
    { name: t('Para', 'To'), cell: ({ payout }) => receiverLine(payout.destination, t) },
    { name: t('Conexão', 'Connection'), cell: (one) => one.acquirer },
    { name: t('Id no banco', 'Id at the bank'), cell: (one) => <Id value={one.send_id} /> },
    { name: t('Decisão', 'Decision'), cell: (one) => <Resolve uncertain={one} /> },
  ];
}

function Resolve({ uncertain: { id, payout, send_id: sendId } }: { uncertain: UncertainPayoutBody }): ReactNode {
  const { t, language } = useLanguage();
  const refresh = useRefresh('operations');
  const { fields, begin, field } = useFields({ outcome: '', end_to_end_id: '', failure: '', reason: '' });
  const isPaid = fields.outcome === 'paid';
  const reason = fields.reason.trim();
  const endToEndId = fields.end_to_end_id.trim();
  const amount = money(payout.amount + payout.fee, payout.currency, language);
  return (
    <ActionDialog
      trigger={t('Resolver', 'Resolve')}
      title={t('Como este saque terminou', 'How this payout ended')}
      tone="danger"
      confirm={t('Confirmar', 'Confirm')}
      isReady={fields.outcome !== '' && reason.length >= 3}
      opened={begin}
      act={() =>
        call('POST', `/v1/operations/payouts/${id}/resolve`, {
          outcome: fields.outcome,
          ...(isPaid && endToEndId !== '' ? { end_to_end_id: endToEndId } : {}),
          ...(!isPaid && fields.failure !== '' ? { failure: fields.failure } : {}),
          reason,
        }).then(refresh)
      }
    >
      <Facts
        rows={[
          [t('Valor', 'Amount'), <Money {...payout} />],
          [t('Para', 'To'), receiverLine(payout.destination, t)],
          [t('Id no banco', 'Id at the bank'), <Id value={sendId} />],
        ]}
      />
      <Choice
        label={t('No banco', 'At the bank')}
        required
        {...field('outcome')}
        options={[
          ['', t('Escolha', 'Choose')],
          ['paid', t('Foi pago', 'It was paid')],
          ['failed', t('Não foi pago', 'It was not paid')],
        ]}
      />
      {isPaid && (
        <Input
          label={t('ID da transação Pix no banco (opcional)', 'End-to-end id at the bank (optional)')}
          maxLength={32}
          autoComplete="off"
          {...field('end_to_end_id')}
        />
      )}
      {fields.outcome === 'failed' && (
        <>
          <Choice
            label={t('Motivo para o lojista', 'Reason for the merchant')}
            {...field('failure')}
            options={[
              ['', payoutFailure('not_sent', t)],
              ...REFUSALS.map((one) => [one, payoutFailure(one, t)] as const),
            ]}
          />
          <p role="note">
            {t(
              `${amount} voltam ao saldo do lojista. Se o banco enviou mesmo assim, este valor está perdido.`,
              `${amount} go back to the merchant. If the bank has sent them after all, they are lost.`,
            )}
          </p>
        </>
      )}
      <Field
        label={t('Comprovação', 'Evidence')}
        hint={t('Por exemplo, o extrato do banco e o dia dele.', 'For example, the bank’s statement and its day.')}
      >
        {(named) => <textarea {...named} rows={3} maxLength={MOST_REASON} required {...field('reason')} />}
      </Field>
    </ActionDialog>
  );
}
