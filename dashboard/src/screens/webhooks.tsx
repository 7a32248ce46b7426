import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { type ComponentProps, type ReactNode, useState } from 'react';
import type { DeliveryListBody, DeliveryStatsBody, RecoveryBody } from '../../../src/webhooks/dto/delivery.body.js';
import type {
  EndpointBody,
  EndpointListBody,
  RegisteredEndpointBody,
  RotatedSecretBody,
} from '../../../src/webhooks/dto/endpoint.body.js';
import type { EventCatalogItemBody } from '../../../src/webhooks/dto/event-catalog-item.body.js';
import type { VerificationBody } from '../../../src/webhooks/dto/verification.body.js';
import { call, door, withQuery } from '../api.js';
import { ActionDialog } from '../dialog.js';
import { useFields } from '../forms.js';
import { useLanguage } from '../language.js';
import { isOneOf, isPage, ListBar, useFilters } from '../list-bar.js';
import { Listing, useRefresh } from '../lists.js';
import { useMayAct, useMode } from '../session.js';
import {
  Button,
  Card,
  Countdown,
  Choice,
  Empty,
  Facts,
  Failure,
  Field,
  Id,
  Input,
  Link,
  Loading,
  Page,
  Status,
  Time,
  Url,
} from '../ui.js';
import { deliveryStatus, verificationReason } from '../words.js';
import { EndpointHealth, lastAnswer, NextAttempt } from './endpoint-health.js';

const STATUSES = ['PENDING', 'PROCESSING', 'DELIVERED', 'FAILED', 'CANCELLED'] as const;
const RULES = {
  status: isOneOf(STATUSES),
  endpoint: (text: string) => /^[\w-]{1,60}$/.test(text),
  offset: isPage,
};
const LIMIT = 25;
const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

export function Webhooks(): ReactNode {
  const { t } = useLanguage();
  const mode = useMode();
  const mayAct = useMayAct();
  const [filters, change] = useFilters(RULES);
  const { status, endpoint } = filters;
  const offset = Number(filters.offset);
  const endpoints = useQuery({
    queryKey: [mode, 'endpoints'],
    queryFn: () => call<EndpointListBody>('GET', door(mode, '/webhooks/endpoints')),
    refetchInterval: 5_000,
  });
  const stats = useQuery({
    queryKey: [mode, 'webhooks', 'stats'],
    queryFn: () => call<DeliveryStatsBody>('GET', door(mode, '/webhooks/stats')),
    refetchInterval: 5_000,
  });
  const deliveries = useQuery({
    queryKey: [mode, 'deliveries', filters],
    queryFn: () =>
      call<DeliveryListBody>(
        'GET',
        door(
          mode,
          withQuery('/webhooks/deliveries', {
            status,
            endpointId: endpoint,
            limit: LIMIT,
            offset,
          }),
        ),
      ),
    placeholderData: keepPreviousData,
    refetchInterval: 5_000,
  });
  return (
    <Page
      title="Webhooks"
      actions={
        <>
          <Verifier />
          {mayAct && <AddEndpoint />}
        </>
      }
    >
      <Card>
        <Facts
          rows={STATUSES.map((status) => [
            deliveryStatus(status, t),
            <button key={status} type="button" className="quiet-button" onClick={() => change({ status })}>
              {stats.data?.[status] ?? '–'}
            </button>,
          ])}
        />
      </Card>
      <h2>{t('Endpoints', 'Endpoints')}</h2>
      {endpoints.error && <Failure error={endpoints.error} retry={() => void endpoints.refetch()} />}
      {endpoints.isPending && <Loading />}
      {endpoints.data?.data.length === 0 && (
        <Empty title={t('Nenhum endpoint ainda.', 'No endpoints yet.')}>
          <p>
            {t(
              'Registre o endereço do seu servidor, e ele fica sabendo de cada pagamento em segundos.',
              'Register your server’s address, and it hears of each payment within seconds.',
            )}
          </p>
        </Empty>
      )}
      {endpoints.data?.data.map((endpoint) => (
        <Endpoint key={endpoint.id} endpoint={endpoint} mayAct={mayAct} />
      ))}
      {/* Below the endpoints, whose number is not known before. */}
      {!endpoints.isPending && (
        <>
          <h2 id="deliveries">{t('Entregas', 'Deliveries')}</h2>
          <div className="filters">
            <Choice
              label={t('Situação', 'Status')}
              value={status}
              onChange={(event) => change({ status: event.target.value })}
              options={[['', t('Todas', 'All')], ...STATUSES.map((one) => [one, deliveryStatus(one, t)] as const)]}
            />
            <Choice
              label={t('Endpoint', 'Endpoint')}
              value={endpoint}
              onChange={(event) => change({ endpoint: event.target.value })}
              options={[
                ['', t('Todos', 'All')],
                ...(endpoints.data?.data ?? []).map((one) => [one.id, one.url] as const),
              ]}
            />
          </div>
          <ListBar
            name="deliveries"
            filters={filters}
            change={change}
            count={{
              one: t('entrega', 'delivery'),
              several: t('entregas', 'deliveries'),
              exact: deliveries.data?.total,
            }}
            exported={{ type: 'deliveries', filters: { status, endpointId: endpoint } }}
          />
          <Listing
            list={deliveries}
            rows={deliveries.data?.data}
            label={t('Entregas', 'Deliveries')}
            empty={t('Nenhuma entrega.', 'No deliveries.')}
            keyOf={({ id }) => id}
            columns={[
              {
                name: t('Quando', 'When'),
                cell: (one) => (
                  <Link to={`/${mode}/webhooks/deliveries/${one.id}`}>
                    <Time at={one.createdAt} />
                  </Link>
                ),
              },
              { name: t('Evento', 'Event'), cell: (one) => <code>{one.eventType}</code> },
              {
                name: t('Situação', 'Status'),
                cell: (one) => <Status value={one.status} label={deliveryStatus(one.status, t)} />,
              },
              {
                name: t('Tentativas', 'Attempts'),
                isNumber: true,
                cell: (one) => `${String(one.attempts)} / ${String(one.maxAttempts)}`,
              },
              { name: t('Última resposta', 'Last response'), cell: (one) => lastAnswer(one, t) },
              { name: t('Próxima', 'Next'), cell: (one) => <NextAttempt at={one.nextRetryAt} /> },
            ]}
          />
          {deliveries.data && deliveries.data.data.length > 0 && (
            <nav className="pages" aria-label={t('Páginas', 'Pages')}>
              <Button
                disabled={offset === 0}
                onClick={() => change({ offset: offset > LIMIT ? String(offset - LIMIT) : '' })}
              >
                {t('Anterior', 'Previous')}
              </Button>
              <span>
                {offset + 1}–{offset + deliveries.data.data.length} / {deliveries.data.total}
              </span>
              <Button
                disabled={offset + LIMIT >= deliveries.data.total}
                onClick={() => change({ offset: String(offset + LIMIT) })}
              >
                {t('Próxima', 'Next')}
              </Button>
            </nav>
          )}
        </>
      )}
    </Page>
  );
}

/** All events, without `*`. */
export function useCatalog(): readonly EventCatalogItemBody[] {
  const catalog = useQuery({
    queryKey: ['event-catalog'],
    queryFn: () => call<EventCatalogItemBody[] | { data: EventCatalogItemBody[] }>('GET', '/v1/webhooks/event-catalog'),
    staleTime: Infinity,
  });
  const items = Array.isArray(catalog.data) ? catalog.data : (catalog.data?.data ?? []);
  return items.filter(({ event }) => event !== '*');
}

/** The secret is shown only here. */
function Secret({ of: { secret, standardSecret } }: { of: RegisteredEndpointBody | RotatedSecretBody }): ReactNode {
  const { t } = useLanguage();
  return (
    <>
      <p>
        <strong>
          {t(
            'Guarde este segredo agora: ele não será mostrado de novo.',
            'Save this secret now: it will not be shown again.',
          )}
        </strong>
      </p>
      <Id value={secret} label={t('o segredo', 'the secret')} />
      {standardSecret !== undefined && (
        <>
          <p>{t('Para bibliotecas do Standard Webhooks:', 'For libraries of Standard Webhooks:')}</p>
          <Id value={standardSecret} label={t('o segredo para bibliotecas', 'the secret for libraries')} />
        </>
      )}
    </>
  );
}

function EventPicker({
  events,
  onChange,
}: {
  events: readonly string[];
  onChange: (events: string[]) => void;
}): ReactNode {
  const { t } = useLanguage();
  const catalog = useCatalog();
  const isAll = events.includes('*');
  const isLegacy = (name: string): boolean => catalog.some(({ event, legacy }) => legacy && event === name);
  return (
    <fieldset className="events">
      <legend>{t('Eventos', 'Events')}</legend>
      <label>
        <input
          type="checkbox"
          checked={isAll}
          onChange={({ target }) =>
            onChange(target.checked ? ['*', ...events.filter(isLegacy)] : events.filter((one) => one !== '*'))
          }
        />{' '}
        {t('Todos, inclusive os futuros', 'All, including future ones')}
      </label>
      {isAll && (
        <p className="quiet">
          {t(
            '“Todos” não inclui os nomes antigos; estes são escolhidos à parte:',
            '“All” does not include the old names; these are chosen beside it:',
          )}
        </p>
      )}
      {catalog
        .filter(({ event, legacy }) => !isAll || legacy || events.includes(event))
        .map(({ event, description }) => (
          <label key={event} title={description}>
            <input
              type="checkbox"
              checked={events.includes(event)}
              onChange={(change) =>
                onChange(change.target.checked ? [...events, event] : events.filter((one) => one !== event))
              }
            />{' '}
            <code>{event}</code>
          </label>
        ))}
    </fieldset>
  );
}

/** Explains why a receiver rejects a signature. */
function Verifier(): ReactNode {
  const { t } = useLanguage();
  const mode = useMode();
  const { fields, begin, field } = useFields({ payload: '', headers: '', secret: '' });
  const [result, setResult] = useState<VerificationBody | null>(null);
  return (
    <ActionDialog
      trigger={t('Verificar uma assinatura', 'Verify a signature')}
      opened={() => {
        begin();
        setResult(null);
      }}
      confirm={t('Verificar', 'Verify')}
      isReady={Object.values(fields).every((one) => one !== '')}
      act={async () => {
        const headers = Object.fromEntries(
          fields.headers.split('\n').flatMap((line): [string, string][] => {
            const end = line.indexOf(':');
            return end > 0 ? [[line.slice(0, end).trim(), line.slice(end + 1).trim()]] : [];
          }),
        );
        setResult(await call<VerificationBody>('POST', door(mode, '/webhooks/verify'), { ...fields, headers }));
        return 'stays';
      }}
    >
      <p>{t('Cole a requisição que o seu servidor recebeu.', 'Paste the request that your server received.')}</p>
      <Field label={t('Corpo, byte a byte', 'Body, byte by byte')}>
        {(named) => <textarea {...named} rows={4} {...field('payload')} />}
      </Field>
      <Field label={t('Cabeçalhos, um por linha', 'Headers, one on each line')}>
        {(named) => <textarea {...named} rows={3} {...field('headers')} placeholder="X-Service-Signature: t=…,v1=…" />}
      </Field>
      <Input
        label={t('Segredo que o servidor usa', 'Secret that the server uses')}
        type="password"
        autoComplete="off"
        {...field('secret')}
      />
      {result !== null && (
        <p role="status">
          <Status
            value={result.valid ? 'DELIVERED' : 'FAILED'}
            label={
              result.valid ? t('Assinatura válida', 'Valid signature') : t('Assinatura inválida', 'Invalid signature')
            }
          />{' '}
          {result.reason === null ? result.message : verificationReason(result.reason, result.message, t)}
        </p>
      )}
    </ActionDialog>
  );
}

/** The choice of headers, for receivers that verify with a library of Standard Webhooks. */
function SignatureField({ named }: { named: ComponentProps<'select'> }): ReactNode {
  const { t } = useLanguage();
  return (
    <Choice
      label={t('Assinatura', 'Signature')}
      {...named}
      options={[
        ['default', t('Padrão do Recebe', 'Recebe’s own')],
        ['standard', t('Também Standard Webhooks', 'Standard Webhooks too')],
      ]}
    />
  );
}

function AddEndpoint(): ReactNode {
  const { t } = useLanguage();
  const mode = useMode();
  const refresh = useRefresh(mode, 'endpoints');
  const { fields, begin, field } = useFields({ url: '', signature: 'default' });
  const [events, setEvents] = useState<string[]>(['*']);
  const [made, setMade] = useState<RegisteredEndpointBody | null>(null);
  return (
    <ActionDialog
      trigger={t('Novo endpoint', 'New endpoint')}
      tone="primary"
      opened={() => {
        begin();
        setEvents(['*']);
      }}
      confirm={t('Criar endpoint', 'Create endpoint')}
      isReady={fields.url !== '' && events.length > 0}
      act={async () => {
        setMade(await call<RegisteredEndpointBody>('POST', door(mode, '/webhooks/endpoints'), { ...fields, events }));
        await refresh();
      }}
      done={made && <Secret of={made} />}
    >
      <Input label="URL" type="url" {...field('url')} placeholder="https://minha-loja.com.br/webhooks" required />
      <SignatureField named={field('signature')} />
      <EventPicker events={events} onChange={setEvents} />
    </ActionDialog>
  );
}

function Endpoint({ endpoint, mayAct }: { endpoint: EndpointBody; mayAct: boolean }): ReactNode {
  const { t } = useLanguage();
  const mode = useMode();
  const refresh = useRefresh(mode);
  const path = door(mode, `/webhooks/endpoints/${endpoint.id}`);
  const first = {
    url: endpoint.url,
    signature: endpoint.signature ?? 'default',
    overlap: '86400',
    event: 'charge.paid',
    days: '1',
  };
  const { fields, set, begin, field } = useFields(first);
  const [events, setEvents] = useState([...endpoint.events]);
  const [made, setMade] = useState<RotatedSecretBody | null>(null);
  const [count, setCount] = useState<RecoveryBody | null>(null);
  const catalog = useCatalog();
  const isActive = endpoint.status === 'ACTIVE';
  const isNothingLost = count?.charges === 0;
  // Subtracts a minute from the most the API allows (thirty days), since clocks differ.
  const since = (): string => new Date(Date.now() - Number(fields.days) * DAY_MS + MINUTE_MS).toISOString();
  return (
    <Card>
      <Facts
        rows={[
          ['URL', <Id value={endpoint.url} />],
          [t('Eventos', 'Events'), endpoint.events.map((one) => (one === '*' ? t('todos', 'all') : one)).join(', ')],
          [
            t('Situação', 'Status'),
            <Status value={endpoint.status} label={isActive ? t('Ativo', 'Enabled') : t('Desativado', 'Disabled')} />,
          ],
          [t('Saúde', 'Health'), isActive && <EndpointHealth endpoint={endpoint} />],
          [
            t('Segredo antigo vale até', 'Old secret works until'),
            endpoint.previousSecretUntil === undefined ? null : <Countdown at={endpoint.previousSecretUntil} />,
          ],
          [t('Desde', 'Since'), <Time at={endpoint.createdAt} />],
        ]}
      />
      {mayAct && (
        <div className="actions">
          <ActionDialog
            trigger={t('Testar', 'Test')}
            opened={begin}
            title={t('Enviar um evento de teste', 'Send a test event')}
            confirm={t('Enviar', 'Send')}
            act={() => call('POST', `${path}/test`, { event: fields.event }).then(refresh)}
          >
            <Choice
              label={t('Evento', 'Event')}
              {...field('event')}
              options={catalog.map((one) => [one.event, one.event] as const)}
            />
            <p>
              {endpoint.failingSince === undefined
                ? t('A resposta aparece nas entregas.', 'The answer is shown with the deliveries.')
                : t(
                    'O endereço está falhando: agora é tentada uma das entregas que esperam, e as outras vão quando ele responder.',
                    'The endpoint fails: one of the deliveries that wait is tried now, and the others go when it answers.',
                  )}
            </p>
          </ActionDialog>
          <ActionDialog
            trigger={t('Editar', 'Edit')}
            title={t('Editar o endpoint', 'Edit the endpoint')}
            confirm={t('Salvar', 'Save')}
            isReady={events.length > 0}
            opened={() => {
              begin();
              setEvents(endpoint.events);
            }}
            act={() => call('PATCH', path, { url: fields.url, signature: fields.signature, events }).then(refresh)}
          >
            <Input label="URL" type="url" {...field('url')} required />
            <SignatureField named={field('signature')} />
            <EventPicker events={events} onChange={setEvents} />
          </ActionDialog>
          <ActionDialog
            trigger={isActive ? t('Desativar', 'Disable') : t('Ativar', 'Enable')}
            title={
              isActive
                ? t('Desativar o endpoint', 'Disable the endpoint')
                : t('Ativar o endpoint', 'Enable the endpoint')
            }
            act={() => call('PATCH', path, { status: isActive ? 'INACTIVE' : 'ACTIVE' }).then(refresh)}
          >
            {isActive && (
              <p>
                {t(
                  'O que acontece enquanto está desligado não é enviado.',
                  'What happens while it is off is not sent.',
                )}
              </p>
            )}
          </ActionDialog>
          <ActionDialog
            trigger={t('Trocar o segredo', 'Rotate the secret')}
            opened={begin}
            confirm={t('Trocar', 'Rotate')}
            act={async () => {
              setMade(
                await call<RotatedSecretBody>('POST', `${path}/rotate-secret`, {
                  overlap_seconds: Number(fields.overlap),
                }),
              );
              await refresh();
            }}
            done={made && <Secret of={made} />}
          >
            <Choice
              label={t('Validade do segredo antigo', 'Old secret works for')}
              {...field('overlap')}
              options={[
                ['0', t('encerra agora', 'ends now')],
                ['3600', t('1 hora', '1 hour')],
                ['86400', t('1 dia', '1 day')],
              ]}
            />
          </ActionDialog>
          <ActionDialog
            trigger={t('Reenviar entregas que falharam', 'Resend failed deliveries')}
            confirm={
              isNothingLost || count === null
                ? t('Contar', 'Count')
                : t(`Enviar ${String(count.charges)}`, `Send ${String(count.charges)}`)
            }
            opened={() => {
              begin();
              setCount(null);
            }}
            act={async () => {
              if (count === null || isNothingLost) {
                setCount(await call<RecoveryBody>('POST', `${path}/recover`, { since: since(), dry_run: true }));
                return 'stays';
              }
              await call('POST', `${path}/recover`, { since: count.since });
              setCount(null);
              return refresh();
            }}
          >
            <Choice
              label={t('Falhas desde', 'Failures since')}
              value={fields.days}
              onChange={(change) => {
                set({ days: change.target.value });
                setCount(null);
              }}
              options={[
                ['1', t('ontem', 'yesterday')],
                ['7', t('7 dias', '7 days')],
                ['30', t('30 dias', '30 days')],
              ]}
            />
            {isNothingLost && (
              <p role="status">
                {t(
                  'Nada se perdeu neste tempo. O que ainda espera pelo endereço vai sozinho quando ele responder.',
                  'Nothing was lost in this time. What still waits for the endpoint goes by itself when it answers.',
                )}
              </p>
            )}
            {count !== null && !isNothingLost && (
              <p role="status">
                {t(
                  `${String(count.failed)} entregas falharam, de ${String(count.charges)} vendas: cada venda é enviada uma vez, como está agora.`,
                  `${String(count.failed)} deliveries failed, of ${String(count.charges)} sales: each sale is sent once, as it is now.`,
                )}
              </p>
            )}
          </ActionDialog>
          <ActionDialog
            trigger={t('Excluir', 'Delete')}
            tone="danger"
            title={t('Excluir o endpoint', 'Delete the endpoint')}
            act={() => call('DELETE', path).then(refresh)}
          >
            <p>
              {t('Nada mais é enviado para', 'Nothing more is sent to')} <Url value={endpoint.url} />.
            </p>
          </ActionDialog>
        </div>
      )}
    </Card>
  );
}
