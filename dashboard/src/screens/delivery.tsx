import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { DeliveryDetailBody } from '../../../src/webhooks/dto/delivery.body.js';
import type { EndpointListBody } from '../../../src/webhooks/dto/endpoint.body.js';
import { useParam } from '../address.js';
import { call, door, unlessMissing } from '../api.js';
import { ActionDialog } from '../dialog.js';
import { useLanguage } from '../language.js';
import { useRefresh } from '../lists.js';
import { useMayAct, useMode } from '../session.js';
import { Card, Empty, Facts, Id, Loading, Page, Status, Time, Unavailable, Url } from '../ui.js';
import { deliveryError, deliveryStatus } from '../words.js';
import { NextAttempt } from './endpoint-health.js';

/** The sent body, and the answer to each attempt. */
export function Delivery(): ReactNode {
  const { t } = useLanguage();
  const mode = useMode();
  const mayAct = useMayAct();
  const id = useParam('id');
  const refresh = useRefresh(mode);
  const path = `/webhooks/deliveries/${encodeURIComponent(id)}`;
  const delivery = useQuery({
    queryKey: [mode, 'delivery', id],
    queryFn: () => call<DeliveryDetailBody>('GET', door(mode, path)),
    refetchInterval: unlessMissing(2_000),
  });
  const endpoints = useQuery({
    queryKey: [mode, 'endpoints'],
    queryFn: () => call<EndpointListBody>('GET', door(mode, '/webhooks/endpoints')),
  });
  if (delivery.error && !delivery.data)
    return <Unavailable error={delivery.error} retry={() => void delivery.refetch()} />;
  if (!delivery.data) return <Loading />;
  const { data } = delivery;
  // A delivery without an endpoint goes to the URL that its payment names.
  const isDeleted =
    data.endpointId !== null && endpoints.data?.data.some((endpoint) => endpoint.id === data.endpointId) === false;
  return (
    <Page
      title={`${t('Entrega de', 'Delivery of')} ${data.eventType}`}
      actions={
        mayAct &&
        !isDeleted &&
        ['FAILED', 'PENDING'].includes(data.status) && (
          <ActionDialog
            trigger={t('Tentar agora', 'Try now')}
            tone="primary"
            act={() => call('POST', door(mode, `${path}/retry`)).then(refresh)}
          >
            <p>
              {t(
                'A mesma entrega, com o mesmo conteúdo, é enviada mais uma vez. Se o endereço vem falhando, uma das que esperam é tentada agora, e esta vai assim que ele responder.',
                'The same delivery, with the same content, is sent once more. If the endpoint keeps failing, one of those that wait is tried now, and this one goes as soon as it answers.',
              )}
            </p>
          </ActionDialog>
        )
      }
    >
      <Card>
        <Facts
          rows={[
            [t('Situação', 'Status'), <Status value={data.status} label={deliveryStatus(data.status, t)} />],
            ['URL', <Url value={data.url} />],
            [
              t('Endpoint', 'Endpoint'),
              isDeleted && t('excluído: não recebe mais eventos', 'deleted: it gets no more events'),
            ],
            [t('Tentativas', 'Attempts'), `${String(data.attempts)} / ${String(data.maxAttempts)}`],
            [t('Próxima', 'Next'), <NextAttempt at={data.nextRetryAt} />],
            [t('Entregue', 'Delivered'), <Time at={data.deliveredAt} />],
            ['Id', <Id value={data.id} />],
            [t('Evento', 'Event'), <Id value={data.eventId} />],
          ]}
        />
      </Card>
      <div className="grid">
        <Card title={t('Requisição', 'Request')}>
          <pre tabIndex={0}>{JSON.stringify(data.payload, null, 2)}</pre>
        </Card>
        <Card title={t('Respostas', 'Responses')}>
          {data.history.length === 0 && <Empty title={t('Nenhuma resposta ainda.', 'No response yet.')} />}
          <ol className="timeline">
            {data.history.map((attempt) => (
              <li key={attempt.number}>
                <Time at={attempt.startedAt} /> ·{' '}
                <strong>
                  {attempt.statusCode === null
                    ? attempt.error === null
                      ? t('sem resposta', 'no response')
                      : deliveryError(attempt.error, t)
                    : `HTTP ${String(attempt.statusCode)}`}
                </strong>{' '}
                · {attempt.durationMs} ms
                {attempt.responseBody !== null && attempt.responseBody !== '' && (
                  <pre tabIndex={0}>{attempt.responseBody}</pre>
                )}
              </li>
            ))}
          </ol>
        </Card>
      </div>
    </Page>
  );
}
