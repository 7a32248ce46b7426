import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { EvidenceListBody } from '../../../src/med/evidence/dto/evidence.body.js';
import type { MedReviewBody } from '../../../src/operations/dto/med-review.body.js';
import { call } from '../api.js';
import { ActionDialog } from '../dialog.js';
import { fileSize, money, parseAmount } from '../format.js';
import { type Translate, useLanguage } from '../language.js';
import { useRefresh } from '../lists.js';
import { type Column, Facts, Id, Input, Loading, Money, Status, Time } from '../ui.js';
import { caseStatus, inWords } from '../words.js';
import { AccountName } from './operator-list.js';

function whyItWaits(review: MedReviewBody['review'], t: Translate): string {
  switch (review) {
    case 'amount_mismatch':
      return t('o banco informou outro valor', 'the bank reported another amount');
    case 'not_disputable':
      return t('o lojista não tem mais nada desta venda', 'the merchant has nothing left of this sale');
    case 'ruling':
      return t('o banco decidiu', 'the bank has ruled');
    case 'ruling_dismissed':
      return t('a decisão do banco não foi aplicada', 'the bank’s ruling was not applied');
    case 'contradiction':
      return t('o banco informou o contrário do que foi feito', 'the bank reported the opposite of what was done');
    case null:
      return '–';
  }
}

const atTheBank = inWords((t) => ({
  created: t('aberta', 'created'),
  delivered: t('recebida', 'delivered'),
  closed: t('encerrada', 'closed'),
  canceled: t('retirada', 'canceled'),
  agreed: t('a favor do pagador', 'for the payer'),
  disagreed: t('a favor do lojista', 'for the merchant'),
}));

/** The facts that an operator needs about a dispute, and the decision. */
export function medReviewColumns(t: Translate): readonly Column<MedReviewBody>[] {
  return [
    { name: t('Aberta', 'Opened'), cell: (one) => <Time at={one.case.opened_at} /> },
    { name: t('Conta', 'Account'), cell: (one) => <AccountName id={one.account_id} mode={one.mode} /> },
    { name: t('Motivo', 'Reason'), cell: (one) => whyItWaits(one.review, t) },
    {
      name: t('Situação', 'Status'),
      cell: (one) => <Status value={one.case.status} label={caseStatus(one.case.status, t)} />,
    },
    {
      name: t('Informado pelo banco', 'Reported by the bank'),
      isNumber: true,
      cell: (one) => <Money amount={one.reported_amount} currency={one.case.currency} />,
    },
    {
      name: t('Retido', 'Held'),
      isNumber: true,
      cell: (one) => <Money amount={one.held_amount} currency={one.case.currency} />,
    },
    { name: t('No banco', 'At the bank'), cell: (one) => atTheBank(one.bank_result ?? one.bank_status, t) },
    { name: t('Caso', 'Case'), cell: (one) => <Case review={one} /> },
    { name: t('Decisão', 'Decision'), cell: (one) => <Decision review={one} /> },
  ];
}

/** Statements of both sides, loaded on demand. */
function Case({ review }: { review: MedReviewBody }): ReactNode {
  const { t } = useLanguage();
  const [isOpen, setOpen] = useState(false);
  const { case: medCase } = review;
  const evidence = useQuery({
    queryKey: ['operations', 'med', review.id, 'evidence', review.version],
    queryFn: () => call<EvidenceListBody>('GET', `/v1/operations/med/${review.id}/evidence`),
    enabled: isOpen,
    // The links to the files are valid for five minutes.
    refetchInterval: 240_000,
  });
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{t('Ver', 'View')}</summary>
      <Facts
        rows={[
          [t('Venda', 'Sale'), <Id value={medCase.charge_id} />],
          [t('Valor em disputa', 'Disputed amount'), <Money {...medCase} />],
          [t('Relato do banco', 'Report of the bank'), medCase.reason ?? '–'],
          [t('Responder até', 'Respond by'), <Time at={medCase.response_deadline} />],
          [t('Defesa', 'Appeal'), <span className="written">{medCase.appeal_reason ?? '–'}</span>],
          [t('Id no banco', 'Id at the bank'), <Id value={review.reference} />],
        ]}
      />
      {evidence.isLoading && <Loading />}
      <ul className="bare">
        {evidence.data?.data.map((file) => (
          <li key={file.id}>
            <a href={file.view_url} target="_blank" rel="noreferrer">
              {file.file_name}
            </a>{' '}
            ({fileSize(file.file_size)})
          </li>
        ))}
      </ul>
      {evidence.data?.data.length === 0 && <p className="quiet">{t('Nenhum arquivo.', 'No files.')}</p>}
    </details>
  );
}

function Decision({ review }: { review: MedReviewBody }): ReactNode {
  const { t, language } = useLanguage();
  const refresh = useRefresh('operations');
  const [amount, setAmount] = useState('');
  // The decision applies to the version on screen: the list may have changed behind the dialog.
  const [version, setVersion] = useState(review.version);
  const path = `/v1/operations/med/${review.id}`;
  const begin = (): void => {
    setAmount('');
    setVersion(review.version);
  };
  const post = (what: string, body?: object): Promise<void> => call('POST', `${path}/${what}`, body).then(refresh);
  const reported = money(review.reported_amount, review.case.currency, language);
  const isRuling = review.review === 'ruling' || review.review === 'contradiction';
  const isAnswerable = review.visible && ['open', 'appealed'].includes(review.case.status);
  return (
    <div className="actions">
      <ActionDialog
        trigger={t('Aprovar', 'Approve')}
        tone="danger"
        title={t('Aprovar a disputa', 'Approve the dispute')}
        isReady={amount.trim() === '' || parseAmount(amount, language) !== null}
        opened={begin}
        act={() =>
          post('approve', { version, ...(amount.trim() === '' ? {} : { amount: parseAmount(amount, language) }) })
        }
      >
        <p>
          {isRuling
            ? t(
                `O banco tirou até ${reported}; isto é lançado na conta do lojista.`,
                `The bank took up to ${reported}; this is booked to the merchant.`,
              )
            : t(
                `O lojista passa a ver o caso e pode se defender; até ${reported} ficam retidos até o banco decidir.`,
                `The merchant sees the case and can appeal; up to ${reported} are held until the bank decides.`,
              )}
        </p>
        <Input
          label={t('Outro valor (opcional)', 'Another amount (optional)')}
          inputMode="decimal"
          value={amount}
          onChange={(event) => setAmount(event.target.value)}
        />
      </ActionDialog>
      <ActionDialog
        trigger={t('Rejeitar', 'Dismiss')}
        title={t('Rejeitar a disputa', 'Dismiss the dispute')}
        opened={begin}
        act={() => post('dismiss', { version })}
      >
        <p>
          {review.visible
            ? t(
                'O que o banco diz não é aplicado: o caso continua como está.',
                'What the bank says is not applied: the case stays as it is.',
              )
            : t(
                'O lojista não vê o caso, e nada é tirado dele.',
                'The merchant does not see the case, and nothing is taken from them.',
              )}
        </p>
      </ActionDialog>
      {isAnswerable && (
        <ActionDialog
          trigger={t('Pedir provas', 'Ask for evidence')}
          confirm={t('Pedir provas', 'Ask for evidence')}
          act={() => post('request-evidence')}
        >
          <p>
            {t(
              'O lojista é avisado e vê o pedido no caso.',
              'The merchant is told, and sees the request with the case.',
            )}
          </p>
        </ActionDialog>
      )}
    </div>
  );
}
