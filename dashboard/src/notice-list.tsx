import type { ReactNode, RefObject } from 'react';
import { Dialog } from 'react-aria-components/Dialog';
import { Popover } from 'react-aria-components/Popover';
import { useLanguage } from './language.js';
import type { Notice } from './notices.js';
import type { Mode } from './session.js';
import { Button, Empty, Link, Time } from './ui.js';

/** The open list of the bell. */
export default function NoticeList({
  mode,
  notices,
  read,
  trigger,
  close,
  markRead,
}: {
  mode: Mode;
  notices: readonly Notice[];
  /** Notices up to this time are read. */
  read: string;
  trigger: RefObject<HTMLElement | null>;
  close: () => void;
  /** Null: all are read. */
  markRead: (() => void) | null;
}): ReactNode {
  const { t } = useLanguage();
  return (
    <Popover
      className="popup notices"
      isOpen
      onOpenChange={(isOpen) => {
        if (!isOpen) close();
      }}
      triggerRef={trigger}
      placement="bottom end"
    >
      <Dialog aria-label={t('Avisos', 'Notices')}>
        {notices.length === 0 && <Empty title={t('Nenhum aviso nos últimos dias.', 'No notices in the last days.')} />}
        <ul className="bare">
          {notices.map(({ id, text, path, at }) => (
            <li key={id}>
              <Link to={`/${mode}/${path}`}>{text}</Link>
              <span className="quiet">
                <Time at={at} />
                {at > read && <strong> · {t('não lido', 'unread')}</strong>}
              </span>
            </li>
          ))}
        </ul>
        <div className="actions">
          {notices.length > 0 && (
            <Button disabled={markRead === null} onClick={() => markRead?.()}>
              {t('Marcar tudo como lido', 'Mark all as read')}
            </Button>
          )}
          <Link to="/settings">{t('Escolher avisos', 'Choose notices')}</Link>
        </div>
      </Dialog>
    </Popover>
  );
}
