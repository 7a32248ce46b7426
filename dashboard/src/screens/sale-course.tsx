import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { MedCaseBody } from '../../../src/med/desk/dto/med-case.body.js';
import type { PaymentDetailBody } from '../../../src/payments/dto/payment.body.js';
import type { RefundItemBody } from '../../../src/payments/dto/refund.body.js';
import type { WalletEntryBody } from '../../../src/wallets/dto/wallet-entry.body.js';
import type { DeliveryBody } from '../../../src/webhooks/dto/delivery.body.js';
import type { EndpointListBody } from '../../../src/webhooks/dto/endpoint.body.js';
import type { EventBody } from '../../../src/webhooks/dto/event.body.js';
import { call, door } from '../api.js';
import { dateTimeSeconds, duration, type Translate } from '../format.js';
import { useLanguage } from '../language.js';
import { useMode } from '../session.js';
import { Card, Countdown, Link, Money, Status } from '../ui.js';
import { caseStatus, deliveryError, deliveryStatus, methodName, returnReason, saleStatus } from '../words.js';

type Kind = 'created' | 'paid' | 'available' | 'refund' | 'dispute' | 'return' | 'end';

interface Fact {
  readonly kind: Kind;
  readonly at: string;
  readonly title: ReactNode;
  readonly tone?: 'good' | 'bad';
}

/** The history of a sale, as far as the service knows it. */
interface Known {
  readonly sale: PaymentDetailBody;
  readonly refunds: readonly RefundItemBody[];
  readonly cases: readonly MedCaseBody[];
  readonly entries: readonly WalletEntryBody[];
  /** The event that the sale failed or expired. */
  readonly end: EventBody | null;
  readonly deliveries: readonly DeliveryBody[];
}

/** Facts that events of these names tell. */
const KINDS: readonly (readonly [RegExp, Kind])[] = [
  [/^(?:charge|payment)\.(?:created|processing)$/, 'created'],
  [/^(?:charge\.paid|payment\.completed)$/, 'paid'],
  [/\.refunded$/, 'refund'],
  [/^(?:charge\.disputed|med_case\..*|med\.resolved)$/, 'dispute'],
  [/\.(?:failed|expired)$/, 'end'],
];

/** The facts of a sale in the order of their times, each with the webhooks that told it. */
export function SaleCourse({ actions, ...known }: Known & { actions?: ReactNode }): ReactNode {
  const { t, language } = useLanguage();
  const mode = useMode();
  const endpoints = useQuery({
    queryKey: [mode, 'endpoints'],
    queryFn: () => call<EndpointListBody>('GET', door(mode, '/webhooks/endpoints')),
  });
  const hostOf = ({ endpointId }: DeliveryBody): string | null => {
    const url = endpoints.data?.data.find(({ id }) => id === endpointId)?.url;
    return url === undefined ? null : new URL(url).host;
  };
  const facts = factsOf(known, mode, t);
  const told = facts.map((fact) => known.deliveries.filter((delivery) => factOf(delivery, facts) === fact));
  const waiting = known.entries
    .filter(({ bucket, type }) => bucket === 'pending' && ['sale', 'fee', 'release'].includes(type))
    .reduce((sum, { amount }) => sum + amount, 0);
  const { sale } = known;
  const until = ['PENDING', 'WAITING_PAYMENT'].includes(sale.status)
    ? (sale.pixExpiresAt ?? sale.boletoExpiresAt ?? sale.mbExpiresAt)
    : null;
  return (
    <Card title={t('Andamento', 'Course')} actions={actions}>
      <ol className="course">
        {facts.map(({ at, title, tone }, index) => {
          const seconds = index === 0 ? 0 : (Date.parse(at) - Date.parse(facts[index - 1]?.at ?? at)) / 1000;
          return (
            <li key={index} className={tone}>
              <strong>{title}</strong>
              <p className="quiet">
                <time dateTime={at} title={at}>
                  {dateTimeSeconds(at, language)}
                </time>
                {seconds >= 1 && ` · ${t(`${duration(seconds)} depois`, `${duration(seconds)} later`)}`}
              </p>
              <Told deliveries={told[index] ?? []} hostOf={hostOf} />
            </li>
          );
        })}
        {until !== null && (
          <li className="coming">
            <strong>{t('Aguardando pagamento', 'Awaiting payment')}</strong>
            <p className="quiet">
              <Countdown at={until} />
            </p>
          </li>
        )}
        {waiting > 0 && (
          <li className="coming">
            <strong>
              {t('A liberar', 'To be released')} <Money amount={waiting} currency={sale.currency} />
            </strong>
            <p className="quiet">
              <Link to={`/${mode}/balance`}>{t('ver o calendário de liberações', 'see the calendar of releases')}</Link>
            </p>
          </li>
        )}
      </ol>
    </Card>
  );
}

/** Webhooks of one fact, open when one of them fails. */
function Told({
  deliveries,
  hostOf,
}: {
  deliveries: readonly DeliveryBody[];
  hostOf: (delivery: DeliveryBody) => string | null;
}): ReactNode {
  const { t } = useLanguage();
  const mode = useMode();
  if (deliveries.length === 0) return null;
  const count = (...statuses: string[]): number => deliveries.filter(({ status }) => statuses.includes(status)).length;
  const [failed, waiting] = [count('FAILED'), count('PENDING', 'PROCESSING')];
  const again = deliveries.filter(({ status, lastError }) => status === 'PENDING' && lastError !== null).length;
  const outcome =
    failed > 0
      ? t(`${String(failed)} com falha`, `${String(failed)} failed`)
      : again > 0
        ? t(`${String(again)} sem sucesso, tentando de novo`, `${String(again)} without success, retrying`)
        : waiting > 0
          ? t(`${String(waiting)} na fila`, `${String(waiting)} waiting`)
          : count('DELIVERED') === deliveries.length
            ? t('entregue', 'delivered')
            : t('sem entrega', 'not delivered');
  return (
    <details open={failed > 0 || undefined}>
      <summary>
        {deliveries.length === 1 ? '1 webhook' : `${String(deliveries.length)} webhooks`} · {outcome}
      </summary>
      <ul className="bare">
        {deliveries.map((one) => (
          <li key={one.id}>
            <Link to={`/${mode}/webhooks/deliveries/${one.id}`}>{one.eventType}</Link>{' '}
            <Status value={one.status} label={deliveryStatus(one.status, t)} />
            <p className="quiet">
              {[
                hostOf(one) ?? t('endpoint da cobrança', 'endpoint of the charge'),
                one.lastStatusCode !== null
                  ? t(`respondeu HTTP ${String(one.lastStatusCode)}`, `answered HTTP ${String(one.lastStatusCode)}`)
                  : one.lastError !== null
                    ? deliveryError(one.lastError, t)
                    : t('ainda sem resposta', 'no answer yet'),
                one.attempts > 1 && t(`${String(one.attempts)} tentativas`, `${String(one.attempts)} attempts`),
              ]
                .filter(Boolean)
                .join(' · ')}
            </p>
          </li>
        ))}
      </ul>
    </details>
  );
}

function factsOf({ sale, refunds, cases, entries, end }: Known, mode: string, t: Translate): readonly Fact[] {
  const facts: Fact[] = [{ kind: 'created', at: sale.createdAt, title: t('Cobrança criada', 'Charge created') }];
  if (sale.paidAt !== null) {
    const method = sale.paidWith === null ? '' : ` · ${methodName(sale.paidWith, t)}`;
    facts.push({
      kind: 'paid',
      at: sale.paidAt,
      title: `${t('Pagamento recebido', 'Payment received')}${method}`,
      tone: 'good',
    });
  }
  // A sale may be released in parts, or at once with its payment.
  const released = entries.filter(
    ({ bucket, type, amount }) => bucket === 'available' && amount > 0 && ['sale', 'release'].includes(type),
  );
  for (const { created_at: at, currency } of released)
    facts.push({
      ...{ kind: 'available', at, tone: 'good' },
      title: (
        <>
          {t('Disponível no saldo', 'Available in the balance')}{' '}
          <Money
            amount={entries
              .filter(
                (one) =>
                  one.bucket === 'available' && one.created_at === at && ['sale', 'fee', 'release'].includes(one.type),
              )
              .reduce((sum, { amount }) => sum + amount, 0)}
            currency={currency}
          />
        </>
      ),
    });
  for (const one of refunds) {
    facts.push({
      ...{ kind: 'refund', at: one.createdAt },
      title: (
        <>
          {t('Reembolso solicitado', 'Refund requested')} <Money {...one} />
        </>
      ),
    });
    if (one.status === 'REFUNDED')
      facts.push({
        kind: 'refund',
        at: one.updatedAt,
        title: t('Reembolso concluído', 'Refund completed'),
        tone: 'good',
      });
    if (one.status === 'FAILED')
      facts.push({ kind: 'refund', at: one.updatedAt, title: t('Reembolso falhou', 'Refund failed'), tone: 'bad' });
  }
  for (const one of cases) {
    const link = (text: string): ReactNode => <Link to={`/${mode}/disputes/${one.id}`}>{text}</Link>;
    facts.push({ kind: 'dispute', at: one.opened_at, title: link(t('Em disputa', 'Disputed')), tone: 'bad' });
    if (one.closed_at !== null) {
      const status = caseStatus(one.status, t);
      facts.push({ kind: 'dispute', at: one.closed_at, title: link(`${t('Disputa', 'Dispute')}: ${status}`) });
    }
  }
  for (const { at, reason } of sale.returns ?? []) {
    const title = `${t('Pix devolvido', 'Pix returned')}: ${returnReason(reason, t)}`;
    facts.push({ kind: 'return', at, title });
  }
  if (end !== null) facts.push({ kind: 'end', at: end.created_at, title: saleStatus(sale.status, t), tone: 'bad' });
  return facts.sort((a, b) => a.at.localeCompare(b.at));
}

/** Returns the fact that a webhook told: the last one of its kind before it, or else the last one of any kind. */
function factOf({ eventType, createdAt }: DeliveryBody, facts: readonly Fact[]): Fact | undefined {
  const kind = KINDS.find(([names]) => names.test(eventType))?.[1];
  const before = facts.filter(({ at }) => at <= createdAt);
  return (
    before.findLast((fact) => fact.kind === kind) ??
    facts.find((fact) => fact.kind === kind) ??
    before.at(-1) ??
    facts[0]
  );
}
