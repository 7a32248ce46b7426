import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { DeliveryBody, DeliveryListBody } from '../../../src/webhooks/dto/delivery.body.js';
import { call, door, withQuery } from '../api.js';
import { useLanguage } from '../language.js';
import { useMode } from '../session.js';
import { Status } from '../ui.js';

/** How many of the newest deliveries are looked at. */
const LOOKED_AT = 20;

export function lastAnswer(one: Pick<DeliveryBody, 'lastStatusCode' | 'lastError'>): string {
  if (one.lastStatusCode !== null) return `HTTP ${String(one.lastStatusCode)}`;
  return one.lastError ?? '–';
}

/** Whether what was sent to an endpoint lately has arrived; if not, what it answered. @param id `wh_…` */
export function EndpointHealth({ id }: { id: string }): ReactNode {
  const { t } = useLanguage();
  const mode = useMode();
  const newest = useQuery({
    queryKey: [mode, 'deliveries', 'newest', id],
    queryFn: () =>
      call<DeliveryListBody>(
        'GET',
        door(mode, withQuery('/webhooks/deliveries', { endpointId: id, limit: LOOKED_AT })),
      ),
    refetchInterval: 5_000,
  });
  if (!newest.data) return '–';
  const tried = newest.data.data.filter(({ attempts, status }) => attempts > 0 && status !== 'PROCESSING');
  const [last] = tried;
  if (!last) return t('nada foi enviado ainda', 'nothing was sent yet');
  const missed = tried.filter(({ status }) => status !== 'DELIVERED').length;
  if (missed === 0) return <Status value="DELIVERED" label={t('Recebe tudo', 'Gets everything')} />;
  const share = t(
    `${String(missed)} das últimas ${String(tried.length)} não chegaram`,
    `${String(missed)} of the last ${String(tried.length)} did not arrive`,
  );
  return (
    <>
      {last.status === 'DELIVERED' ? (
        <Status value="PENDING" label={t('Recebe de novo', 'Gets events again')} />
      ) : (
        <Status value="FAILED" label={t('Falha', 'Fails')} />
      )}{' '}
      {share}
      {last.status !== 'DELIVERED' && `: ${lastAnswer(last)}`}
    </>
  );
}
