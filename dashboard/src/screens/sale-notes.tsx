import { type ReactNode, useState } from 'react';
import type { NoteBody } from '../../../src/payments/dto/note.body.js';
import { call, door } from '../api.js';
import { ActionDialog } from '../dialog.js';
import { useLanguage } from '../language.js';
import { usePages, useRefresh } from '../lists.js';
import { useMayAct, useMode, useSession } from '../session.js';
import { ActButton, Button, Card, Failure, Field, Loading, Time } from '../ui.js';

const MAX_NOTE = 500;

/** Notes of the team about a sale, which the customer does not see. */
export function SaleNotes({ id }: { id: string }): ReactNode {
  const { t } = useLanguage();
  const mode = useMode();
  const mayAct = useMayAct();
  const { user, role } = useSession();
  const path = door(mode, `/payments/${encodeURIComponent(id)}/notes`);
  const key = [mode, 'sale', id, 'notes'];
  const refresh = useRefresh(...key);
  const notes = usePages<NoteBody>(key, path, { limit: 25 });
  const [text, setText] = useState('');
  const add = async (): Promise<void> => {
    if (text.trim() === '') return;
    await call('POST', path, { text });
    setText('');
    await refresh();
  };
  return (
    <Card title={t('Notas da equipe', 'Notes of the team')}>
      {notes.error && <Failure error={notes.error} retry={() => void notes.refetch()} />}
      {notes.isPending && <Loading />}
      {notes.data?.length === 0 && !mayAct && <p className="quiet">{t('Nenhuma nota ainda.', 'No notes yet.')}</p>}
      {mayAct && (
        <>
          <Field
            label={t('Nova nota', 'New note')}
            hint={t(
              `Só a equipe vê. ${String(MAX_NOTE - text.length)} caracteres restam.`,
              `Only the team sees it. ${String(MAX_NOTE - text.length)} characters left.`,
            )}
          >
            {(named) => (
              <textarea
                {...named}
                rows={2}
                maxLength={MAX_NOTE}
                value={text}
                onChange={({ target }) => setText(target.value)}
              />
            )}
          </Field>
          <ActButton act={add} disabled={text.trim() === ''}>
            {t('Salvar nota', 'Save the note')}
          </ActButton>
        </>
      )}
      <ul className="bare notes">
        {notes.data?.map((note) => (
          <li key={note.id}>
            <p className="note">
              <strong>{note.authorName ?? '–'}</strong> · <Time at={note.createdAt} />
            </p>
            {note.text === null ? (
              <p className="quiet">{t('Excluída com os dados do cliente.', 'Erased with the customer’s data.')}</p>
            ) : (
              <p className="written">{note.text}</p>
            )}
            {mayAct && (role === 'OWNER' || note.authorId === user.id) && (
              <ActionDialog
                trigger={t('Excluir', 'Delete')}
                title={t('Excluir a nota', 'Delete the note')}
                tone="danger"
                act={() => call('DELETE', `${path}/${note.id}`).then(refresh)}
              >
                <p className="written">{note.text}</p>
              </ActionDialog>
            )}
          </li>
        ))}
      </ul>
      {notes.hasNextPage && (
        <Button disabled={notes.isFetchingNextPage} onClick={() => void notes.fetchNextPage()}>
          {t('Notas mais antigas', 'Older notes')}
        </Button>
      )}
    </Card>
  );
}
