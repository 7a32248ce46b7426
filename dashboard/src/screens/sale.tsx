import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { MedCaseListBody } from '../../../src/med/dto/med-case.body.js';
import type { PaymentDetailBody, ReceiptBody } from '../../../src/payments/dto/payment.body.js';
import type { RefundListBody } from '../../../src/payments/dto/refund.body.js';
import type { ResendWebhookBody } from '../../../src/payments/dto/resend-webhook.body.js';
import type { WalletEntryListBody } from '../../../src/wallets/dto/wallet-entry.body.js';
import type { DeliveryBody, DeliveryListBody } from '../../../src/webhooks/dto/delivery.body.js';
import type { EventBody, EventListBody } from '../../../src/webhooks/dto/event.body.js';
import { useParam } from '../address.js';
import { call, door, unlessMissing } from '../api.js';
import { ActionDialog } from '../dialog.js';
import { money, parseAmount } from '../format.js';
import { useLanguage } from '../language.js';
import { useMayAct, useMode } from '../session.js';
import {
  ActButton,
  Card,
  Empty,
  Facts,
  Failure,
  Id,
  Input,
  Link,
  Loading,
  Money,
  Page,
  Status,
  Table,
  Time,
} from '../ui.js';
import {
  bucketName,
  caseStatus,
  deliveryStatus,
  entryType,
  metadataName,
  methodName,
  refundStatus,
  saleState,
  saleStatus,
} from '../words.js';

export function Sale(): ReactNode {
  const { t, language } = useLanguage();
  const mode = useMode();
  const mayAct = useMayAct();
  // Lists name it `tx_…`, the statement `ch_…`.
  const id = useParam('id').replace(/^(?:ch|tx)_/, '');
  const client = useQueryClient();
  const path = `/payments/${encodeURIComponent(id)}`;
  const key = [mode, 'sale', id];
  const sale = useQuery({
    queryKey: [...key, 'payment'],
    queryFn: () => call<PaymentDetailBody>('GET', door(mode, path)),
    // What no event tells, as its deliveries.
    refetchInterval: unlessMissing(10_000),
  });
  const status = sale.data?.status;
  const related = { enabled: sale.data !== undefined };
  const refunds = useQuery({
    queryKey: [...key, 'refunds', status, sale.data?.amountRefunded],
    queryFn: () => call<RefundListBody>('GET', door(mode, `${path}/refunds`)),
    ...related,
  });
  const entries = useQuery({
    queryKey: [...key, 'entries', status, sale.data?.amountRefunded],
    queryFn: () =>
      call<WalletEntryListBody>('GET', door(mode, `/wallets/entries?limit=100&source=${encodeURIComponent(id)}`)),
    ...related,
  });
  const cases = useQuery({
    queryKey: [...key, 'cases', status],
    queryFn: () => call<MedCaseListBody>('GET', door(mode, `/med/cases?charge_id=ch_${encodeURIComponent(id)}`)),
    ...related,
  });
  const ended = useQuery({
    queryKey: [...key, 'end', status],
    queryFn: () =>
      call<EventListBody>('GET', door(mode, `/events?type=payment.failed,payment.expired&limit=1&subject=${id}`)),
    enabled: ['EXPIRED', 'CANCELLED', 'REFUSED'].includes(status ?? ''),
  });
  const deliveries = useQuery({
    queryKey: [...key, 'deliveries'],
    queryFn: () => call<DeliveryListBody>('GET', door(mode, `/webhooks/deliveries?subject=${id}&limit=100`)),
    refetchInterval: 10_000,
    ...related,
  });
  const refresh = (): Promise<void> => client.invalidateQueries({ queryKey: [mode] });

  const [amount, setAmount] = useState('');
  const [reason, setReason] = useState('');
  const [resent, setResent] = useState<string | null>(null);

  if (sale.error && !sale.data) return <Failure error={sale.error} retry={() => void sale.refetch()} />;
  if (!sale.data) return <Loading />;
  const data = sale.data;
  const isWaiting = ['PENDING', 'WAITING_PAYMENT', 'PROCESSING'].includes(data.status);
  const taken = (refunds.data?.data ?? [])
    .filter((one) => one.status !== 'FAILED')
    .reduce((sum, one) => sum + one.amount, 0);
  const left = data.amount - taken;
  const asked = amount.trim() === '' ? left : parseAmount(amount, language);
  const isRefundable = ['PAID', 'APPROVED'].includes(data.status) && left > 0;
  const whose = data.customerName ?? t('o pagador', 'the payer');
  const text = (of: number): string => money(of, data.currency, language);
  const checkout = `${location.origin}/checkout/${id}`;

  const simulate = async (event: string): Promise<void> => {
    await call('POST', door(mode, `/sandbox${path}/simulate`), { event });
    await refresh();
  };
  const receipt = async (): Promise<void> => {
    const { base64 } = await call<ReceiptBody>('GET', door(mode, `${path}/receipt`));
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    const url = URL.createObjectURL(new Blob([bytes], { type: 'application/pdf' }));
    const link = document.createElement('a');
    link.href = url;
    link.download = `${id}.pdf`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
  };

  return (
    <Page
      title={`${t('Venda de', 'Sale of')} ${text(data.amount)}`}
      actions={
        <>
          {mayAct && isRefundable && (
            <ActionDialog
              trigger={t('Reembolsar', 'Refund')}
              tone="danger"
              title={t('Reembolsar', 'Refund')}
              confirm={asked === null ? t('Reembolsar', 'Refund') : `${t('Devolver', 'Give back')} ${text(asked)}`}
              isReady={asked !== null && asked <= left}
              act={async (idempotencyKey) => {
                await call('POST', door(mode, `${path}/refund`), {
                  idempotencyKey,
                  amount: asked,
                  ...(reason.trim() === '' ? {} : { reason: reason.trim() }),
                });
                setAmount('');
                setReason('');
                await refresh();
              }}
            >
              <Input
                label={t('Valor', 'Amount')}
                hint={t(`Vazio: tudo o que resta, ${text(left)}.`, `Empty: all that is left, ${text(left)}.`)}
                inputMode="decimal"
                value={amount}
                onChange={(event) => setAmount(event.target.value)}
              />
              <Input
                label={t('Motivo (opcional)', 'Reason (optional)')}
                maxLength={140}
                value={reason}
                onChange={(event) => setReason(event.target.value)}
              />
              <p aria-live="polite">
                {asked === null
                  ? t('Escreva um valor como 9,90.', 'Write an amount as 9.90.')
                  : asked > left
                    ? t(`No máximo ${text(left)}.`, `At most ${text(left)}.`)
                    : t(
                        `${text(asked)} voltam para ${whose}; restam ${text(left - asked)}.`,
                        `${text(asked)} go back to ${whose}; ${text(left - asked)} remain.`,
                      )}
              </p>
            </ActionDialog>
          )}
          {mayAct && isWaiting && (
            <ActionDialog
              trigger={t('Cancelar a cobrança', 'Cancel the charge')}
              tone="danger"
              title={t('Cancelar a cobrança', 'Cancel the charge')}
              confirm={t('Cancelar a cobrança', 'Cancel the charge')}
              act={async () => {
                await call('POST', door(mode, `${path}/cancel`));
                await refresh();
              }}
            >
              <p>{t('Ninguém mais poderá pagar este código.', 'Nobody can pay this code any more.')}</p>
            </ActionDialog>
          )}
          {data.paidAt !== null && <ActButton act={receipt}>{t('Comprovante', 'Receipt')}</ActButton>}
          {mayAct && data.status !== 'PENDING' && (
            <ActButton
              act={async () => {
                const answer = await call<ResendWebhookBody>('POST', door(mode, `${path}/resend-webhook`));
                setResent(
                  answer.resent
                    ? t('Os webhooks foram enviados de novo.', 'The webhooks are sent again.')
                    : t('Ninguém assina este evento.', 'Nobody is subscribed to this event.'),
                );
              }}
            >
              {t('Reenviar webhooks', 'Resend webhooks')}
            </ActButton>
          )}
        </>
      }
    >
      {resent !== null && <p role="status">{resent}</p>}
      <div className="grid">
        <Card title={t('Resumo', 'Summary')}>
          <Facts
            rows={[
              [
                t('Situação', 'Status'),
                <span aria-live="polite">
                  <Status value={data.status} label={saleState(data, t)} />
                </span>,
              ],
              [t('Valor', 'Amount'), <Money amount={data.amount} currency={data.currency} />],
              data.providerFee === null
                ? null
                : [
                    t('Tarifa do provedor', 'Provider’s fee'),
                    <Money amount={data.providerFee} currency={data.currency} />,
                  ],
              data.platformFee === null
                ? null
                : [
                    t('Tarifa da plataforma', 'Platform’s fee'),
                    <Money amount={data.platformFee} currency={data.currency} />,
                  ],
              data.netAmount === null
                ? null
                : [t('Líquido', 'Net'), <Money amount={data.netAmount} currency={data.currency} />],
              data.amountRefunded === undefined
                ? null
                : [t('Reembolsado', 'Refunded'), <Money amount={data.amountRefunded} currency={data.currency} />],
              [
                t('Meio', 'Method'),
                (data.paidWith === null ? data.paymentMethods : [data.paidWith])
                  .map((one) => methodName(one, t))
                  .join(', '),
              ],
              ['Id', <Id value={data.id} />],
            ]}
          />
        </Card>
        <Card title={t('Cliente', 'Customer')}>
          <Facts
            rows={[
              [t('Nome', 'Name'), data.customerName ?? '–'],
              [t('Documento', 'Document'), data.customerDocument === null ? '–' : <Id value={data.customerDocument} />],
              ['E-mail', data.customerEmail ?? '–'],
              ...Object.entries(data.metadata)
                // Its cases are in the timeline.
                .filter(([name]) => name !== 'med')
                .map(
                  ([name, value]) =>
                    [metadataName(name, t), typeof value === 'string' ? value : JSON.stringify(value)] as const,
                ),
            ]}
          />
        </Card>
        {isWaiting && data.pixCopyPaste !== null && (
          <Card title={t('Para pagar', 'To pay')}>
            <img
              className="qr"
              src={`/checkout/${id}/qr.png`}
              alt={t('QR Code do Pix', 'QR code of the Pix')}
              width={192}
              height={192}
            />
            <Facts
              rows={[
                [
                  t('Pix copia e cola', 'Pix code'),
                  <Id value={data.pixCopyPaste} label={t('o código Pix', 'the Pix code')} />,
                ],
                ['Link', <Id value={checkout} label={t('o link', 'the link')} />],
                [t('Vale até', 'Good until'), <Time at={data.pixExpiresAt} />],
              ]}
            />
            {mode === 'test' && mayAct && (
              <div className="actions">
                <ActButton tone="primary" act={() => simulate('pay')}>
                  {t('Pagar (teste)', 'Pay (test)')}
                </ActButton>
                <ActButton act={() => simulate('expire')}>{t('Expirar (teste)', 'Expire (test)')}</ActButton>
              </div>
            )}
          </Card>
        )}
        {mode === 'test' && mayAct && data.status === 'PAID' && (
          <Card title={t('Teste', 'Test')}>
            <p>{t('O banco do pagador abre uma disputa:', 'The payer’s bank opens a dispute:')}</p>
            <ActButton act={() => simulate('med_open')}>{t('Abrir MED (teste)', 'Open a MED (test)')}</ActButton>
          </Card>
        )}
      </div>
      <Timeline
        sale={data}
        refunds={refunds.data ?? null}
        cases={cases.data ?? null}
        end={ended.data?.data[0] ?? null}
        deliveries={deliveries.data?.data ?? []}
        mode={mode}
      />
      {refunds.data && refunds.data.data.length > 0 && (
        <Card title={t('Reembolsos', 'Refunds')}>
          <Table
            label={t('Reembolsos', 'Refunds')}
            rows={refunds.data.data}
            keyOf={(one) => one.id}
            columns={[
              { name: t('Quando', 'When'), cell: (one) => <Time at={one.createdAt} /> },
              {
                name: t('Valor', 'Amount'),
                isNumber: true,
                cell: (one) => <Money amount={one.amount} currency={one.currency} />,
              },
              {
                name: t('Situação', 'Status'),
                cell: (one) => <Status value={one.status} label={refundStatus(one.status, t)} />,
              },
              { name: t('Motivo', 'Reason'), cell: (one) => one.failureReason ?? one.reason ?? '–' },
            ]}
          />
        </Card>
      )}
      <Card title={t('No extrato', 'In the statement')}>
        {entries.error && <Failure error={entries.error} />}
        {entries.data?.data.length === 0 && <Empty title={t('Ainda nada.', 'Nothing yet.')} />}
        {entries.data && entries.data.data.length > 0 && (
          <Table
            label={t('No extrato', 'In the statement')}
            rows={entries.data.data}
            keyOf={(one) => one.id}
            columns={[
              { name: t('Quando', 'When'), cell: (one) => <Time at={one.created_at} /> },
              { name: t('O quê', 'What'), cell: (one) => entryType(one.type, t) },
              { name: t('Conta', 'Part'), cell: (one) => bucketName(one.bucket, t) },
              {
                name: t('Valor', 'Amount'),
                isNumber: true,
                cell: (one) => <Money amount={one.amount} currency={one.currency} />,
              },
            ]}
          />
        )}
      </Card>
    </Page>
  );
}

/** What happened, in its order. */
function Timeline({
  sale,
  refunds,
  cases,
  end,
  deliveries,
  mode,
}: {
  sale: PaymentDetailBody;
  refunds: RefundListBody | null;
  cases: MedCaseListBody | null;
  /** That it failed or expired. */
  end: EventBody | null;
  deliveries: readonly DeliveryBody[];
  mode: string;
}): ReactNode {
  const { t } = useLanguage();
  const steps: { at: string; what: ReactNode }[] = [
    { at: sale.createdAt, what: t('Cobrança criada', 'Charge created') },
  ];
  if (sale.paidAt !== null) {
    steps.push({
      at: sale.paidAt,
      what: (
        <>
          {t('Paga', 'Paid')} <Money amount={sale.amount} currency={sale.currency} />
        </>
      ),
    });
  }
  for (const one of refunds?.data ?? []) {
    steps.push({
      at: one.createdAt,
      what: (
        <>
          {t('Reembolso pedido', 'Refund asked for')} <Money amount={one.amount} currency={one.currency} />
        </>
      ),
    });
    if (['REFUNDED', 'FAILED'].includes(one.status)) {
      steps.push({
        at: one.updatedAt,
        what:
          one.status === 'REFUNDED'
            ? t('Reembolso devolvido', 'Refund given back')
            : t('Reembolso falhou', 'Refund failed'),
      });
    }
  }
  for (const one of cases?.data ?? []) {
    const link = <Link to={`/${mode}/disputes/${one.id}`}>{t('disputa', 'dispute')}</Link>;
    steps.push({
      at: one.opened_at,
      what: (
        <>
          {t('Em disputa:', 'Disputed:')} {link}
        </>
      ),
    });
    if (one.closed_at !== null)
      steps.push({
        at: one.closed_at,
        what: (
          <>
            {caseStatus(one.status, t)}: {link}
          </>
        ),
      });
  }
  for (const one of sale.returns ?? [])
    steps.push({
      at: one.at,
      what: (
        <>
          {t('Pix devolvido', 'Pix returned')}: {one.reason}
        </>
      ),
    });
  if (end !== null) steps.push({ at: end.created_at, what: saleStatus(sale.status, t) });
  for (const one of deliveries) {
    steps.push({
      at: one.deliveredAt ?? one.updatedAt,
      what: (
        <>
          Webhook <code>{one.eventType}</code>{' '}
          <Link to={`/${mode}/webhooks/deliveries/${one.id}`}>{deliveryStatus(one.status, t)}</Link>
          {one.lastStatusCode === null ? '' : ` · HTTP ${String(one.lastStatusCode)}`}
        </>
      ),
    });
  }
  steps.sort((a, b) => a.at.localeCompare(b.at));
  return (
    <Card title={t('Linha do tempo', 'Timeline')}>
      <ol className="timeline">
        {steps.map(({ at, what }, index) => (
          <li key={index}>
            <Time at={at} /> {what}
          </li>
        ))}
      </ol>
    </Card>
  );
}
