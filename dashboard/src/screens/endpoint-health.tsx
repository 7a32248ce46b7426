import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { DeliveryBody, DeliveryListBody } from '../../../src/webhooks/dto/delivery.body.js';
import type { EndpointBody } from '../../../src/webhooks/dto/endpoint.body.js';
import { call, door, withQuery } from '../api.js';
import { type Translate, useLanguage } from '../language.js';
import { useMode } from '../session.js';
import { Status, Time } from '../ui.js';
import { deliveryError } from '../words.js';

/** Number of the newest deliveries that are checked. */
const LOOKED_AT = 20;
/**
 * Number of the newest deliveries that are checked for a failing endpoint: many of them wait for their first attempt.
 */
const MAX_LOOKED_AT = 100;
const LOOK_MS = 15_000;
/** Longer than a due delivery waits when everything works. */
const DUE_MS = 60_000;

export function lastAnswer(one: Pick<DeliveryBody, 'lastStatusCode' | 'lastError'>, t: Translate): string {
  if (one.lastStatusCode !== null) return `HTTP ${String(one.lastStatusCode)}`;
  return one.lastError === null ? '–' : deliveryError(one.lastError, t);
}

/** Deliveries with an attempt, and those of them that have not arrived. */
function judge(list: DeliveryListBody): { tried: DeliveryBody[]; missed: number } {
  const tried = list.data.filter(({ attempts, status }) => attempts > 0 && status !== 'PROCESSING');
  return { tried, missed: tried.filter(({ status }) => status !== 'DELIVERED').length };
}

/** Shows whether recent deliveries to an endpoint arrived; if not, its last answer. */
export function EndpointHealth({ endpoint: { id, failingSince } }: { endpoint: EndpointBody }): ReactNode {
  const { t } = useLanguage();
  const isFailing = failingSince !== undefined;
  const mode = useMode();
  const limit = isFailing ? MAX_LOOKED_AT : LOOKED_AT;
  const newest = useQuery({
    queryKey: [mode, 'deliveries', 'newest', id, limit],
    queryFn: () =>
      call<DeliveryListBody>('GET', door(mode, withQuery('/webhooks/deliveries', { endpointId: id, limit }))),
    refetchInterval: LOOK_MS,
  });
  if (!newest.data) return '–';
  const { tried, missed } = judge(newest.data);
  const last = tried.find(({ status }) => status !== 'DELIVERED');
  if (isFailing) {
    const waiting = newest.data.data.filter(({ status }) => status === 'PENDING').length;
    return (
      <>
        <Status value="FAILED" label={t('Falhando', 'Failing')} /> {t('desde', 'since')} <Time at={failingSince} />
        {last && `: ${lastAnswer(last, t)}`}
        {waiting > 0 &&
          t(
            `. Entregas que aguardam: ${String(waiting)}; tentamos uma por minuto até o endpoint responder.`,
            `. Deliveries waiting: ${String(waiting)}; one is tried each minute until the endpoint responds.`,
          )}
      </>
    );
  }
  // The endpoint was changed since, and nothing has been tried with the new settings.
  if (missed > 0 && missed === tried.length) {
    return <Status value="PENDING" label={t('Nova tentativa em andamento', 'Retrying')} />;
  }
  if (tried.length === 0) return t('nenhum envio ainda', 'nothing sent yet');
  if (missed === 0) return <Status value="DELIVERED" label={t('Saudável', 'Healthy')} />;
  const share = t(
    `${String(missed)} das últimas ${String(tried.length)} não chegaram`,
    `${String(missed)} of the last ${String(tried.length)} did not arrive`,
  );
  return (
    <>
      <Status value="PENDING" label={t('Recuperando', 'Recovering')} /> {share}
    </>
  );
}

/** A delivery past its time waits for its endpoint, which fails too often to try each delivery. */
export function NextAttempt({ at }: { at: string | null }): ReactNode {
  const { t } = useLanguage();
  if (at === null || Date.parse(at) > Date.now() - DUE_MS) return <Time at={at} />;
  return t('quando o endpoint responder', 'when the endpoint responds');
}
