import type { ReactNode } from 'react';
import type { PayoutDestinationBody } from '../../../src/payouts/dto/payout-destination.body.js';
import { call, door } from '../api.js';
import { ActionDialog } from '../dialog.js';
import { useFields } from '../forms.js';
import { useLanguage } from '../language.js';
import { usePages, useRefresh } from '../lists.js';
import { receiverFacts, receiverLine } from '../payout-words.js';
import { RECEIVER, targetOf } from '../receiver.js';
import { useMayAct, useMode, useSession } from '../session.js';
import { Button, Card, Empty, Facts, Failure, Input, Link, Loading, Page, Status, Time } from '../ui.js';
import { Decide } from './payout.js';
import { ReceiverFields } from './receiver-fields.js';

/** Saved places to which payouts go. */
export function PayoutDestinations(): ReactNode {
  const { t } = useLanguage();
  const mode = useMode();
  const mayAct = useMayAct();
  const path = door(mode, '/payout-destinations');
  const list = usePages<PayoutDestinationBody>([mode, 'payout-destinations', 'pages'], path, { limit: 50 });
  return (
    <Page
      title={t('Destinos de saques', 'Payout destinations')}
      actions={
        <>
          <Link to={`/${mode}/payouts`} className="button">
            {t('Saques', 'Payouts')}
          </Link>
          {mayAct && <NewDestination />}
        </>
      }
    >
      {list.error && <Failure error={list.error} retry={() => void list.refetch()} />}
      {list.isPending && <Loading />}
      {list.data?.length === 0 && (
        <Empty title={t('Nenhum destino salvo.', 'No saved destinations.')}>
          <p>
            {t(
              'Salve a conta do seu banco uma vez e escolha-a em cada saque.',
              'Save your bank account once, and choose it for each payout.',
            )}
          </p>
        </Empty>
      )}
      <div className="grid wide">
        {list.data?.map((one) => (
          <Destination key={one.id} destination={one} path={`${path}/${one.id}`} />
        ))}
      </div>
      {list.hasNextPage && (
        <Button disabled={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          {t('Mais antigos', 'Older ones')}
        </Button>
      )}
    </Page>
  );
}

function Destination({ destination, path }: { destination: PayoutDestinationBody; path: string }): ReactNode {
  const { t } = useLanguage();
  const mode = useMode();
  const mayAct = useMayAct();
  const isOwner = useSession().role === 'OWNER';
  const refresh = useRefresh(mode);
  const { id, approved_at: approvedAt, created_at: savedAt } = destination;
  const name = destination.label ?? receiverLine(destination, t);
  return (
    <Card title={name}>
      <Facts
        rows={[
          ...receiverFacts(destination, t),
          [
            t('Aprovação', 'Approval'),
            approvedAt === null ? (
              t('sem aprovação', 'not approved')
            ) : (
              <>
                <Status value="active" label={t('Aprovado', 'Approved')} /> <Time at={approvedAt} />
              </>
            ),
          ],
          [t('Salvo em', 'Saved'), <Time at={savedAt} />],
        ]}
      />
      {mayAct && (
        <div className="actions">
          <Link to={`/${mode}/payouts/new`} search={{ destination: id }} className="button">
            {t('Sacar', 'Pay out')}
          </Link>
          {isOwner && approvedAt === null && (
            <Decide
              trigger={t('Aprovar', 'Approve')}
              title={t(`Aprovar ${name}`, `Approve ${name}`)}
              act={(code) => call('POST', `${path}/approve`, code).then(refresh)}
            >
              <p>
                {t(
                  'O primeiro saque para este destino não espera mais. Quem aprova o destino não pode aprovar os saques para ele.',
                  'The first payout to this destination no longer waits. Whoever approves the destination cannot approve payouts to it.',
                )}
              </p>
            </Decide>
          )}
          <ActionDialog
            trigger={t('Excluir', 'Delete')}
            tone="danger"
            title={t(`Excluir ${name}`, `Delete ${name}`)}
            act={() => call('DELETE', path).then(refresh)}
          >
            <p>
              {t(
                'Os saques já pedidos para este destino continuam.',
                'Payouts that were requested to this destination go on.',
              )}
            </p>
          </ActionDialog>
        </div>
      )}
    </Card>
  );
}

/** A dialog that saves a destination. */
export function NewDestination(): ReactNode {
  const { t } = useLanguage();
  const mode = useMode();
  const path = door(mode, '/payout-destinations');
  const refresh = useRefresh(mode);
  const receiver = useFields(RECEIVER);
  const { fields, begin, field } = useFields({ label: '' });
  const target = targetOf(receiver.fields);
  const label = fields.label.trim();
  return (
    <ActionDialog
      trigger={t('Salvar destino', 'Save destination')}
      tone="primary"
      title={t('Salvar um destino', 'Save a destination')}
      confirm={t('Salvar', 'Save')}
      isReady={target !== null}
      opened={() => {
        begin();
        receiver.begin();
      }}
      act={() => call('POST', path, { ...target, ...(label === '' ? {} : { label }) }).then(refresh)}
    >
      <ReceiverFields receiver={receiver} mayBeCode={false} />
      <Input
        label={t('Nome do destino (opcional)', 'Name of the destination (optional)')}
        maxLength={60}
        placeholder={t('Conta principal', 'Main account')}
        {...field('label')}
      />
    </ActionDialog>
  );
}
