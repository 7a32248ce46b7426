import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { PaymentLinkBody } from '../../../src/payment-links/dto/payment-link.body.js';
import type { PaymentListBody } from '../../../src/payments/dto/payment.body.js';
import { useParam } from '../address.js';
import { call, door, unlessMissing, withQuery } from '../api.js';
import { ActionDialog } from '../dialog.js';
import { Icon } from '../icons.js';
import { useLanguage } from '../language.js';
import { asked, linkEnd, linkPrice, linkState, pagePath, paidTimes } from '../link-words.js';
import { Listing, useRefresh } from '../lists.js';
import { useMayAct, useMode } from '../session.js';
import { Card, Facts, Id, Link, Loading, Money, Page, Status, Time, Unavailable } from '../ui.js';
import { saleState } from '../words.js';

/** Sales that the page shows; the list of sales shows all. */
const NEWEST = 10;

/** A payment link: how to share it, and what it has sold. */
export function PaymentLink(): ReactNode {
  const { t, language } = useLanguage();
  const mode = useMode();
  const mayAct = useMayAct();
  const id = useParam('id');
  const path = door(mode, `/payment-links/${encodeURIComponent(id)}`);
  const refresh = useRefresh(mode);
  const query = useQuery({
    queryKey: [mode, 'link', id],
    queryFn: () => call<PaymentLinkBody>('GET', path),
    refetchInterval: unlessMissing(10_000),
  });
  if (query.error && !query.data) return <Unavailable error={query.error} retry={() => void query.refetch()} />;
  if (!query.data) return <Loading />;
  const link = query.data;
  const isOver = link.ended_reason === 'ended';
  return (
    <Page
      title={link.name}
      actions={
        mayAct &&
        !isOver && (
          <>
            <Link to={`/${mode}/links/${link.id}/edit`} className="button">
              <Icon name="pencil" />
              {t('Editar', 'Edit')}
            </Link>
            <ActionDialog
              trigger={t('Encerrar', 'End')}
              tone="danger"
              title={t('Encerrar o link', 'End the link')}
              confirm={t('Encerrar para sempre', 'End for good')}
              act={() => call('POST', `${path}/end`).then(refresh)}
            >
              <p>
                {t(
                  'O link não poderá mais ser pago nem reaberto. As cobranças que aguardam pagamento são canceladas, e um Pix que ainda chegar volta para quem pagou.',
                  'The link cannot be paid or opened again. Charges that wait for payment are cancelled, and a Pix that still comes goes back to its payer.',
                )}
              </p>
            </ActionDialog>
          </>
        )
      }
    >
      <div className="grid wide">
        <Card title={t('Resumo', 'Summary')}>
          {link.picture !== null && (
            <p className="picture">
              <img src={`${pagePath(link)}/picture`} alt={t('Foto do que você vende', 'Picture of what you sell')} />
            </p>
          )}
          <Facts
            rows={[
              [t('Situação', 'Status'), <Status value={link.status} label={linkState(link, t)} />],
              [t('Preço', 'Price'), linkPrice(link, t, language)],
              [t('Vendido', 'Sold'), <Money amount={link.paid_amount} />],
              [t('Pagamentos', 'Payments'), paidTimes(link, t)],
              [t('Vale até', 'Open until'), linkEnd(link, t, language)],
              [
                t('Descrição', 'Description'),
                link.description !== null && <span className="written">{link.description}</span>,
              ],
              [
                t('Quem paga informa', 'The payer enters'),
                link.ask.length > 0 && link.ask.map((one) => asked(one, t)).join(', '),
              ],
              [t('Pergunta', 'Question'), link.question],
              [t('Depois do pagamento vai para', 'Goes afterwards to'), link.return_url],
              [t('Criado em', 'Created'), <Time at={link.created_at} />],
            ]}
          />
        </Card>
        <Share link={link} />
      </div>
      <Sold link={link} />
    </Page>
  );
}

function Share({ link }: { link: PaymentLinkBody }): ReactNode {
  const { t } = useLanguage();
  const isOpen = link.status === 'active';
  const text = `${link.name}: ${link.url}`;
  return (
    <Card title={t('Divulgar', 'Share')}>
      {!isOpen && <p role="note">{t('Este link não recebe mais pagamentos.', 'This link takes no more payments.')}</p>}
      <p>
        <Id value={link.url} label={t('o link', 'the link')} />
      </p>
      <a href={link.url} target="_blank" rel="noreferrer" aria-label={t('Abrir a página do link', 'Open the page')}>
        <img className="qr" src={`${pagePath(link)}/qr.svg`} alt={t('QR code do link', 'QR code of the link')} />
      </a>
      <div className="actions">
        <a className="button" href={link.url} target="_blank" rel="noreferrer">
          <Icon name="external-link" />
          {t('Abrir', 'Open')}
        </a>
        <a className="button" href={`https://wa.me/?text=${encodeURIComponent(text)}`} target="_blank" rel="noreferrer">
          <Icon name="message-circle" />
          WhatsApp
        </a>
        <a
          className="button"
          href={`mailto:?subject=${encodeURIComponent(link.name)}&body=${encodeURIComponent(text)}`}
        >
          <Icon name="mail" />
          E-mail
        </a>
        <a className="button" href={`${pagePath(link)}/print`} target="_blank" rel="noreferrer">
          <Icon name="printer" />
          {t('Imprimir cartaz', 'Print a poster')}
        </a>
        <a className="button" href={`${pagePath(link)}/qr.png`} download={`${link.name}.png`}>
          <Icon name="download" />
          QR code
        </a>
      </div>
    </Card>
  );
}

function Sold({ link }: { link: PaymentLinkBody }): ReactNode {
  const { t } = useLanguage();
  const mode = useMode();
  const sales = useQuery({
    queryKey: [mode, 'link', link.id, 'sales', link.paid_count],
    queryFn: () =>
      call<PaymentListBody>(
        'GET',
        door(mode, withQuery('/payments', { 'metadata[payment_link]': link.id, limit: NEWEST })),
      ),
    refetchInterval: 10_000,
  });
  return (
    <Card
      title={t('Vendas deste link', 'Sales of this link')}
      actions={
        (sales.data?.total ?? 0) > NEWEST && (
          <Link to={`/${mode}/sales`} search={{ query: link.id }}>
            {t('Ver todas', 'See all')}
          </Link>
        )
      }
    >
      <Listing
        list={sales}
        rows={sales.data?.data}
        label={t('Vendas deste link', 'Sales of this link')}
        empty={t('Ninguém abriu uma cobrança por este link ainda.', 'Nobody has opened a charge by this link yet.')}
        keyOf={({ id }) => id}
        columns={[
          {
            name: t('Quando', 'When'),
            cell: ({ id, createdAt }) => (
              <Link to={`/${mode}/sales/${id}`}>
                <Time at={createdAt} />
              </Link>
            ),
          },
          { name: t('Valor', 'Amount'), isNumber: true, cell: (sale) => <Money {...sale} /> },
          { name: t('Situação', 'Status'), cell: (sale) => <Status value={sale.status} label={saleState(sale, t)} /> },
          {
            name: t('Cliente', 'Customer'),
            cell: ({ customerName, customerEmail, customerDocument }) =>
              customerName ?? customerEmail ?? customerDocument ?? '–',
          },
          ...(link.question === null
            ? []
            : [
                {
                  name: t('Resposta', 'Answer'),
                  cell: ({ metadata }: PaymentListBody['data'][number]) => {
                    const answer = metadata['payment_link_answer'];
                    return typeof answer === 'string' ? answer : '–';
                  },
                },
              ]),
        ]}
      />
    </Card>
  );
}
