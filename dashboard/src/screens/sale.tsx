import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { MedCaseBody, MedCaseListBody } from '../../../src/med/desk/dto/med-case.body.js';
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
import { useFields } from '../forms.js';
import { useLanguage } from '../language.js';
import { useRefresh } from '../lists.js';
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
  Unavailable,
} from '../ui.js';
import {
  bucketName,
  caseStatus,
  deliveryStatus,
  entryType,
  metadataName,
  methodName,
  refundStatus,
  returnReason,
  saleState,
  saleStatus,
} from '../words.js';

export function Sale(): ReactNode {
  const { t, language } = useLanguage();
  const mode = useMode();
  const mayAct = useMayAct();
  // Lists use `tx_…`, the statement `ch_…`.
  const id = useParam('id').replace(/^(?:ch|tx)_/, '');
  const refresh = useRefresh(mode);
  const path = `/payments/${encodeURIComponent(id)}`;
  const key = [mode, 'sale', id];
  const sale = useQuery({
    queryKey: [...key, 'payment'],
    queryFn: () => call<PaymentDetailBody>('GET', door(mode, path)),
    // No event reports some changes, such as those of deliveries.
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
  const { fields, begin, field } = useFields({ amount: '', reason: '' });
  const [resent, setResent] = useState<string | null>(null);

  if (sale.error && !sale.data) return <Unavailable error={sale.error} retry={() => void sale.refetch()} />;
  if (!sale.data) return <Loading />;
  const data = sale.data;
  const isWaiting = ['PENDING', 'WAITING_PAYMENT', 'PROCESSING'].includes(data.status);
  const taken = (refunds.data?.data ?? [])
    .filter((one) => one.status !== 'FAILED')
    .reduce((sum, one) => sum + one.amount, 0);
  const left = data.amount - taken;
  const asked = fields.amount.trim() === '' ? left : parseAmount(fields.amount, language);
  const reason = fields.reason.trim();
  const isRefundable = ['PAID', 'APPROVED'].includes(data.status) && left > 0;
  const whose = t('quem pagou', 'who paid') + (data.customerName === null ? '' : ` (${data.customerName})`);
  const text = (of: number): string => money(of, data.currency, language);
  const shown = (amount: number | null = null): ReactNode =>
    amount !== null && <Money amount={amount} currency={data.currency} />;
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
              confirm={asked === null ? t('Reembolsar', 'Refund') : `${t('Devolver', 'Give back')} ${text(asked)}`}
              isReady={asked !== null && asked <= left}
              opened={begin}
              act={(idempotencyKey) =>
                call('POST', door(mode, `${path}/refund`), {
                  ...{ idempotencyKey, amount: asked },
                  ...(reason === '' ? {} : { reason }),
                }).then(refresh)
              }
            >
              <Input
                label={t('Valor', 'Amount')}
                hint={t(`Vazio: tudo o que resta, ${text(left)}.`, `Empty: all that is left, ${text(left)}.`)}
                inputMode="decimal"
                {...field('amount')}
              />
              <Input label={t('Motivo (opcional)', 'Reason (optional)')} maxLength={500} {...field('reason')} />
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
              act={() => call('POST', door(mode, `${path}/cancel`)).then(refresh)}
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
              [t('Valor', 'Amount'), shown(data.amount)],
              [t('Tarifa do provedor', 'Provider’s fee'), shown(data.providerFee)],
              [t('Tarifa da plataforma', 'Platform’s fee'), shown(data.platformFee)],
              [t('Líquido', 'Net'), shown(data.netAmount)],
              [t('Reembolsado', 'Refunded'), shown(data.amountRefunded)],
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
        {isWaiting && <Pay sale={data} />}
        {mode === 'test' && mayAct && <Sandbox sale={data} cases={cases.data?.data ?? []} refresh={refresh} />}
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
              { name: t('Valor', 'Amount'), isNumber: true, cell: (one) => <Money {...one} /> },
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
              { name: t('Tipo', 'Type'), cell: (one) => entryType(one.type, t) },
              { name: t('Saldo', 'Balance'), cell: (one) => bucketName(one.bucket, t) },
              { name: t('Valor', 'Amount'), isNumber: true, cell: (one) => <Money {...one} /> },
            ]}
          />
        )}
      </Card>
    </Page>
  );
}

/** Payment data for the payer, for each method. */
function Pay({ sale }: { sale: PaymentDetailBody }): ReactNode {
  const { t, language } = useLanguage();
  const outside = (href: string, text: string): ReactNode => (
    <a href={href} target="_blank" rel="noreferrer">
      {text}
    </a>
  );
  const isPix = sale.paymentMethods.includes('PIX');
  return (
    <Card title={t('Para pagar', 'To pay')}>
      {sale.pixCopyPaste !== null && (
        <img
          className="qr"
          src={`/checkout/${sale.id}/qr.png`}
          alt={t('QR Code do Pix', 'QR code of the Pix')}
          width={192}
          height={192}
        />
      )}
      <Facts
        rows={[
          // The checkout exists if Pix is one of the methods, and offers the others too.
          ['Link', isPix && <Id value={`${location.origin}/checkout/${sale.id}`} label={t('o link', 'the link')} />],
          [
            t('Pix copia e cola', 'Pix code'),
            sale.pixCopyPaste !== null && <Id value={sale.pixCopyPaste} label={t('o código Pix', 'the Pix code')} />,
          ],
          [t('Vale até', 'Good until'), sale.pixExpiresAt !== null && <Time at={sale.pixExpiresAt} />],
          [
            t('Cartão', 'Card'),
            sale.cardRedirectUrl !== null && (
              <>
                {outside(sale.cardRedirectUrl, t('abrir a página do cartão', 'open the card’s page'))}{' '}
                <Id value={sale.cardRedirectUrl} label={t('o link do cartão', 'the card’s link')} />
              </>
            ),
          ],
          [
            t('Linha do boleto', 'Line of the boleto'),
            sale.boletoLine !== null && (
              <Id value={sale.boletoLine} label={t('a linha do boleto', 'the line of the boleto')} />
            ),
          ],
          ['Boleto', sale.boletoPdfUrl !== null && outside(sale.boletoPdfUrl, t('abrir o PDF', 'open the PDF'))],
          [t('Boleto vence', 'Boleto is due'), sale.boletoExpiresAt !== null && <Time at={sale.boletoExpiresAt} />],
          [t('Entidade Multibanco', 'Multibanco entity'), sale.mbEntity !== null && <Id value={sale.mbEntity} />],
          [
            t('Referência Multibanco', 'Multibanco reference'),
            sale.mbReference !== null && <Id value={sale.mbReference} />,
          ],
          [
            t('Multibanco vale até', 'Multibanco good until'),
            sale.mbExpiresAt !== null && <Time at={sale.mbExpiresAt} />,
          ],
          [
            'MB WAY',
            sale.paymentMethods.includes('MBWAY') &&
              t('O pedido está no celular do cliente.', 'The request is on the customer’s phone.') +
                (typeof sale.metadata['phone'] === 'string' ? ` (${sale.metadata['phone']})` : ''),
          ],
          [
            t('Endereço da cripto', 'Crypto address'),
            sale.cryptoAddress !== null && (
              <Id value={sale.cryptoAddress} label={t('o endereço da cripto', 'the crypto address')} />
            ),
          ],
          [
            t('Quanto enviar', 'How much to send'),
            sale.cryptoAddress !== null &&
              `${cryptoAmount(sale.cryptoAmount, language)} ${sale.cryptoCurrency ?? ''} (${sale.cryptoNetwork ?? ''})`,
          ],
        ]}
      />
    </Card>
  );
}

/** Decimal digits as wallets expect them. */
function cryptoAmount(amount: number | null, language: string): string {
  return amount === null ? '–' : amount.toLocaleString(language, { maximumFractionDigits: 12 });
}

/** Buttons for the sandbox bank's possible actions on the sale in its current state. */
function Sandbox({
  sale,
  cases,
  refresh,
}: {
  sale: PaymentDetailBody;
  cases: readonly MedCaseBody[];
  refresh: () => Promise<void>;
}): ReactNode {
  const { t } = useLanguage();
  const mode = useMode();
  const hasCard = sale.paymentMethods.includes('CREDIT_CARD');
  const isDisputed = cases.some(({ status }) => ['open', 'appealed'].includes(status));
  const acts: [event: object, name: string][] = [];
  if (['PENDING', 'WAITING_PAYMENT'].includes(sale.status) || (sale.status === 'PROCESSING' && hasCard)) {
    for (const method of sale.paymentMethods) {
      const name = sale.paymentMethods.length === 1 ? '' : ` ${t('com', 'by')} ${methodName(method, t)}`;
      acts.push([{ event: 'pay', method }, `${t('Pagar', 'Pay')}${name}`]);
    }
    if (hasCard && sale.status === 'WAITING_PAYMENT')
      acts.push([{ event: 'processing' }, t('Autenticar o cartão', 'Authenticate the card')]);
    acts.push([{ event: 'fail' }, t('Recusar', 'Refuse')], [{ event: 'expire' }, t('Expirar', 'Expire')]);
  }
  if (['PAID', 'APPROVED'].includes(sale.status)) {
    if (sale.paidWith === 'PIX') acts.push([{ event: 'med_open' }, t('Abrir MED', 'Open a MED')]);
    if (sale.paidWith === 'CREDIT_CARD')
      acts.push(
        [{ event: 'chargeback' }, t('Contestar no cartão', 'Charge back')],
        [{ event: 'dispute' }, t('Não reconhecer', 'Not recognise')],
        [{ event: 'fraud' }, t('Denunciar fraude', 'Report fraud')],
      );
    acts.push([{ event: 'refund_fail' }, t('O próximo reembolso falha', 'The next refund fails')]);
  }
  if (isDisputed)
    acts.push(
      [{ event: 'med_rule', result: 'disagreed' }, t('Decidir pela loja', 'Rule for the shop')],
      [{ event: 'med_rule', result: 'agreed' }, t('Decidir pelo pagador', 'Rule for the payer')],
      [{ event: 'med_withdraw' }, t('Retirar a disputa', 'Withdraw the dispute')],
    );
  if (acts.length === 0) return null;
  return (
    <Card title={t('Teste', 'Test')}>
      <p>{t('O que o banco e o pagador fazem:', 'What the bank and the payer do:')}</p>
      <div className="actions">
        {acts.map(([event, name], index) => (
          <ActButton
            key={name}
            {...(index === 0 ? { tone: 'primary' as const } : {})}
            act={() => call('POST', door(mode, `/sandbox/payments/${sale.id}/simulate`), event).then(refresh)}
          >
            {`${name} ${t('(teste)', '(test)')}`}
          </ActButton>
        ))}
      </div>
    </Card>
  );
}

/** Events of the sale in chronological order. */
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
  /** The event that the sale failed or expired. */
  end: EventBody | null;
  deliveries: readonly DeliveryBody[];
  mode: string;
}): ReactNode {
  const { t } = useLanguage();
  const steps: { at: string; what: ReactNode }[] = [];
  const add = (at: string, what: ReactNode): unknown => steps.push({ at, what });
  add(sale.createdAt, t('Cobrança criada', 'Charge created'));
  if (sale.paidAt !== null)
    add(
      sale.paidAt,
      <>
        {t('Paga', 'Paid')} <Money {...sale} />
      </>,
    );
  for (const one of refunds?.data ?? []) {
    add(
      one.createdAt,
      <>
        {t('Reembolso pedido', 'Refund asked for')} <Money {...one} />
      </>,
    );
    if (one.status === 'REFUNDED') add(one.updatedAt, t('Reembolso devolvido', 'Refund given back'));
    if (one.status === 'FAILED') add(one.updatedAt, t('Reembolso falhou', 'Refund failed'));
  }
  for (const one of cases?.data ?? []) {
    const link = <Link to={`/${mode}/disputes/${one.id}`}>{t('disputa', 'dispute')}</Link>;
    add(
      one.opened_at,
      <>
        {t('Em disputa:', 'Disputed:')} {link}
      </>,
    );
    if (one.closed_at !== null)
      add(
        one.closed_at,
        <>
          {caseStatus(one.status, t)}: {link}
        </>,
      );
  }
  for (const one of sale.returns ?? [])
    add(one.at, `${t('Pix devolvido', 'Pix returned')}: ${returnReason(one.reason, t)}`);
  if (end !== null) add(end.created_at, saleStatus(sale.status, t));
  for (const one of deliveries)
    add(
      one.deliveredAt ?? one.updatedAt,
      <>
        Webhook <code>{one.eventType}</code>{' '}
        <Link to={`/${mode}/webhooks/deliveries/${one.id}`}>{deliveryStatus(one.status, t)}</Link>
        {one.lastStatusCode === null ? '' : ` · HTTP ${String(one.lastStatusCode)}`}
      </>,
    );
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
