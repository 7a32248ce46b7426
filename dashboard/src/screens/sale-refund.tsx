import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { PaymentDetailBody } from '../../../src/payments/dto/payment.body.js';
import type { RefundItemBody } from '../../../src/payments/dto/refund.body.js';
import type { BalanceBody } from '../../../src/wallets/dto/wallet.body.js';
import { call, door, withQuery } from '../api.js';
import { ActionDialog } from '../dialog.js';
import { decimal, money, parseAmount } from '../format.js';
import { useFields } from '../forms.js';
import { useLanguage } from '../language.js';
import { useRefresh } from '../lists.js';
import { useMode } from '../session.js';
import { toast } from '../toast.js';
import { Button, Card, Choice, Facts, Id, Input, Money, Status, Table, Time } from '../ui.js';
import { refundFailure, refundStatus, refundStrategy } from '../words.js';

/** Gives money of a paid sale back. @param left the amount that no refund has taken */
export function Refund({ sale, left }: { sale: PaymentDetailBody; left: number }): ReactNode {
  const { t, language } = useLanguage();
  const mode = useMode();
  const refresh = useRefresh(mode);
  const { fields, set, begin, field } = useFields({ amount: '', reason: '', strategy: '' });
  const balance = useQuery({
    queryKey: [mode, 'balance', sale.currency],
    queryFn: () => call<BalanceBody>('GET', door(mode, withQuery('/wallets/balance', { currency: sale.currency }))),
  });
  const available = balance.data?.available ?? null;
  const asked = fields.amount.trim() === '' ? left : parseAmount(fields.amount, language);
  const missing = asked === null || available === null ? 0 : Math.max(asked - available, 0);
  const payer = t('quem pagou', 'who paid') + (sale.customerName === null ? '' : ` (${sale.customerName})`);
  const text = (amount: number): string => money(amount, sale.currency, language);
  const fees = (sale.providerFee ?? 0) + (sale.platformFee ?? 0);
  const reason = fields.reason.trim();
  const refund = async (idempotencyKey: string): Promise<void> => {
    await call('POST', door(mode, `/payments/${sale.id}/refund`), {
      ...{ idempotencyKey, amount: asked },
      ...(reason === '' ? {} : { reason }),
      ...(fields.strategy === '' ? {} : { strategy: fields.strategy }),
    });
    toast(t(`Reembolso de ${text(asked ?? 0)} solicitado.`, `Refund of ${text(asked ?? 0)} requested.`));
    await refresh();
  };
  return (
    <ActionDialog
      trigger={t('Reembolsar', 'Refund')}
      tone="danger"
      confirm={asked === null ? t('Reembolsar', 'Refund') : `${t('Devolver', 'Give back')} ${text(asked)}`}
      isReady={asked !== null && asked <= left && missing === 0}
      opened={() => {
        begin();
        void balance.refetch();
      }}
      act={refund}
    >
      <Input
        label={t('Valor', 'Amount')}
        hint={t(`Vazio: tudo o que resta, ${text(left)}.`, `Empty: all that is left, ${text(left)}.`)}
        inputMode="decimal"
        {...field('amount')}
      />
      <div className="choices">
        <Button onClick={() => set({ amount: decimal(left, language) })}>
          {t('Tudo', 'All')} · {text(left)}
        </Button>
        {left > 1 && (
          <Button onClick={() => set({ amount: decimal(Math.floor(left / 2), language) })}>
            {t('Metade', 'Half')} · {text(Math.floor(left / 2))}
          </Button>
        )}
      </div>
      {sale.paidWith === 'PIX' && (
        <Choice
          label={t('Como devolver', 'How to give back')}
          options={[
            ['', t('Automático', 'Automatic')],
            ...(['devolution', 'cashout'] as const).map((one) => [one, refundStrategy(one, t)] as const),
          ]}
          {...field('strategy')}
        />
      )}
      <Input label={t('Motivo (opcional)', 'Reason (optional)')} maxLength={500} {...field('reason')} />
      <p aria-live="polite">
        {asked === null
          ? t('Escreva um valor como 9,90.', 'Write an amount as 9.90.')
          : asked > left
            ? t(`No máximo ${text(left)}.`, `At most ${text(left)}.`)
            : t(
                `${text(asked)} voltam para ${payer}; restam ${text(left - asked)}.`,
                `${text(asked)} go back to ${payer}; ${text(left - asked)} remain.`,
              )}
      </p>
      {available !== null && (
        <Facts
          rows={[
            [t('Saldo disponível', 'Available balance'), text(available)],
            [
              t('Saldo depois', 'Balance after'),
              asked !== null && asked <= left && missing === 0 && text(available - asked),
            ],
            [
              t('Tarifas da venda', 'Fees of the sale'),
              fees > 0 && t(`${text(fees)} não voltam`, `${text(fees)} are not given back`),
            ],
            [t('Tarifa do reembolso', 'Fee of the refund'), t('nenhuma', 'none')],
          ]}
        />
      )}
      {missing > 0 && (
        <p className="problem" role="alert">
          {t(
            `O saldo disponível não basta: faltam ${text(missing)}.`,
            `The available balance is not enough: ${text(missing)} are missing.`,
          )}
        </p>
      )}
    </ActionDialog>
  );
}

/** The refunds of a sale, with how each went. */
export function Refunds({ refunds }: { refunds: readonly RefundItemBody[] }): ReactNode {
  const { t } = useLanguage();
  if (refunds.length === 0) return null;
  return (
    <Card title={t('Reembolsos', 'Refunds')}>
      <Table
        label={t('Reembolsos', 'Refunds')}
        rows={refunds}
        keyOf={(one) => one.id}
        columns={[
          { name: t('Quando', 'When'), cell: (one) => <Time at={one.createdAt} /> },
          { name: t('Valor', 'Amount'), isNumber: true, cell: (one) => <Money {...one} /> },
          {
            name: t('Situação', 'Status'),
            cell: (one) => <Status value={one.status} label={refundStatus(one.status, t)} />,
          },
          {
            name: t('Como', 'How'),
            cell: (one) => (one.strategy === null ? '–' : refundStrategy(one.strategy, t)),
          },
          {
            name: t('Motivo', 'Reason'),
            cell: ({ failureReason, reason }) =>
              failureReason === null ? (reason ?? '–') : refundFailure(failureReason, t),
          },
          {
            name: t('ID do Pix', 'Pix id'),
            cell: (one) => (one.endToEndId === null ? '–' : <Id value={one.endToEndId} />),
          },
        ]}
      />
    </Card>
  );
}
