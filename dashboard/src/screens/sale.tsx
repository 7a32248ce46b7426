import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { MedCaseListBody } from '../../../src/med/desk/dto/med-case.body.js';
import type { PaymentDetailBody } from '../../../src/payments/dto/payment.body.js';
import type { RefundListBody } from '../../../src/payments/dto/refund.body.js';
import type { ResendWebhookBody } from '../../../src/payments/dto/resend-webhook.body.js';
import type { WalletEntryListBody } from '../../../src/wallets/dto/wallet-entry.body.js';
import type { DeliveryListBody } from '../../../src/webhooks/dto/delivery.body.js';
import type { EventListBody } from '../../../src/webhooks/dto/event.body.js';
import { useParam } from '../address.js';
import { call, door, unlessMissing } from '../api.js';
import { ActionDialog } from '../dialog.js';
import { money } from '../format.js';
import { Icon } from '../icons.js';
import { useLanguage } from '../language.js';
import { useRefresh } from '../lists.js';
import { useNeighbours, useWalkKeys } from '../neighbours.js';
import { useMayAct, useMode } from '../session.js';
import { toast } from '../toast.js';
import {
  ActButton,
  Button,
  Card,
  Failure,
  Link,
  Loading,
  Money,
  Page,
  Status,
  Table,
  Time,
  Unavailable,
} from '../ui.js';
import { bucketName, entryType, saleState } from '../words.js';
import { SaleCourse } from './sale-course.js';
import { SaleDetails, SaleFacts } from './sale-facts.js';
import { SaleNotes } from './sale-notes.js';
import { Pay } from './sale-pay.js';
import { SaleReceipt } from './sale-receipt.js';
import { Refund, Refunds } from './sale-refund.js';
import { Sandbox } from './sale-sandbox.js';

export function Sale(): ReactNode {
  // Lists use `tx_…`, the statement `ch_…`.
  const id = useParam('id').replace(/^(?:ch|tx)_/, '');
  return <SaleOf key={id} id={id} />;
}

function SaleOf({ id }: { id: string }): ReactNode {
  const { t, language } = useLanguage();
  const mode = useMode();
  const mayAct = useMayAct();
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

  if (sale.error && !sale.data) return <Unavailable error={sale.error} retry={() => void sale.refetch()} />;
  if (!sale.data)
    return (
      <>
        <Walk id={id} />
        <Loading />
      </>
    );
  const data = sale.data;
  const isWaiting = ['PENDING', 'WAITING_PAYMENT', 'PROCESSING'].includes(data.status);
  const taken = (refunds.data?.data ?? [])
    .filter((one) => one.status !== 'FAILED')
    .reduce((sum, one) => sum + one.amount, 0);
  const left = data.amount - taken;
  const isRefundable = ['PAID', 'APPROVED'].includes(data.status) && left > 0;
  const resend = async (): Promise<void> => {
    const { resent } = await call<ResendWebhookBody>('POST', door(mode, `${path}/resend-webhook`));
    toast(
      resent
        ? t('Os webhooks foram enviados de novo.', 'The webhooks are sent again.')
        : t('Nenhum endpoint assina este evento.', 'No endpoint is subscribed to this event.'),
    );
  };

  return (
    <>
      <Walk id={id} />
      <Page
        title={`${t('Venda de', 'Sale of')} ${money(data.amount, data.currency, language)}`}
        mark={
          <span className="mark" aria-live="polite">
            <Status value={data.status} label={saleState(data, t)} />
          </span>
        }
        actions={
          <>
            {mayAct && isRefundable && <Refund sale={data} left={left} />}
            {mayAct && isWaiting && (
              <ActionDialog
                trigger={t('Cancelar a cobrança', 'Cancel the charge')}
                tone="danger"
                act={() => call('POST', door(mode, `${path}/cancel`)).then(refresh)}
              >
                <p>{t('Ninguém mais poderá pagar este código.', 'Nobody can pay this code any more.')}</p>
              </ActionDialog>
            )}
          </>
        }
      >
        <SaleFacts sale={data} />
        <div className="halves">
          <SaleCourse
            sale={data}
            refunds={refunds.data?.data ?? []}
            cases={cases.data?.data ?? []}
            entries={entries.data?.data ?? []}
            end={ended.data?.data[0] ?? null}
            deliveries={deliveries.data?.data ?? []}
            actions={
              mayAct &&
              data.status !== 'PENDING' && (
                <ActButton icon="refresh-cw" act={resend}>
                  {t('Reenviar webhooks', 'Resend webhooks')}
                </ActButton>
              )
            }
          />
          <div className="side">
            {isWaiting && <Pay sale={data} />}
            {mode === 'test' && mayAct && <Sandbox sale={data} cases={cases.data?.data ?? []} refresh={refresh} />}
            <SaleReceipt sale={data} />
            <SaleDetails sale={data} />
          </div>
          <SaleNotes id={id} />
        </div>
        <Refunds refunds={refunds.data?.data ?? []} />
        {entries.error && <Failure error={entries.error} />}
        {entries.data && entries.data.data.length > 0 && (
          <Card title={t('No extrato', 'In the statement')}>
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
          </Card>
        )}
      </Page>
    </>
  );
}

/** The way back to the list, and to the sales beside this one in it. */
function Walk({ id }: { id: string }): ReactNode {
  const { t } = useLanguage();
  const mode = useMode();
  const neighbours = useNeighbours(mode, id);
  useWalkKeys(mode, neighbours);
  const beside = (to: string | null, name: string, icon: 'arrow-up' | 'arrow-down', key: string): ReactNode =>
    to === null ? (
      <Button icon={icon} disabled>
        {name}
      </Button>
    ) : (
      <span title={t(`Tecla ${key}`, `Key ${key}`)}>
        <Link to={`/${mode}/sales/${to}`} className="button">
          <Icon name={icon} />
          {name}
        </Link>
      </span>
    );
  return (
    <nav className="walk" aria-label={t('Lista de vendas', 'List of sales')}>
      <Link to={`/${mode}/sales`} search={neighbours?.list ?? {}}>
        <Icon name="chevron-left" /> {t('Voltar às vendas', 'Back to the sales')}
      </Link>
      {neighbours !== null && (
        <span className="actions">
          {beside(neighbours.previous, t('Anterior', 'Previous'), 'arrow-up', 'K')}
          {beside(neighbours.next, t('Próxima', 'Next'), 'arrow-down', 'J')}
        </span>
      )}
    </nav>
  );
}
