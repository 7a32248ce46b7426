import { useQueries, useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type {
  ApiKeyBody,
  ApiKeyDetailsBody,
  ApiKeyListBody,
  IssuedApiKeyBody,
} from '../../../src/api-keys/dto/api-key.body.js';
import type { RequestLogBody } from '../../../src/request-logs/dto/request-log.body.js';
import { call, door } from '../api.js';
import { ActionDialog } from '../dialog.js';
import { isoDay } from '../format.js';
import { textOf, useFields } from '../forms.js';
import { useLanguage } from '../language.js';
import { Listing, usePages, useRefresh } from '../lists.js';
import { type Mode, useMode, useSession } from '../session.js';
import { Button, Card, Choice, Empty, Facts, Failure, Id, Input, Link, Loading, Page, Status, Time } from '../ui.js';
import { eventMeaning } from '../words.js';
import { useCatalog } from './webhooks.js';

const LOG_FILTERS = ['requestId', 'status', 'route', 'apiKeyFingerprint'] as const;
/** HTTP statuses that a program can receive. */
const ANSWERS = ['200', '201', '400', '401', '403', '404', '409', '422', '429', '500', '503'];

export function Developers(): ReactNode {
  const { t } = useLanguage();
  const mode = useMode();
  return (
    <Page
      title={t('Desenvolvedores', 'Developers')}
      actions={
        <a className="button" href="/docs">
          {t('Documentação da API', 'API reference')}
        </a>
      }
    >
      <Keys mode={mode} />
      <RequestLog mode={mode} />
      <Events mode={mode} />
    </Page>
  );
}

function Keys({ mode }: { mode: Mode }): ReactNode {
  const { t } = useLanguage();
  const list = useQuery({ queryKey: ['api-keys'], queryFn: () => call<ApiKeyListBody>('GET', '/v1/api-keys') });
  const keys = (list.data?.data ?? []).filter((key) => key.mode === mode);
  return (
    <Card
      title={mode === 'test' ? t('Chaves de teste', 'Test keys') : t('Chaves de produção', 'Live keys')}
      actions={list.data?.access.canManage && <IssueKey mode={mode} />}
    >
      <p className="quiet">
        {t(
          'Uma chave inteira só aparece ao ser criada. Perdeu a sua? Crie outra, ou troque-a: a antiga para de funcionar.',
          'A whole key is shown only when it is created. Lost yours? Create another, or rotate it: the old one stops.',
        )}
      </p>
      {list.error && <Failure error={list.error} retry={() => void list.refetch()} />}
      {list.isPending && <Loading />}
      {list.data && keys.length === 0 && (
        <Empty title={t('Nenhuma chave.', 'No keys.')}>
          <p>{t('Com uma chave, seu sistema cria cobranças.', 'With a key your system creates charges.')}</p>
        </Empty>
      )}
      {keys.map((key) => (
        <Key key={key.id} apiKey={key} canManage={list.data?.access.canManage === true} />
      ))}
    </Card>
  );
}

/** The key is shown only here. */
function Shown({ value }: { value: string }): ReactNode {
  const { t } = useLanguage();
  return (
    <>
      <p>
        <strong>
          {t(
            'Guarde esta chave agora: ela não será mostrada de novo.',
            'Save this key now: it will not be shown again.',
          )}
        </strong>
      </p>
      <div className="whole">
        <Id value={value} label={t('a chave', 'the key')} />
      </div>
    </>
  );
}

function IssueKey({ mode }: { mode: Mode }): ReactNode {
  const { t } = useLanguage();
  const refresh = useRefresh('api-keys');
  const { fields, begin, field } = useFields({ label: '', until: '', from: '' });
  const [issued, setIssued] = useState('');
  return (
    <ActionDialog
      trigger={t('Criar chave', 'Create key')}
      tone="primary"
      opened={begin}
      confirm={t('Criar', 'Create')}
      act={async () => {
        const made = await call<IssuedApiKeyBody>('POST', '/v1/api-keys', {
          test: mode === 'test',
          ...(fields.label === '' ? {} : { label: fields.label }),
          ...(fields.until === '' ? {} : { expires_at: fields.until }),
          allowed_ips: fields.from.split(/[\s,;]+/).filter((one) => one !== ''),
        });
        setIssued(made.apiKey);
        await refresh();
      }}
      done={<Shown value={issued} />}
    >
      {mode === 'live' && <p>{t('Uma chave de produção move dinheiro de verdade.', 'A live key moves real money.')}</p>}
      <Input label={t('Nome', 'Name')} maxLength={64} {...field('label')} placeholder={t('site', 'website')} />
      <Input
        label={t('Expira em (opcional)', 'Expires (optional)')}
        hint={t('No fim deste dia. Vazio: não expira.', 'At the end of that day. Empty: never.')}
        type="date"
        min={isoDay(new Date())}
        {...field('until')}
      />
      <Input
        label={t('Endereços IP permitidos (opcional)', 'Allowed IP addresses (optional)')}
        hint={t(
          'Endereços ou redes, como 203.0.113.7 ou 2001:db8::/32; vazio: de qualquer lugar.',
          'Addresses or networks, as 203.0.113.7 or 2001:db8::/32; empty: from everywhere.',
        )}
        {...field('from')}
      />
    </ActionDialog>
  );
}

/** Loads details of a key that the list of keys lacks. */
function keyDetails(id: string): { queryKey: string[]; queryFn: () => Promise<ApiKeyDetailsBody> } {
  return { queryKey: ['api-keys', id], queryFn: () => call<ApiKeyDetailsBody>('GET', `/v1/api-keys/${id}`) };
}

function Key({ apiKey, canManage }: { apiKey: ApiKeyBody; canManage: boolean }): ReactNode {
  const { t } = useLanguage();
  const refresh = useRefresh('api-keys');
  const details = useQuery(keyDetails(apiKey.id));
  const [issued, setIssued] = useState('');
  const used = details.data?.last_used_at ?? null;
  const end = details.data?.expires_at ?? null;
  const isEnded = end !== null && Date.parse(end) <= Date.now();
  const whose = apiKey.label === null ? `${apiKey.prefix}…` : `${apiKey.prefix}… (${apiKey.label})`;
  return (
    <div className="row">
      <Facts
        rows={[
          [t('Chave', 'Key'), <code>{apiKey.prefix}…</code>],
          [t('Nome', 'Name'), apiKey.label ?? '–'],
          [t('Criada', 'Created'), <Time at={apiKey.createdAt} />],
          [t('Último uso', 'Last used'), used === null ? t('nunca', 'never') : <Time at={used} />],
          [
            isEnded ? t('Expirou em', 'Expired') : t('Expira em', 'Expires'),
            end !== null && (
              <>
                <Time at={end} /> {isEnded && <Status value="FAILED" label={t('Encerrada', 'Ended')} />}
              </>
            ),
          ],
          [t('IPs permitidos', 'Allowed IPs'), details.data?.allowed_ips.join(', ') || null],
        ]}
      />
      {canManage && (
        <div className="actions">
          <ActionDialog
            trigger={t('Trocar', 'Rotate')}
            title={`${t('Trocar a chave', 'Rotate the key')} ${whose}`}
            act={async () => {
              const made = await call<IssuedApiKeyBody>('POST', `/v1/api-keys/${apiKey.id}/rotate`, {});
              setIssued(made.apiKey);
            }}
            done={<Shown value={issued} />}
            closed={refresh}
          >
            <p>
              {t(
                'Esta chave deixa de valer agora, e uma nova toma o lugar dela.',
                'This key stops working now, and a new one takes its place.',
              )}{' '}
              {t('Último uso:', 'Last used:')} {used === null ? t('nunca', 'never') : <Time at={used} />}
            </p>
          </ActionDialog>
          <ActionDialog
            trigger={t('Revogar', 'Revoke')}
            tone="danger"
            title={`${t('Revogar a chave', 'Revoke the key')} ${whose}`}
            act={() => call('DELETE', `/v1/api-keys/${apiKey.id}`).then(refresh)}
          >
            <p>
              {t(
                'Programas com esta chave são recusados a partir de agora.',
                'Programs with this key are refused from now on.',
              )}{' '}
              {t('Último uso:', 'Last used:')} {used === null ? t('nunca', 'never') : <Time at={used} />}
            </p>
          </ActionDialog>
        </div>
      )}
    </div>
  );
}

/** The events of webhooks, with an example of each. */
function Events({ mode }: { mode: Mode }): ReactNode {
  const { t } = useLanguage();
  const { account } = useSession();
  const catalog = useCatalog();
  const [chosen, setChosen] = useState('charge.paid');
  const sample = useQuery({
    queryKey: [mode, 'event-sample', chosen],
    queryFn: () => call<object>('GET', door(mode, `/webhooks/event-catalog/${chosen}/sample`)),
    enabled: account !== null,
    staleTime: Infinity,
    retry: false,
  });
  const text = sample.data === undefined ? '' : JSON.stringify(sample.data, null, 2);
  return (
    <Card
      title={t('Eventos', 'Events')}
      actions={<Link to={`/${mode}/webhooks`}>{t('Enviar um exemplo', 'Send a sample')}</Link>}
    >
      <Choice
        label={t('Evento', 'Event')}
        value={chosen}
        onChange={(event) => setChosen(event.target.value)}
        options={catalog.map(({ event }) => [event, event] as const)}
      />
      <p>{eventMeaning(chosen, catalog.find(({ event }) => event === chosen)?.description ?? '', t)}</p>
      {sample.error && <Failure error={sample.error} />}
      {sample.isPending && <Loading />}
      {sample.data && (
        <details open>
          <summary>{t('Exemplo do corpo', 'Sample body')}</summary>
          <pre tabIndex={0}>{text}</pre>
        </details>
      )}
    </Card>
  );
}

function RequestLog({ mode }: { mode: Mode }): ReactNode {
  const { t } = useLanguage();
  const { account } = useSession();
  const [filters, setFilters] = useState<Readonly<Record<string, string>>>({});
  const keys = useQuery({ queryKey: ['api-keys'], queryFn: () => call<ApiKeyListBody>('GET', '/v1/api-keys') });
  const details = useQueries({
    queries: (keys.data?.data ?? []).filter((key) => key.mode === mode).map(({ id }) => keyDetails(id)),
  });
  const asked = { mode, ...filters, limit: 25 };
  const list = usePages<RequestLogBody>(['request-logs', mode, filters], '/v1/request-logs', asked, {
    enabled: account !== null,
  });
  return (
    <Card title={t('Requisições dos últimos sete dias', 'Requests of the last seven days')}>
      <form
        className="filters"
        onSubmit={(event) => {
          event.preventDefault();
          const form = new FormData(event.currentTarget);
          setFilters(Object.fromEntries(LOG_FILTERS.map((name) => [name, textOf(form, name)])));
        }}
      >
        <Input label={t('Id da requisição', 'Request id')} name="requestId" maxLength={128} placeholder="req_…" />
        <Choice
          label={t('Resposta', 'Response')}
          name="status"
          options={[['', t('Todas', 'All')], ...ANSWERS.map((one) => [one, one] as const)]}
        />
        <Input label={t('Rota', 'Route')} name="route" maxLength={200} placeholder="/v1/charges/:id" />
        <Choice
          label={t('Chave', 'Key')}
          name="apiKeyFingerprint"
          options={[
            ['', t('Todas', 'All')],
            ...details.flatMap(({ data: key }) =>
              key ? [[key.fingerprint, `${key.prefix}… ${key.label ?? ''}`] as const] : [],
            ),
          ]}
        />
        <Button type="submit">{t('Buscar', 'Search')}</Button>
        <Button onClick={() => void list.refetch()}>{t('Atualizar', 'Refresh')}</Button>
      </form>
      <Listing
        list={list}
        rows={list.data}
        label={t('Requisições', 'Requests')}
        empty={t('Nenhuma requisição.', 'No requests.')}
        keyOf={({ id }) => id}
        columns={[
          { name: t('Quando', 'When'), cell: (one) => <Time at={one.createdAt} /> },
          { name: t('Requisição', 'Request'), cell: (one) => <code>{`${one.method} ${one.path}`}</code> },
          {
            name: t('Resposta', 'Response'),
            cell: (one) => (
              <Status
                value={one.status < 400 ? 'ACTIVE' : 'FAILED'}
                label={`${String(one.status)} ${one.errorCode ?? ''}`}
              />
            ),
          },
          { name: 'ms', isNumber: true, cell: (one) => String(Math.round(one.durationMs)) },
          { name: 'Id', cell: (one) => <Id value={one.requestId} /> },
        ]}
      />
    </Card>
  );
}
