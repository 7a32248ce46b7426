import { type ReactNode, useId, useState } from 'react';
import { createPortal } from 'react-dom';
import type { Refused } from './failures.js';
import { useLanguage } from './language.js';
import { Button, Failure, REST_MS } from './ui.js';

/** The browser keeps the focus inside, and returns it to the trigger when the dialog closes. */
function showModal(dialog: HTMLDialogElement): () => void {
  dialog.showModal();
  return () => dialog.close();
}

/** The pressed button is gone from the page, so the focus moves to the new content. */
function focusFirst(done: HTMLElement | null): void {
  done?.querySelector('button')?.focus();
}

/**
 * A dialog that does one thing and states its consequences. The button is disabled while the request runs. The
 * idempotency key is made when the dialog opens, so repeated sends are harmless.
 */
export function ActionDialog({
  trigger,
  tone = 'plain',
  title = trigger,
  confirm = trigger,
  children,
  act,
  done,
  opened,
  closed,
  isReady = true,
  refused,
  startsOpen = false,
}: {
  trigger: string;
  tone?: 'plain' | 'primary' | 'danger';
  title?: string;
  confirm?: string;
  children?: ReactNode;
  /** @param key the same for every try of one opened dialog @returns `stays` if something is left to confirm */
  act: (key: string) => Promise<unknown>;
  /** Shown instead of the form after success, as for a secret that is shown once; without it the dialog closes. */
  done?: ReactNode;
  /** Called when the dialog opens, to load the current values. */
  opened?: () => void;
  /** Called when the dialog closes, after `done` was read: it may remove the dialog itself from the page. */
  closed?: () => unknown;
  isReady?: boolean;
  refused?: Refused;
  /** Opens at once and shows no trigger: an item of a menu has brought the dialog onto the page. */
  startsOpen?: boolean;
}): ReactNode {
  const { t } = useLanguage();
  const titleId = useId();
  const [key, setKey] = useState<string | null>(() => (startsOpen ? crypto.randomUUID() : null));
  const [isBusy, setBusy] = useState(false);
  const [isResting, setResting] = useState(false);
  const [isDone, setDone] = useState(false);
  const [error, setError] = useState<unknown>(null);
  /** Disables the new buttons briefly: a second press of the same click would otherwise skip reading them. */
  const rest = (): void => {
    setResting(true);
    setTimeout(() => setResting(false), REST_MS);
  };
  const open = (): void => {
    opened?.();
    rest();
    setKey(crypto.randomUUID());
    setError(null);
    setDone(false);
  };
  const close = (): void => {
    setKey(null);
    closed?.();
  };
  const send = async (): Promise<void> => {
    if (key === null || isBusy || isResting || !isReady) return;
    setBusy(true);
    setError(null);
    try {
      if ((await act(key)) === 'stays') return;
      if (done === undefined) {
        setKey(null);
      } else {
        setDone(true);
        rest();
      }
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      {!startsOpen && (
        <Button tone={tone} onClick={open}>
          {trigger}
        </Button>
      )}
      {key !== null &&
        createPortal(
          <dialog
            ref={showModal}
            aria-labelledby={titleId}
            // A secret that is shown once must not disappear by a key press.
            closedby={isBusy || isDone ? 'none' : 'closerequest'}
            onCancel={(event) => {
              if (isBusy || isDone) event.preventDefault();
            }}
            onClose={close}
          >
            <form
              onSubmit={(event) => {
                event.preventDefault();
                void send();
              }}
            >
              <h2 id={titleId}>{title}</h2>
              {isDone ? <div ref={focusFirst}>{done}</div> : children}
              {error !== null && <Failure error={error} refused={refused} />}
              <div className="actions">
                <Button onClick={close} isPending={isBusy || (isDone && isResting)}>
                  {isDone ? t('Fechar', 'Close') : t('Voltar', 'Back')}
                </Button>
                {!isDone && (
                  <Button
                    tone={tone === 'danger' ? 'danger' : 'primary'}
                    type="submit"
                    isPending={isBusy || isResting}
                    disabled={!isReady}
                  >
                    {isBusy ? t('Enviando…', 'Sending…') : confirm}
                  </Button>
                )}
              </div>
            </form>
          </dialog>,
          document.body,
        )}
    </>
  );
}
