import type { ReactNode } from 'react';
import type { MedCaseBody } from '../../../src/med/desk/dto/med-case.body.js';
import type { PayoutBody } from '../../../src/payouts/dto/payout.body.js';
import type { EndpointBody } from '../../../src/webhooks/dto/endpoint.body.js';
import { useLanguage } from '../language.js';
import { payoutNote } from '../payout-words.js';
import { useMode } from '../session.js';
import { Card, Countdown, Link, Money, Status } from '../ui.js';
import { EndpointHealth } from './endpoint-health.js';

/** Endpoints without problems that are shown. */
const MAX_ENDPOINTS = 4;
/** How long a failed payout needs attention. */
const FAILED_MS = 7 * 86_400_000;

/** Payouts that are not over, and failed ones, newest first. */
export interface OpenPayouts {
  readonly pending: readonly PayoutBody[];
  readonly processing: readonly PayoutBody[];
  readonly failed: readonly PayoutBody[];
}

/** Everything that waits for a person, the most urgent first. */
export function Attention({
  cases = [],
  endpoints = [],
  payouts = { pending: [], processing: [], failed: [] },
}: {
  cases: readonly MedCaseBody[] | undefined;
  endpoints: readonly EndpointBody[] | undefined;
  payouts: OpenPayouts | undefined;
}): ReactNode {
  const { t, language } = useLanguage();
  const mode = useMode();
  const approvals = payouts.pending.filter(({ approval }) => approval !== undefined).length;
  const failed = payouts.failed.filter((one) => Date.parse(one.created_at) > Date.now() - FAILED_MS).slice(0, 3);
  const troubled = endpoints.filter((one) => one.status === 'ACTIVE' && one.failingSince !== undefined);
  if (cases.length + approvals + failed.length + troubled.length === 0) return null;
  return (
    <Card title={t('Precisa de você', 'Needs you')}>
      <ul className="bare attention">
        {cases.map((one) => (
          <li key={one.id}>
            <Status value="DISPUTE" label={t('Disputa', 'Dispute')} />{' '}
            <Link to={`/${mode}/disputes/${one.id}`}>
              <Money amount={one.amount} currency={one.currency} />
            </Link>{' '}
            <Countdown at={one.response_deadline} />
          </li>
        ))}
        {approvals > 0 && (
          <li>
            <Status value="PENDING" label={t('Aprovação', 'Approval')} />{' '}
            <Link to={`/${mode}/payouts`} search={{ status: 'pending' }}>
              {approvals === 1
                ? t('1 saque espera a aprovação de outra pessoa', '1 payout waits for another person’s approval')
                : t(
                    `${String(approvals)} saques esperam a aprovação de outra pessoa`,
                    `${String(approvals)} payouts wait for another person’s approval`,
                  )}
            </Link>
          </li>
        )}
        {failed.map((one) => (
          <li key={one.id}>
            <Status value="FAILED" label={t('Saque não realizado', 'Payout failed')} />{' '}
            <Link to={`/${mode}/payouts/${one.id}`}>
              <Money {...one} />
            </Link>{' '}
            {payoutNote(one, t, language)}
          </li>
        ))}
        {troubled.map((one) => (
          <li key={one.id} className="written">
            <Status value="FAILED" label={t('Endpoint falha', 'Failing endpoint')} />{' '}
            <Link to={`/${mode}/webhooks`}>{one.url}</Link>
          </li>
        ))}
      </ul>
    </Card>
  );
}

/** Failing and disabled endpoints first, all of them. */
export function Endpoints({ endpoints }: { endpoints: readonly EndpointBody[] }): ReactNode {
  const { t } = useLanguage();
  const ranked = endpoints.map((endpoint) => {
    const rank = endpoint.status === 'ACTIVE' ? (endpoint.failingSince === undefined ? 2 : 0) : 1;
    return { endpoint, rank };
  });
  const troubled = [0, 1].flatMap((rank) => ranked.filter((one) => one.rank === rank));
  const others = ranked.filter(({ rank }) => rank === 2);
  const shown = [...troubled, ...others.slice(0, MAX_ENDPOINTS)];
  const left = others.length - MAX_ENDPOINTS;
  return (
    <>
      {shown.length === 0 && <p className="quiet">{t('Nenhum endpoint.', 'No endpoints.')}</p>}
      {shown.map(({ endpoint }) => (
        <p key={endpoint.id} className="written">
          {endpoint.url}{' '}
          {endpoint.status === 'ACTIVE' ? (
            <EndpointHealth endpoint={endpoint} />
          ) : (
            <Status value="CANCELLED" label={t('Desligado', 'Off')} />
          )}
        </p>
      ))}
      {left > 0 && (
        <p className="quiet">{t(`e mais ${String(left)} sem falhas`, `and ${String(left)} more without failures`)}</p>
      )}
    </>
  );
}
