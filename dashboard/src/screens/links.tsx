import type { ReactNode } from 'react';
import type { PaymentLinkBody } from '../../../src/payment-links/dto/payment-link.body.js';
import { door } from '../api.js';
import { useLanguage } from '../language.js';
import { LINK_STATUSES, linkEnd, linkPrice, linkState, linkStatus, paidTimes } from '../link-words.js';
import { isOneOf, ListBar, useFilters, useTotals } from '../list-bar.js';
import { Listing, usePages } from '../lists.js';
import { useMayAct, useMode } from '../session.js';
import { Choice, Link, Money, Page, Status } from '../ui.js';

const RULES = { status: isOneOf(LINK_STATUSES) };

/** Payment links, newest first, with what each has sold. */
export function Links(): ReactNode {
  const { t, language } = useLanguage();
  const mode = useMode();
  const mayAct = useMayAct();
  const [filters, change, isFiltered] = useFilters(RULES);
  const { status } = filters;
  const totals = useTotals([mode, 'links'], door(mode, '/payment-links'), { status });
  const list = usePages<PaymentLinkBody>(
    [mode, 'links', status],
    door(mode, '/payment-links'),
    { status, limit: 50 },
    { refetchInterval: 10_000 },
  );
  return (
    <Page
      title={t('Links de pagamento', 'Payment links')}
      actions={
        mayAct && (
          <Link to={`/${mode}/links/new`} className="button primary">
            {t('Novo link', 'New link')}
          </Link>
        )
      }
    >
      <div className="filters">
        <Choice
          label={t('Situação', 'Status')}
          value={status}
          onChange={(event) => change({ status: event.target.value })}
          options={[
            ['', t('Todos', 'All')],
            ...LINK_STATUSES.map((one) => [one, `${linkStatus(one, t)}${t('s', '')}`] as const),
          ]}
        />
      </div>
      <ListBar
        name="links"
        filters={filters}
        change={change}
        count={{ one: 'link', several: 'links' }}
        totals={totals}
        exported={{ type: 'payment_links', filters: { status } }}
      />
      <Listing
        list={list}
        rows={list.data}
        label={t('Links de pagamento', 'Payment links')}
        empty={
          isFiltered
            ? t('Nenhum link nesta situação.', 'No link has this status.')
            : t('Ainda não há links de pagamento.', 'There are no payment links yet.')
        }
        keyOf={({ id }) => id}
        columns={[
          { name: t('Nome', 'Name'), cell: ({ id, name }) => <Link to={`/${mode}/links/${id}`}>{name}</Link> },
          { name: t('Preço', 'Price'), cell: (link) => linkPrice(link, t, language) },
          {
            name: t('Situação', 'Status'),
            cell: (link) => <Status value={link.status} label={linkState(link, t)} />,
          },
          { name: t('Pagamentos', 'Payments'), isNumber: true, cell: (link) => paidTimes(link, t) },
          {
            name: t('Vendido', 'Sold'),
            isNumber: true,
            card: 'amount',
            cell: ({ paid_amount }) => <Money amount={paid_amount} />,
          },
          { name: t('Vale até', 'Open until'), cell: (link) => linkEnd(link, t, language) },
        ]}
      >
        {!isFiltered && (
          <p>
            {t(
              'Um link é uma página que vende uma coisa: mande o endereço ou imprima o QR code, e o dinheiro entra por Pix.',
              'A link is a page that sells one thing: send its address or print its QR code, and you are paid by Pix.',
            )}{' '}
            {mayAct && <Link to={`/${mode}/links/new`}>{t('Crie o primeiro link.', 'Create the first link.')}</Link>}
          </p>
        )}
      </Listing>
    </Page>
  );
}
