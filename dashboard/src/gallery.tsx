import { createMemoryHistory, createRootRoute, createRouter, RouterProvider } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { ApiFailure } from './api.js';
import { BANKS } from './banks.js';
import { Chart } from './chart.js';
import { Combobox, DateRange, Menu } from './controls.js';
import { ActionDialog } from './dialog.js';
import { money, shortMoney } from './format.js';
import { Icon, ICON_NAMES } from './icons.js';
import { Languages, useLanguage } from './language.js';
import { useColumns } from './lists.js';
import { toast, Toasts } from './toast.js';
import {
  Button,
  Card,
  Choice,
  Countdown,
  Empty,
  Facts,
  Failure,
  Id,
  Input,
  Link,
  Loading,
  Money,
  Page,
  type Sort,
  Status,
  Table,
  Time,
} from './ui.js';

const NOON = '2026-11-23T15:00:00.000Z';
const LONG_ID = 'tx_019acb1e-7d0c-7f52-9a53-1a2b3c4d5e6f';

interface Row {
  readonly id: string;
  readonly at: string;
  readonly name: string;
  readonly status: string;
  readonly amount: number;
}

const ROWS: readonly Row[] = [
  { id: LONG_ID, at: NOON, name: 'Maria da Silva', status: 'PAID', amount: 12_990 },
  { id: `${LONG_ID}2`, at: NOON, name: 'Construtora Paralelepípedo Ltda.', status: 'PENDING', amount: 1_234_567_890 },
  { id: `${LONG_ID}3`, at: NOON, name: 'João', status: 'DISPUTE', amount: 500 },
];

/** Every component in all its states, for people who change them and for the specs in the browser. */
function Gallery(): ReactNode {
  const { t, language, setLanguage } = useLanguage();
  const [bank, setBank] = useState('');
  const [days, setDays] = useState({ from: '2026-11-01', to: '2026-11-23' });
  const [sort, setSort] = useState<Sort>({ by: 'amount', order: 'desc' });
  const [shown, choice] = useColumns<Row>(
    'recebe.gallery',
    [
      {
        id: 'at',
        name: t('Quando', 'When'),
        sort: 'at',
        cell: ({ at }) => (
          <Link to="/">
            <Time at={at} />
          </Link>
        ),
      },
      { id: 'amount', name: t('Valor', 'Amount'), isNumber: true, sort: 'amount', cell: (row) => <Money {...row} /> },
      { id: 'name', name: t('Cliente', 'Customer'), cell: ({ name }) => name },
      { id: 'status', name: t('Situação', 'Status'), cell: ({ status }) => <Status value={status} /> },
      { id: 'id', name: 'Id', cell: ({ id }) => <Id value={id} /> },
    ],
    ['amount', 'name', 'status', 'id'],
  );
  const points = Array.from({ length: 30 }, (_, index) => ({
    name: `${String(index + 1)} nov.`,
    value: index % 7 === 6 ? 0 : 40_000 + ((index * 7_919) % 90_000),
    before: 30_000 + ((index * 5_003) % 80_000),
  }));
  const period = { now: t('Novembro', 'November'), before: t('Outubro', 'October') };
  const text = (amount: number): string => money(amount, 'BRL', language);
  const short = (amount: number): string => shortMoney(amount, 'BRL', language);
  const failure = new ApiFailure(409, 'refund.amount_exceeds_balance', 'Too much', 'req_019acb1e', []);
  return (
    <main>
      <Page
        title={t('Componentes', 'Components')}
        actions={
          <Button icon="languages" onClick={() => setLanguage(language === 'en' ? 'pt-BR' : 'en')}>
            {language === 'en' ? 'Português' : 'English'}
          </Button>
        }
      >
        <Card title={t('Botões', 'Buttons')}>
          <div className="actions">
            <Button>{t('Simples', 'Plain')}</Button>
            <Button tone="primary" icon="plus">
              {t('Principal', 'Primary')}
            </Button>
            <Button tone="danger" icon="trash-2">
              {t('Perigoso', 'Danger')}
            </Button>
            <Button disabled>{t('Desligado', 'Disabled')}</Button>
            <Button isPending>{t('Enviando…', 'Sending…')}</Button>
            <Menu
              label={t('Mais ações', 'More actions')}
              items={[
                { name: t('Copiar o link', 'Copy the link'), icon: 'link', act: () => toast(t('Copiado.', 'Copied.')) },
                { name: t('Imprimir', 'Print'), icon: 'printer', isDisabled: true },
                { name: t('Cancelar', 'Cancel'), icon: 'x', tone: 'danger' },
              ]}
            />
            <Button onClick={() => toast(t('O reembolso foi enviado.', 'The refund was sent.'))}>Toast</Button>
            <Button
              onClick={() =>
                toast(t('A chave foi removida.', 'The key was removed.'), {
                  tone: 'bad',
                  action: { name: t('Desfazer', 'Undo'), act: () => undefined },
                })
              }
            >
              {t('Toast com ação', 'Toast with an action')}
            </Button>
            <ActionDialog trigger={t('Diálogo', 'Dialog')} tone="danger" act={() => Promise.resolve()}>
              <p>{t('R$ 129,90 voltam para Maria; restam R$ 0,00.', 'R$129.90 go back to Maria; R$0.00 remain.')}</p>
              <Input label={t('Motivo (opcional)', 'Reason (optional)')} />
            </ActionDialog>
          </div>
        </Card>
        <Card title={t('Campos', 'Fields')}>
          <div className="grid">
            <Input label={t('Nome', 'Name')} hint={t('Como no documento.', 'As on the document.')} />
            <Input label={t('Inválido', 'Invalid')} aria-invalid defaultValue="abc" />
            <Input label={t('Desligado', 'Disabled')} disabled defaultValue="abc" />
            <Choice label={t('Situação', 'Status')} options={[['', t('Todas', 'All')]]} />
            <Combobox
              label={t('Banco', 'Bank')}
              hint={t('Digite uma parte do nome.', 'Type a part of the name.')}
              options={BANKS}
              value={bank}
              onChange={setBank}
            />
            <DateRange label={t('Período', 'Period')} value={days} onChange={setDays} />
          </div>
        </Card>
        <Card title={t('Tabela', 'Table')} actions={choice}>
          <Table
            label={t('Tabela', 'Table')}
            columns={shown}
            rows={[...ROWS].sort((a, b) => (sort.order === 'asc' ? 1 : -1) * (a.amount - b.amount))}
            keyOf={({ id }) => id}
            sort={sort}
            onSort={setSort}
          />
        </Card>
        <Card title={t('Gráfico', 'Chart')}>
          <Chart label={t('Recebido por dia', 'Received by day')} {...{ points, period, text, short }} />
        </Card>
        <Card title={t('Gráfico vazio', 'Empty chart')}>
          <Chart label={t('Vazio', 'Empty')} points={[]} period={period} text={text}>
            <p>
              <Link to="/">{t('Crie a primeira cobrança.', 'Create the first charge.')}</Link>
            </p>
          </Chart>
        </Card>
        <div className="grid">
          <Card title={t('Fatos', 'Facts')}>
            <Facts
              rows={[
                [t('Valor', 'Amount'), <Money amount={12_990} />],
                [t('Quando', 'When'), <Time at={NOON} />],
                [t('Prazo', 'Deadline'), <Countdown at={NOON} />],
                ['Id', <Id value={LONG_ID} />],
                ['Link', <Id value={`${location.origin}/checkout/${LONG_ID}`} label={t('o link', 'the link')} />],
              ]}
            />
          </Card>
          <Card title={t('Situações', 'Statuses')}>
            <p className="figure">
              <Money amount={1_234_567} />
            </p>
            <div className="actions">
              {(['PAID', 'FAILED', 'PENDING', 'EXPIRED'] as const).map((value) => (
                <Status key={value} value={value} />
              ))}
            </div>
          </Card>
          <Card title={t('Vazio', 'Empty')}>
            <Empty title={t('Ainda não há vendas.', 'No sales yet.')}>
              <p>
                <Link to="/">{t('Crie a primeira cobrança.', 'Create the first charge.')}</Link>
              </p>
            </Empty>
          </Card>
          <Card title={t('Erro', 'Error')}>
            <Failure error={failure} retry={() => undefined} />
          </Card>
          {(['text', 'list', 'cards'] as const).map((shape) => (
            <Card key={shape} title={`${t('Carregando', 'Loading')}: ${shape}`}>
              <Loading shape={shape} />
            </Card>
          ))}
        </div>
        <Card title={t('Ícones', 'Icons')}>
          <ul className="bare actions">
            {ICON_NAMES.map((name) => (
              <li key={name} title={name}>
                <Icon name={name} />
              </li>
            ))}
          </ul>
        </Card>
      </Page>
      <Toasts />
    </main>
  );
}

const router = createRouter({
  routeTree: createRootRoute({ component: Gallery }),
  history: createMemoryHistory(),
});
const root = document.getElementById('root');
if (!root) throw new Error('The page has no #root');
createRoot(root).render(
  <Languages>
    <RouterProvider router={router as never} />
  </Languages>,
);
