import { useNavigate } from '@tanstack/react-router';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { OperatorQueueListBody } from '../../../src/operations/dto/queue.body.js';
import { useQueryText } from '../address.js';
import { call } from '../api.js';
import { timeSince } from '../format.js';
import { useLanguage } from '../language.js';
import { useSession } from '../session.js';
import { Choice, Empty, Loading, Page } from '../ui.js';
import { operatorQueues } from './operator-queues.js';

/** Every queue that waits for a person's decision, and stuck work. */
export function Operations(): ReactNode {
  const { t } = useLanguage();
  const { role, second_factor_required: isKeptOut } = useSession();
  const { queue: chosen } = useQueryText();
  const navigate = useNavigate();
  const counts = useQuery({
    queryKey: ['operations', 'queues'],
    queryFn: () => call<OperatorQueueListBody>('GET', '/v1/operations/queues'),
    refetchInterval: 10_000,
    enabled: role === 'OPERATOR' && !isKeptOut,
  });
  // The first queue in which something waits, until the person chooses one. The choice stays when its last item is done.
  const [first, setFirst] = useState<string>();
  const waits = counts.data?.data.find(({ waiting }) => waiting > 0)?.name;
  if (first === undefined && counts.data) setFirst(waits ?? 'reviews');
  const queue = chosen ?? first ?? 'reviews';
  const count = (name: string): string => {
    const { waiting = 0, oldest_at: oldest = null } = counts.data?.data.find((one) => one.name === name) ?? {};
    if (waiting === 0) return '';
    const age = oldest === null ? '' : t(`, há ${timeSince(oldest)}`, `, for ${timeSince(oldest)}`);
    return ` (${String(waiting)}${age})`;
  };
  if (role !== 'OPERATOR') {
    return (
      <Page title={t('Operação', 'Operations')}>
        <Empty title={t('Página exclusiva de operadores do serviço.', 'This page is for operators of the service.')} />
      </Page>
    );
  }
  const queues = operatorQueues(t);
  const shown = queues[queue] ?? queues['reviews'];
  return (
    <Page title={t('Operação', 'Operations')}>
      {isKeptOut && (
        <p role="note">{t('Configure o segundo fator em “Configurações”.', 'Set a second factor under “Settings”.')}</p>
      )}
      <div className="filters long">
        <Choice
          label={t('Fila', 'Queue')}
          value={queue}
          onChange={(event) => void navigate({ to: '.', search: { queue: event.target.value } as never })}
          options={Object.entries(queues).map(([name, [title]]) => [name, title + count(name)] as const)}
        />
      </div>
      {chosen === undefined && first === undefined && counts.isPending && !isKeptOut ? <Loading /> : shown?.[1]}
    </Page>
  );
}
