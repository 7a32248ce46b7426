import type { ComponentProps, ReactNode } from 'react';
import type { CorrectionBody } from '../../../src/operations/dto/correction.body.js';
import type { UnmatchedPixBody } from '../../../src/operations/dto/review.body.js';
import { call } from '../api.js';
import { ActionDialog } from '../dialog.js';
import { money, parseAmount } from '../format.js';
import { useFields } from '../forms.js';
import { useLanguage } from '../language.js';
import { useRefresh } from '../lists.js';
import { useSession } from '../session.js';
import { Choice, Id, Input, Money, Status, Time } from '../ui.js';
import { inWords } from '../words.js';
import { AccountName, List } from './operator-list.js';

const kindOf = inWords((t) => ({
  return: t('Devolver a quem pagou', 'Return to the payer'),
  assign: t('Creditar a uma cobrança', 'Assign to a charge'),
  returned_elsewhere: t('Já devolvido no aplicativo do banco', 'Already returned in the bank’s app'),
  write_off: t('Baixar: o valor fica com a plataforma', 'Write off: the platform keeps it'),
  bank_fee: t('Tarifa do banco', 'Bank fee'),
  loss: t('Perda', 'Loss'),
}));

const REASON_LEAST = 5;

function Reason(field: Pick<ComponentProps<typeof Input>, 'value' | 'onChange'>): ReactNode {
  const { t } = useLanguage();
  return (
    <Input
      label={t('Motivo (fica registrado)', 'Reason (is recorded)')}
      minLength={REASON_LEAST}
      maxLength={500}
      {...field}
      required
    />
  );
}

const isWritten = (reason: string): boolean => reason.trim().length >= REASON_LEAST;

/** Decides what happens to a Pix in suspense. */
export function CorrectPix({ pix }: { pix: UnmatchedPixBody }): ReactNode {
  const { t, language } = useLanguage();
  const refresh = useRefresh('operations');
  const { fields, begin, field } = useFields({ kind: '', charge: '', reference: '', reason: '' });
  const { kind, reason } = fields;
  const charge = fields.charge.trim();
  const reference = fields.reference.trim();
  if (pix.account_id === null) return t('sem conta', 'no account');
  if (pix.correction_id !== null) return t('aguarda outro operador', 'awaits another operator');
  // A Pix that was paid for a charge of its own cannot be assigned to another.
  const kinds = ['return', ...(pix.charge_id === null ? ['assign'] : []), 'returned_elsewhere', 'write_off'];
  const isComplete =
    isWritten(reason) &&
    kind !== '' &&
    (kind !== 'assign' || charge !== '') &&
    (kind !== 'returned_elsewhere' || reference !== '');
  return (
    <ActionDialog
      trigger={t('Resolver', 'Resolve')}
      tone="danger"
      title={t(
        `Resolver o Pix de ${money(pix.amount, 'BRL', language)}`,
        `Put the Pix of ${money(pix.amount, 'BRL', language)} right`,
      )}
      confirm={t('Confirmar', 'Confirm')}
      isReady={isComplete}
      opened={begin}
      act={(key) =>
        call('POST', `/v1/operations/unmatched/${pix.id}/correct`, {
          ...{ kind, reason: reason.trim(), idempotency_key: key },
          ...(kind === 'assign' ? { charge_id: charge } : {}),
          ...(kind === 'returned_elsewhere' ? { bank_reference: reference } : {}),
        }).then(refresh)
      }
    >
      <Choice
        label={t('O que fazer', 'What to do')}
        {...field('kind')}
        options={[['', t('Escolha', 'Choose')] as const, ...kinds.map((one) => [one, kindOf(one, t)] as const)]}
      />
      {kind === 'assign' && (
        <Input label={t('Id da cobrança', 'Id of the charge')} placeholder="ch_…" {...field('charge')} required />
      )}
      {kind === 'returned_elsewhere' && (
        <Input
          label={t('Id da devolução no banco', 'Id of the return at the bank')}
          hint={t('Até 35 letras e números.', 'Up to 35 letters and digits.')}
          maxLength={35}
          {...field('reference')}
          required
        />
      )}
      <Reason {...field('reason')} />
    </ActionDialog>
  );
}

/** Corrections by operators, and those that wait for a second operator. */
export function Corrections(): ReactNode {
  const { t } = useLanguage();
  return (
    <>
      <div className="actions">
        <NewCorrection />
      </div>
      <List<CorrectionBody>
        label={t('Correções', 'Corrections')}
        path="corrections"
        empty={t('Nenhuma correção.', 'No corrections.')}
        keyOf={({ id }) => id}
        columns={[
          { name: t('Quando', 'When'), cell: (one) => <Time at={one.created_at} /> },
          { name: t('Conta', 'Account'), cell: (one) => <AccountName id={one.account_id} mode={one.mode} /> },
          { name: t('Tipo', 'Type'), cell: (one) => kindOf(one.kind, t) },
          { name: t('Valor', 'Amount'), isNumber: true, cell: (one) => <Money {...one} /> },
          { name: t('Motivo', 'Reason'), cell: (one) => <span className="written">{one.reason}</span> },
          {
            name: t('Cobrança', 'Charge'),
            cell: (one) => (one.charge_id === null ? '–' : <Id value={one.charge_id} />),
          },
          {
            name: t('Situação', 'Status'),
            cell: (one) => (
              <Status
                value={{ waiting: 'PENDING', applied: 'PAID', rejected: 'FAILED' }[one.status] ?? one.status}
                label={
                  {
                    waiting: t('Aguardando', 'Waiting'),
                    applied: t('Aplicada', 'Applied'),
                    rejected: t('Recusada', 'Rejected'),
                  }[one.status] ?? one.status
                }
              />
            ),
          },
          {
            name: t('Decisão', 'Decision'),
            cell: (one) => (one.status === 'waiting' ? <Decide correction={one} /> : '–'),
          },
        ]}
      />
    </>
  );
}

function Decide({ correction }: { correction: CorrectionBody }): ReactNode {
  const { t, language } = useLanguage();
  const { user } = useSession();
  const refresh = useRefresh('operations');
  const decide = (decision: 'approve' | 'reject', trigger: string): ReactNode => (
    <ActionDialog
      trigger={trigger}
      tone={decision === 'approve' ? 'danger' : 'plain'}
      title={`${trigger}: ${kindOf(correction.kind, t)}`}
      act={() => call('POST', `/v1/operations/corrections/${correction.id}/${decision}`).then(refresh)}
    >
      <p>
        {money(correction.amount, correction.currency, language)} · <span className="written">{correction.reason}</span>
      </p>
    </ActionDialog>
  );
  return (
    <div className="actions">
      {correction.requested_by === user.id
        ? t('aguarda outro operador', 'awaits another operator')
        : decide('approve', t('Aprovar', 'Approve'))}
      {decide('reject', t('Recusar', 'Reject'))}
    </div>
  );
}

function NewCorrection(): ReactNode {
  const { t, language } = useLanguage();
  const refresh = useRefresh('operations');
  const { fields, set, begin, field } = useFields({
    kind: 'bank_fee',
    account: '',
    mode: 'live',
    amount: '',
    currency: 'BRL',
    bearer: 'platform',
    charge: '',
    reference: '',
    acquirer: '',
    month: '',
    reason: '',
  });
  // A negative amount: a fee or a loss that came back.
  const bare = fields.amount.trim().replace(/^[-−]/, '');
  const size = parseAmount(bare, language);
  const amount = size !== null && bare !== fields.amount.trim() ? -size : size;
  const mayNameInvoice = fields.kind === 'bank_fee' && fields.mode === 'live';
  const isInvoiceNamed = !mayNameInvoice || (fields.month === '') === (fields.acquirer.trim() === '');
  return (
    <ActionDialog
      trigger={t('Lançar tarifa ou perda', 'Enter a fee or a loss')}
      tone="danger"
      confirm={t('Lançar', 'Enter')}
      isReady={
        isWritten(fields.reason) &&
        amount !== null &&
        /^[A-Z]{3,5}$/.test(fields.currency) &&
        fields.account.trim() !== '' &&
        isInvoiceNamed
      }
      opened={begin}
      act={(key) =>
        call('POST', '/v1/operations/corrections', {
          ...{
            kind: fields.kind,
            account_id: fields.account.trim(),
            mode: fields.mode,
            amount,
            currency: fields.currency,
          },
          ...{ borne_by: fields.bearer, reason: fields.reason.trim(), idempotency_key: key },
          ...(fields.charge.trim() === '' ? {} : { charge_id: fields.charge.trim() }),
          ...(fields.reference.trim() === '' ? {} : { bank_reference: fields.reference.trim() }),
          ...(mayNameInvoice && fields.month !== ''
            ? { invoice_month: fields.month, acquirer: fields.acquirer.trim() }
            : {}),
        }).then(refresh)
      }
    >
      <Choice
        label={t('Tipo', 'Type')}
        {...field('kind')}
        options={['bank_fee', 'loss'].map((kind) => [kind, kindOf(kind, t)] as const)}
      />
      <Input label={t('Id da conta', 'Id of the account')} {...field('account')} required />
      <Choice
        label={t('Modo', 'Mode')}
        {...field('mode')}
        options={[['live', t('Produção', 'Live')] as const, ['test', t('Teste', 'Test')] as const]}
      />
      <Input
        label={t('Valor', 'Amount')}
        hint={
          amount === null
            ? t('Use sinal de menos para estornar uma tarifa ou perda.', 'Use a minus sign to reverse a fee or a loss.')
            : money(amount, fields.currency, language)
        }
        {...field('amount')}
        required
      />
      <Input
        label={t('Moeda', 'Currency')}
        maxLength={5}
        value={fields.currency}
        onChange={(event) => set({ currency: event.target.value.toUpperCase() })}
        required
      />
      <Choice
        label={t('Quem paga', 'Who pays it')}
        {...field('bearer')}
        options={[
          ['platform', t('A plataforma', 'The platform')] as const,
          ['merchant', t('O lojista', 'The merchant')] as const,
        ]}
      />
      <Input label={t('Id da cobrança, se houver', 'Id of the charge, if any')} {...field('charge')} />
      <Input
        label={t('Id da devolução no banco, se houver', 'Id of the return at the bank, if any')}
        {...field('reference')}
      />
      {mayNameInvoice && (
        <>
          <Input
            label={t('Mês da fatura do banco, se houver', 'Month of the bank’s invoice, if any')}
            type="month"
            pattern="[0-9]{4}-[0-9]{2}"
            placeholder="2026-11"
            {...field('month')}
          />
          <Input
            label={t('Conexão da fatura', 'Connection of the invoice')}
            placeholder="pix-api:…"
            {...field('acquirer')}
          />
        </>
      )}
      <Reason {...field('reason')} />
    </ActionDialog>
  );
}
