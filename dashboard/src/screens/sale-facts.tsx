import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { formatTaxId } from '../../../src/brazil/tax-id.js';
import type { PaymentLinkBody } from '../../../src/payment-links/dto/payment-link.body.js';
import type { PaymentDetailBody } from '../../../src/payments/dto/payment.body.js';
import { ORDER_KEYS } from '../../../src/transactions/order-keys.js';
import { call, door } from '../api.js';
import { useLanguage } from '../language.js';
import { useMode } from '../session.js';
import { Card, Facts, Id, Link, Money, Time } from '../ui.js';
import { metadataName, methodName } from '../words.js';
import { orderOf } from './sale-name.js';

/** Name of the metadata that hold the link of a sale. */
const LINK_KEY = 'payment_link';

/** The facts that a person looks for first. */
export function SaleFacts({ sale }: { sale: PaymentDetailBody }): ReactNode {
  const { t } = useLanguage();
  const mode = useMode();
  // A customer has paid, and is told apart by tax id or e-mail.
  const isCustomer = sale.paidAt !== null && (sale.customerDocument ?? sale.customerEmail) !== null;
  const shown = (amount: number | null = null): ReactNode =>
    amount !== null && <Money amount={amount} currency={sale.currency} />;
  const fees = sale.providerFee === null ? null : sale.providerFee + (sale.platformFee ?? 0);
  const linkId = textOf(sale.metadata[LINK_KEY]);
  const methods = sale.paidWith === null ? sale.paymentMethods : [sale.paidWith];
  return (
    <section className="card lead" aria-label={t('Resumo', 'Summary')}>
      <Facts
        rows={[
          [
            t('Cliente', 'Customer'),
            (sale.customerName ?? sale.customerEmail ?? sale.customerDocument) === null ? (
              '–'
            ) : (
              <>
                {sale.customerName !== null && <bdi>{sale.customerName}</bdi>}
                {sale.customerDocument !== null && (
                  <div>
                    <Id value={formatTaxId(sale.customerDocument)} />
                  </div>
                )}
                {sale.customerEmail !== null && <div>{sale.customerEmail}</div>}
                {isCustomer && (
                  <div>
                    <Link to={`/${mode}/customers/cus_${sale.id}`}>{t('Ver cliente', 'See customer')}</Link>
                  </div>
                )}
              </>
            ),
          ],
          [t('Link de pagamento', 'Payment link'), linkId !== null && <SoldBy linkId={linkId} />],
          [t('Descrição', 'Description'), textOf(sale.metadata['description'])],
          [t('Pedido', 'Order'), orderOf(sale.metadata)],
          [t('Forma de pagamento', 'Payment method'), methods.map((one) => methodName(one, t)).join(', ')],
          [t('Paga em', 'Paid at'), sale.paidAt !== null && <Time at={sale.paidAt} />],
          [
            t('Líquido', 'Net'),
            sale.netAmount !== null && (
              <>
                {shown(sale.netAmount)}
                {sale.amountRefunded !== undefined && (
                  <span className="note">{t('antes dos reembolsos', 'before refunds')}</span>
                )}
              </>
            ),
          ],
          [t('Tarifas', 'Fees'), shown(fees)],
          [t('Valor reembolsado', 'Refunded amount'), shown(sale.amountRefunded)],
        ]}
      />
    </section>
  );
}

/** The payment link that made the sale, by its name. */
function SoldBy({ linkId }: { linkId: string }): ReactNode {
  const mode = useMode();
  const { data: link } = useQuery({
    queryKey: [mode, 'link', linkId],
    queryFn: () => call<PaymentLinkBody>('GET', door(mode, `/payment-links/${linkId}`)),
  });
  return <Link to={`/${mode}/links/${linkId}`}>{link?.name ?? linkId}</Link>;
}

/** Facts for programs: the id, both fees, and metadata that is not shown above. */
export function SaleDetails({ sale }: { sale: PaymentDetailBody }): ReactNode {
  const { t } = useLanguage();
  const order = ORDER_KEYS.find((key) => ['string', 'number'].includes(typeof sale.metadata[key]));
  // The cases of `med` are in the course.
  const above = ['med', LINK_KEY, order, ...(textOf(sale.metadata['description']) === null ? [] : ['description'])];
  return (
    <Card title={t('Detalhes', 'Details')}>
      <Facts
        rows={[
          ['Id', <Id value={sale.id} />],
          [
            t('Tarifa do provedor', 'Provider’s fee'),
            sale.providerFee !== null && <Money amount={sale.providerFee} currency={sale.currency} />,
          ],
          [
            t('Tarifa da plataforma', 'Platform’s fee'),
            sale.platformFee !== null && <Money amount={sale.platformFee} currency={sale.currency} />,
          ],
          ...Object.entries(sale.metadata)
            .filter(([name]) => !above.includes(name))
            .map(
              ([name, value]) =>
                [metadataName(name, t), typeof value === 'string' ? value : JSON.stringify(value)] as const,
            ),
        ]}
      />
    </Card>
  );
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value : null;
}
