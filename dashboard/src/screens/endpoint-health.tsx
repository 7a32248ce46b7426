import { useQuery, type UseQueryOptions } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { DeliveryBody, DeliveryListBody } from '../../../src/webhooks/dto/delivery.body.js';
import { call, door, withQuery } from '../api.js';
import { type Translate, useLanguage } from '../language.js';
import { useMode } from '../session.js';
import { Status } from '../ui.js';
import { deliveryError } from '../words.js';

/** How many of the newest deliveries are looked at. */
const LOOKED_AT = 20;
const LOOK_MS = 15_000;

export function lastAnswer(one: Pick<DeliveryBody, 'lastStatusCode' | 'lastError'>, t: Translate): string {
  if (one.lastStatusCode !== null) return `HTTP ${String(one.lastStatusCode)}`;
  return one.lastError === null ? '–' : deliveryError(one.lastError, t);
}

/** What was sent to an endpoint lately; lists of endpoints ask for all of theirs. @param id `wh_…` */
export function newestDeliveries(mode: string, id: string): UseQueryOptions<DeliveryListBody> {
  return {
    queryKey: [mode, 'deliveries', 'newest', id],
    queryFn: () =>
      call<DeliveryListBody>(
        'GET',
        door(mode, withQuery('/webhooks/deliveries', { endpointId: id, limit: LOOKED_AT })),
      ),
    refetchInterval: LOOK_MS,
  };
}

/** What has been tried of it, and how much of that has not arrived. */
function judge(list: DeliveryListBody): { tried: DeliveryBody[]; missed: number } {
  const tried = list.data.filter(({ attempts, status }) => attempts > 0 && status !== 'PROCESSING');
  return { tried, missed: tried.filter(({ status }) => status !== 'DELIVERED').length };
}

/** Whether the newest delivery has not arrived. */
export function isFailing(list: DeliveryListBody): boolean {
  const [last] = judge(list).tried;
  return last !== undefined && last.status !== 'DELIVERED';
}

/** Whether what was sent to an endpoint lately has arrived; if not, what it answered. @param id `wh_…` */
export function EndpointHealth({ id }: { id: string }): ReactNode {
  const { t } = useLanguage();
  const newest = useQuery(newestDeliveries(useMode(), id));
  if (!newest.data) return '–';
  const { tried, missed } = judge(newest.data);
  const [last] = tried;
  if (!last) return t('nada foi enviado ainda', 'nothing was sent yet');
  if (missed === 0) return <Status value="DELIVERED" label={t('Recebe tudo', 'Gets everything')} />;
  const share = t(
    `${String(missed)} das últimas ${String(tried.length)} não chegaram`,
    `${String(missed)} of the last ${String(tried.length)} did not arrive`,
  );
  return (
    <>
      {isFailing(newest.data) ? (
        <Status value="FAILED" label={t('Falha', 'Fails')} />
      ) : (
        <Status value="PENDING" label={t('Recebe de novo', 'Gets events again')} />
      )}{' '}
      {share}
      {isFailing(newest.data) && `: ${lastAnswer(last, t)}`}
    </>
  );
}
