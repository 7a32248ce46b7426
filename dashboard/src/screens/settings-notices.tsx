import { useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { NoticesBody } from '../../../src/auth/dto/notices.dto.js';
import { call } from '../api.js';
import { useLanguage } from '../language.js';
import { useRefresh } from '../lists.js';
import { useNotices } from '../notices.js';
import { useSession } from '../session.js';
import { toast } from '../toast.js';
import { Card, Failure, Loading, Table } from '../ui.js';

type Channel = 'dashboard' | 'mail';
type Kind = NoticesBody[Channel][number];

/** The person's choice of notices, kept at each tick. */
export function Notices(): ReactNode {
  const { t } = useLanguage();
  const { role } = useSession();
  const notices = useNotices();
  const client = useQueryClient();
  const refresh = useRefresh('notices');
  if (notices.error) return <Failure error={notices.error} retry={() => void notices.refetch()} />;
  const chosen = notices.data;
  if (!chosen) return <Loading />;
  const kinds: readonly (readonly [Kind, string])[] = [
    ['paid', t('Venda paga', 'Paid sale')],
    ['dispute', t('Disputa', 'Dispute')],
    ['webhook', t('Endpoint que falha ou foi desativado', 'Failing or disabled endpoint')],
    ['payout', t('Saque pago, não realizado ou devolvido', 'Payout paid, failed or returned')],
    ['approval', t('Saque para aprovar', 'Payout to approve')],
  ];
  const tick = (channel: Channel, kind: Kind, name: string, where: string): ReactNode => {
    const list: readonly Kind[] = chosen[channel];
    return (
      <input
        type="checkbox"
        aria-label={`${name}: ${where}`}
        checked={list.includes(kind)}
        onChange={({ target }) => {
          const next = target.checked ? [...list, kind] : list.filter((one) => one !== kind);
          // The tick shows at once; a refused one goes back.
          client.setQueryData(['notices'], { ...chosen, [channel]: next });
          call('PATCH', '/v1/auth/notices', { [channel]: next }).then(
            () => refresh(),
            () => {
              void refresh();
              toast(t('O aviso não foi salvo. Tente de novo.', 'The notice was not saved. Try again.'), {
                tone: 'bad',
              });
            },
          );
        }}
      />
    );
  };
  const mail = t('Por e-mail', 'By mail');
  const here = t('No painel', 'In the dashboard');
  return (
    <Card title={t('Avisos', 'Notices')}>
      <Table
        label={t('Avisos', 'Notices')}
        rows={kinds}
        keyOf={([kind]) => kind}
        columns={[
          { name: t('Aviso', 'Notice'), cell: ([, name]) => name },
          { name: here, cell: ([kind, name]) => tick('dashboard', kind, name, here) },
          {
            name: mail,
            cell: ([kind, name]) => (kind === 'approval' && role === 'MEMBER' ? '–' : tick('mail', kind, name, mail)),
          },
        ]}
      />
      <p className="quiet">
        {t(
          'Vendas pagas chegam juntas, no máximo um e-mail a cada 5 minutos. O e-mail da conta sempre recebe disputas e webhooks desativados. Avisos de segurança chegam sempre.',
          'Paid sales come together, at most one mail every 5 minutes. The account’s e-mail always gets disputes and disabled webhooks. Security notices always come.',
        )}
      </p>
    </Card>
  );
}
