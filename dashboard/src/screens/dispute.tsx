import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type {
  EvidenceBody,
  EvidenceListBody,
  EvidenceTicketBody,
} from '../../../src/med/evidence/dto/evidence.body.js';
import type { MedCaseBody } from '../../../src/med/desk/dto/med-case.body.js';
import type { WalletEntryListBody } from '../../../src/wallets/dto/wallet-entry.body.js';
import { useParam } from '../address.js';
import { ApiFailure, call, door, unlessMissing, withQuery } from '../api.js';
import { ActionDialog } from '../dialog.js';
import { hintOf } from '../failures.js';
import { fileSize, money } from '../format.js';
import { useLanguage } from '../language.js';
import { useRefresh } from '../lists.js';
import { useMayAct, useMode } from '../session.js';
import { toast } from '../toast.js';
import {
  ActButton,
  Button,
  Card,
  Countdown,
  Empty,
  Facts,
  Failure,
  Field,
  Id,
  Loading,
  Money,
  Page,
  Status,
  Table,
  Time,
  Unavailable,
} from '../ui.js';
import { caseStatus, moneyOutcome } from '../words.js';
import { SaleName, useSales } from './sale-name.js';

const TYPES = ['image/png', 'image/jpeg', 'image/webp', 'image/gif', 'application/pdf'];
const APPEAL_LEAST = 5;
const MAX_SIZE = 10 * 1024 * 1024;

interface Upload {
  readonly name: string;
  readonly share: number;
  readonly problem: string | null;
  /** The file, if its upload can be repeated unchanged. */
  readonly again: File | null;
}

export function Dispute(): ReactNode {
  const { t, language } = useLanguage();
  const mode = useMode();
  const mayAct = useMayAct();
  const id = useParam('id');
  const refresh = useRefresh(mode);
  const path = `/med/cases/${encodeURIComponent(id)}`;
  const one = useQuery({
    queryKey: [mode, 'case', id],
    queryFn: () => call<MedCaseBody>('GET', door(mode, path)),
    refetchInterval: unlessMissing(5_000),
  });
  const evidence = useQuery({
    queryKey: [mode, 'case', id, 'evidence'],
    queryFn: () => call<EvidenceListBody>('GET', door(mode, `${path}/evidence`)),
    enabled: one.data !== undefined,
    // The links to the files are valid for five minutes.
    refetchInterval: 240_000,
  });
  const entries = useQuery({
    queryKey: [mode, 'case', id, 'entries', one.data?.status],
    queryFn: () =>
      call<WalletEntryListBody>('GET', door(mode, withQuery('/wallets/entries', { source: one.data?.id, limit: 100 }))),
    enabled: one.data !== undefined,
  });
  const saleOf = useSales([one.data?.charge_id ?? null]);
  // The amount that the case holds in the balance, minus what was released or taken.
  const held = entries.data?.data
    .filter(({ bucket }) => bucket === 'retained')
    .reduce((sum, { amount }) => sum + amount, 0);
  const [reason, setReason] = useState('');
  const [uploads, setUploads] = useState<readonly Upload[]>([]);
  const [isBare, setBare] = useState(false);
  const isUploaded = uploads.every(({ problem }) => problem !== null);

  if (one.error && !one.data) return <Unavailable error={one.error} retry={() => void one.refetch()} />;
  if (!one.data) return <Loading />;
  const data = one.data;
  const isOpen = data.status === 'open';
  const takesFiles = isOpen || data.status === 'appealed';
  const text = money(data.amount, data.currency, language);

  const simulate = (event: object): Promise<void> =>
    call('POST', door(mode, `/sandbox/charges/${data.charge_id}/simulate`), event).then(refresh);
  const send = async (file: File): Promise<void> => {
    const tell = (change: Partial<Upload>): void =>
      setUploads((all) => all.map((upload) => (upload.name === file.name ? { ...upload, ...change } : upload)));
    setUploads((all) => [
      ...all.filter(({ name }) => name !== file.name),
      { name: file.name, share: 0, problem: null, again: null },
    ]);
    if (!TYPES.includes(file.type)) {
      tell({ problem: t('Só imagens (PNG, JPEG, WebP, GIF) e PDF.', 'Only pictures (PNG, JPEG, WebP, GIF) and PDF.') });
      return;
    }
    if (file.size === 0) {
      tell({ problem: t('O arquivo está vazio.', 'The file is empty.') });
      return;
    }
    if (file.size > MAX_SIZE) {
      tell({ problem: t('Maior que 10 MB.', 'Larger than 10 MB.') });
      return;
    }
    try {
      const ticket = await call<EvidenceTicketBody>('POST', door(mode, `${path}/evidence`), {
        file_name: file.name,
        file_size: file.size,
        mime_type: file.type,
      });
      await put(ticket, file, (share) => tell({ share }));
      await call('POST', door(mode, `${path}/evidence/${ticket.id}/complete`));
      setUploads((all) => all.filter(({ name }) => name !== file.name));
      toast(t(`${file.name} anexado.`, `${file.name} attached.`));
      await refresh();
    } catch (failure) {
      const isRefused = failure instanceof ApiFailure && failure.status >= 400 && failure.status < 500;
      tell({
        again: isRefused ? null : file,
        problem:
          failure instanceof ApiFailure
            ? failure.details.some(({ param }) => param === 'file_name')
              ? t(
                  'O nome do arquivo tem sinais que não são aceitos: mude o nome.',
                  'The name of the file has characters that are not accepted: rename it.',
                )
              : hintOf(failure, t, {
                  mime_type: t(
                    'O conteúdo do arquivo não é o do tipo que ele diz ser.',
                    'The file is not of the type that it says.',
                  ),
                  '': t('O caso não aceita mais arquivos.', 'The case accepts no more files.'),
                })
            : t('O envio foi interrompido. Tente de novo.', 'The upload was interrupted. Try again.'),
      });
    }
  };
  const sendAll = (files: Iterable<File>): void => {
    for (const file of files) void send(file);
  };

  const upload = (
    <>
      {mayAct && takesFiles && (
        // The browser's own control accepts files by click, keyboard and drag and drop.
        <label className="drop">
          {t('Solte imagens ou PDFs aqui, de até 10 MB, ou ', 'Drop pictures or PDFs here, up to 10 MB, or ')}
          <span className="button">{t('escolha arquivos', 'choose files')}</span>
          <input
            type="file"
            multiple
            accept={TYPES.join()}
            onChange={({ target }) => {
              sendAll([...(target.files ?? [])]);
              target.value = '';
            }}
          />
        </label>
      )}
      <ul className="bare" aria-live="polite">
        {uploads.map(({ name, share, problem, again }) => (
          <li key={name}>
            <bdi>{name}</bdi>{' '}
            {problem === null ? (
              <progress value={share} max={1} aria-label={`${t('Envio de', 'Upload of')} ${name}`} />
            ) : (
              <>
                <strong className="problem">{problem}</strong>{' '}
                {again !== null && <Button onClick={() => void send(again)}>{t('Tentar de novo', 'Try again')}</Button>}{' '}
                <Button onClick={() => setUploads((all) => all.filter((upload) => upload.name !== name))}>
                  {t('Fechar', 'Close')}
                </Button>
              </>
            )}
          </li>
        ))}
      </ul>
    </>
  );

  return (
    <Page
      title={`${t('Disputa de', 'Dispute of')} ${text}`}
      actions={
        mayAct &&
        isOpen && (
          <>
            <ActionDialog
              trigger={t('Enviar defesa', 'Appeal')}
              tone="primary"
              title={t('Defesa na disputa', 'Appeal the dispute')}
              confirm={t('Enviar a defesa', 'Send the appeal')}
              isReady={reason.trim().length >= APPEAL_LEAST && isUploaded && (data.evidence_count > 0 || isBare)}
              opened={() => setBare(false)}
              act={async () => {
                await call('POST', door(mode, `${path}/appeal`), { reason: reason.trim() });
                toast(t('Defesa enviada.', 'Appeal sent.'));
                await refresh();
              }}
              refused={{ '': t('O caso já foi respondido ou decidido.', 'The case was answered or decided already.') }}
            >
              <p>
                {t(
                  'Diga o que foi vendido, a quem, quando e como foi entregue, e o que o cliente disse.',
                  'Say what was sold, to whom, when and how it was delivered, and what the customer said.',
                )}
              </p>
              <p>
                {t(
                  'A defesa e os arquivos ficam registrados aqui, e quem opera o serviço os lê quando a disputa espera uma decisão. O banco não recebe nada deste serviço: para que ele saiba, use também o caminho que o seu banco ou PSP oferece para contestar um MED (Mecanismo Especial de Devolução, com que um banco pede de volta um Pix por suspeita de fraude).',
                  'The appeal and the files are recorded here, and those who run the service read them when the dispute waits for a decision. The bank gets nothing from this service: for it to know, also use the way that your bank or PSP has for contesting a MED (Special Return Mechanism, by which a bank asks for a Pix back on suspicion of fraud).',
                )}
              </p>
              <Field label={t('O que aconteceu', 'What happened')} hint={`${String(reason.length)} / 2000`}>
                {(named) => (
                  <textarea
                    {...named}
                    rows={8}
                    maxLength={2000}
                    value={reason}
                    onChange={(event) => setReason(event.target.value)}
                    placeholder={t('Pedido: …\nEntregue em: …\nRastreio: …', 'Order: …\nDelivered on: …\nTracking: …')}
                  />
                )}
              </Field>
              {upload}
              <p className="quiet" role="status">
                {data.evidence_count === 1
                  ? t('1 arquivo anexado', '1 file attached')
                  : `${String(data.evidence_count)} ${t('arquivos anexados', 'files attached')}`}
              </p>
              {data.evidence_count === 0 && (
                <p>
                  <label>
                    <input type="checkbox" checked={isBare} onChange={({ target: { checked } }) => setBare(checked)} />{' '}
                    {t('Enviar sem nenhuma prova', 'Send without any evidence')}
                  </label>
                </p>
              )}
            </ActionDialog>
            <ActionDialog
              trigger={t('Aceitar', 'Accept')}
              tone="danger"
              title={t('Aceitar a disputa', 'Accept the dispute')}
              confirm={t(`Devolver ${text}`, `Give back ${text}`)}
              act={() => call('POST', door(mode, `${path}/accept`)).then(refresh)}
              refused={{
                '': t(
                  'O caso não pode ser aceito agora: já foi respondido, ou o banco mudou o valor e isso está sendo verificado.',
                  'The case cannot be accepted now: it was answered already, or the bank has changed its amount and that is being checked.',
                ),
              }}
            >
              <p>
                {t(
                  `${text} voltam para o pagador. Isto não pode ser desfeito.`,
                  `${text} go back to the payer. This cannot be undone.`,
                )}
              </p>
            </ActionDialog>
          </>
        )
      }
    >
      <div className="grid">
        <Card title={t('Caso', 'Case')}>
          <Facts
            rows={[
              [t('Situação', 'Status'), <Status value={data.status} label={caseStatus(data.status, t)} />],
              [t('Valor em disputa', 'Disputed amount'), <Money {...data} />],
              [t('Retido agora', 'Held now'), held !== undefined && <Money amount={held} currency={data.currency} />],
              [t('Responder até', 'Respond by'), isOpen && <Countdown at={data.response_deadline} />],
              [
                t('Sem resposta', 'Without a response'),
                isOpen &&
                  t(
                    'o banco decide do mesmo jeito, e o valor retido pode ser perdido',
                    'the bank decides all the same, and what is held may be lost',
                  ),
              ],
              [
                t('Próximo passo', 'Next step'),
                data.status === 'appealed' &&
                  t(
                    'o banco decide; até lá o valor fica retido, e mais provas podem ser anexadas',
                    'the bank decides; until then the amount is held, and more evidence can be added',
                  ),
              ],
              [t('Relato do banco', 'Report of the bank'), data.reason ?? '–'],
              [t('Venda', 'Sale'), <SaleName id={data.charge_id} sale={saleOf(data.charge_id)} />],
              [t('Dinheiro', 'Money'), data.money_outcome && moneyOutcome(data.money_outcome, t)],
              [t('Aberta', 'Opened'), <Time at={data.opened_at} />],
              [t('Encerrada', 'Closed'), data.closed_at && <Time at={data.closed_at} />],
              ['Id', <Id value={data.id} />],
            ]}
          />
        </Card>
        {data.appeal_reason !== null && (
          <Card title={t('Defesa', 'Appeal')}>
            {data.status === 'appealed' && (
              <p role="note">
                {t(
                  'Falta: avise também o seu banco, pelo caminho que ele oferece para contestar um MED. Ele não recebe nada deste serviço.',
                  'Still to do: tell your bank too, by its own way of contesting a MED. It gets nothing from this service.',
                )}
              </p>
            )}
            <p className="written">{data.appeal_reason}</p>
            <p className="quiet">
              <Time at={data.appealed_at} />
            </p>
          </Card>
        )}
      </div>
      <Card title={t('Provas', 'Evidence')}>
        {data.evidence_requested_at !== null && takesFiles && (
          <p role="note">{t('A plataforma pediu mais provas.', 'The platform asked for more evidence.')}</p>
        )}
        {upload}
        {evidence.error && <Failure error={evidence.error} />}
        {evidence.data?.data.length === 0 && <Empty title={t('Nenhum arquivo.', 'No files.')} />}
        {evidence.data && evidence.data.data.length > 0 && (
          <Table
            label={t('Provas', 'Evidence')}
            rows={evidence.data.data}
            keyOf={(file) => file.id}
            columns={[
              {
                name: t('Arquivo', 'File'),
                cell: (file) => (
                  <a href={file.view_url} target="_blank" rel="noreferrer">
                    {file.mime_type.startsWith('image/') && <Preview url={file.view_url} />} {file.file_name}
                  </a>
                ),
              },
              { name: t('Tamanho', 'Size'), isNumber: true, cell: (file) => fileSize(file.file_size) },
              {
                name: t('Enviado por', 'Sent by'),
                cell: (file) => (file.uploaded_by === 'merchant' ? t('loja', 'shop') : t('plataforma', 'platform')),
              },
              { name: t('Quando', 'When'), cell: (file) => <Time at={file.uploaded_at} /> },
              ...(mayAct && isOpen
                ? [
                    {
                      name: t('Ações', 'Actions'),
                      cell: (file: EvidenceBody) =>
                        file.uploaded_by === 'merchant' && (
                          <ActionDialog
                            trigger={t('Excluir', 'Delete')}
                            tone="danger"
                            title={t('Excluir o arquivo', 'Delete the file')}
                            act={() => call('DELETE', door(mode, `${path}/evidence/${file.id}`)).then(refresh)}
                          >
                            <p>{file.file_name}</p>
                          </ActionDialog>
                        ),
                    },
                  ]
                : []),
            ]}
          />
        )}
      </Card>
      {mode === 'test' && mayAct && takesFiles && (
        <Card title={t('Teste', 'Test')}>
          <p>{t('O que o banco faz:', 'What the bank does:')}</p>
          <div className="actions">
            <ActButton act={() => simulate({ event: 'med_rule', result: 'disagreed' })}>
              {t('Decide pela loja (teste)', 'Rules for the shop (test)')}
            </ActButton>
            <ActButton act={() => simulate({ event: 'med_rule', result: 'agreed' })}>
              {t('Decide pelo pagador (teste)', 'Rules for the payer (test)')}
            </ActButton>
            <ActButton act={() => simulate({ event: 'med_withdraw' })}>
              {t('Retira a disputa (teste)', 'Withdraws the dispute (test)')}
            </ActButton>
          </div>
        </Card>
      )}
    </Page>
  );
}

/** If files are stored elsewhere, the pages may not embed them: only the link is shown. */
function Preview({ url }: { url: string }): ReactNode {
  const [isShown, setShown] = useState(true);
  return isShown && <img className="preview" src={url} alt="" loading="lazy" onError={() => setShown(false)} />;
}

/** Uploads with progress, which fetch does not report. */
function put(ticket: EvidenceTicketBody, file: File, progress: (share: number) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open(ticket.upload_method, ticket.upload_url);
    for (const [name, value] of Object.entries(ticket.upload_headers)) {
      if (name.toLowerCase() !== 'content-length') request.setRequestHeader(name, String(value));
    }
    request.upload.onprogress = ({ loaded, total }) => progress(total > 0 ? loaded / total : 0);
    request.onload = () => (request.status < 300 ? resolve() : reject(new Error(`HTTP ${String(request.status)}`)));
    request.onerror = () => reject(new Error('broken off'));
    request.send(file);
  });
}
