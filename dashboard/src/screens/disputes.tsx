import { useInfiniteQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { MedCaseListBody } from '../../../src/med/desk/dto/med-case.body.js';
import { call, door, withQuery } from '../api.js';
import { useLanguage } from '../language.js';
import { isOneOf, ListBar, useFilters, useTotals } from '../list-bar.js';
import { Listing } from '../lists.js';
import { useMode } from '../session.js';
import { Choice, Countdown, Link, Money, Page, Status, Time } from '../ui.js';
import { caseStatus, caseType, moneyOutcome } from '../words.js';
import { SaleName, useSales } from './sale-name.js';

const STATUSES = ['open', 'appealed', 'accepted', 'rejected', 'closed'] as const;

const RULES = { status: isOneOf(STATUSES), order: isOneOf(['created']) };

/** A page of the open disputes, by deadline, or of all others, newest first. */
interface Asked {
  readonly isOpen: boolean;
  readonly after?: string;
}

export function Disputes(): ReactNode {
  const { t } = useLanguage();
  const mode = useMode();
  const [filters, change] = useFilters(RULES);
  const { status } = filters;
  // The order by deadline has the open disputes first.
  const byDeadline = filters.order === '' && (status === '' || status === 'open');
  const totals = useTotals([mode, 'cases', 'list'], door(mode, '/med/cases'), { status });
  const list = useInfiniteQuery({
    queryKey: [mode, 'cases', 'list', filters],
    queryFn: async ({ pageParam }: { pageParam: Asked }) => {
      const ask = ({ isOpen, after }: Asked): Promise<MedCaseListBody> =>
        call(
          'GET',
          door(
            mode,
            withQuery('/med/cases', {
              ...(isOpen ? { order: 'deadline' } : { status }),
              ...{ limit: 50, starting_after: after },
            }),
          ),
        );
      const page = await ask(pageParam);
      const data = pageParam.isOpen
        ? page.data
        : page.data.filter((one) => !byDeadline || status !== '' || one.status !== 'open');
      const next = (from: MedCaseListBody, isOpen: boolean): Asked | undefined =>
        from.next_cursor === null ? undefined : { isOpen, after: from.next_cursor };
      // After the last open dispute the others begin.
      if (!pageParam.isOpen || status !== '' || page.next_cursor !== null)
        return { data, next: next(page, pageParam.isOpen) };
      const others = await ask({ isOpen: false });
      return {
        data: [...data, ...others.data.filter((one) => one.status !== 'open')],
        next: next(others, false),
      };
    },
    initialPageParam: { isOpen: byDeadline },
    getNextPageParam: (page) => page.next,
    refetchInterval: 10_000,
  });
  const rows = list.data?.pages.flatMap((page) => page.data);
  const saleOf = useSales((rows ?? []).map((one) => one.charge_id));
  return (
    <Page title={t('Disputas', 'Disputes')}>
      <div className="filters">
        <Choice
          label={t('Situação', 'Status')}
          value={status}
          onChange={(event) => change({ status: event.target.value })}
          options={[['', t('Todas', 'All')], ...STATUSES.map((one) => [one, caseStatus(one, t)] as const)]}
        />
        <Choice
          label={t('Ordem', 'Order')}
          value={filters.order}
          onChange={(event) => change({ order: event.target.value })}
          options={[
            ['', t('Prazo mais próximo', 'Nearest deadline')],
            ['created', t('Mais recentes', 'Newest')],
          ]}
        />
      </div>
      <ListBar
        name="disputes"
        filters={filters}
        change={change}
        count={{ one: t('disputa', 'dispute'), several: t('disputas', 'disputes') }}
        totals={totals}
        exported={{ type: 'disputes', filters: { status } }}
      />
      <Listing
        list={list}
        rows={rows}
        label={t('Disputas', 'Disputes')}
        empty={t('Nenhuma disputa.', 'No disputes.')}
        older={t('Mais antigas', 'Older ones')}
        keyOf={({ id }) => id}
        columns={[
          {
            name: t('Valor', 'Amount'),
            cell: (one) => (
              <Link to={`/${mode}/disputes/${one.id}`}>
                <Money amount={one.amount} currency={one.currency} />
              </Link>
            ),
          },
          { name: t('Venda', 'Sale'), cell: (one) => <SaleName id={one.charge_id} sale={saleOf(one.charge_id)} /> },
          {
            name: t('Situação', 'Status'),
            cell: (one) => (
              <>
                <Status value={one.status} label={caseStatus(one.status, t)} />
                {one.money_outcome !== null && <span className="note">{moneyOutcome(one.money_outcome, t)}</span>}
              </>
            ),
          },
          {
            name: t('Prazo', 'Deadline'),
            cell: (one) => (one.status === 'open' ? <Countdown at={one.response_deadline} /> : '–'),
          },
          { name: t('Aberta', 'Opened'), cell: (one) => <Time at={one.opened_at} /> },
          {
            name: t('O que o banco disse', 'What the bank said'),
            cell: (one) => one.reason ?? caseType(one.type, t),
          },
        ]}
      >
        <p>
          {t(
            'Quando o banco de um pagador abre uma disputa sobre um Pix (MED), o caso aparece aqui com o prazo para responder.',
            'When a payer’s bank disputes a Pix (MED), the case is here with the time to answer.',
          )}
        </p>
      </Listing>
    </Page>
  );
}
