import { type ReactNode, useEffect, useState, useSyncExternalStore } from 'react';
import { Icon } from './icons.js';
import { useLanguage } from './language.js';
import { Button } from './ui.js';

interface Options {
  readonly tone?: 'good' | 'bad';
  /** A button beside the text, such as an undo. */
  readonly action?: { readonly name: string; readonly act: () => void };
}

interface Toast extends Options {
  readonly id: number;
  readonly text: string;
}

const SHOWN_MS = 6_000;
/** Older ones make room. */
const MAX_TOASTS = 3;

let toasts: readonly Toast[] = [];
let count = 0;
const watchers = new Set<() => void>();

function change(next: readonly Toast[]): void {
  toasts = next.slice(-MAX_TOASTS);
  for (const watcher of watchers) watcher();
}

/** Says in the corner of the page that something is done. An error belongs beside its cause: see `Failure`. */
export function toast(text: string, options: Options = {}): void {
  change([...toasts, { ...options, text, id: ++count }]);
}

/** The corner where toasts appear; once on a page. */
export function Toasts(): ReactNode {
  const shown = useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher);
      return () => void watchers.delete(watcher);
    },
    () => toasts,
  );
  return (
    <div className="toasts" role="status">
      {shown.map((one) => (
        <One key={one.id} toast={one} />
      ))}
    </div>
  );
}

function One({ toast: { id, text, tone = 'good', action } }: { toast: Toast }): ReactNode {
  const { t } = useLanguage();
  // Nobody loses a text that is being read or whose button has the focus.
  const [isHeld, setHeld] = useState(false);
  useEffect(() => {
    if (isHeld) return;
    const timer = setTimeout(() => close(id), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [id, isHeld]);
  const hold = (): void => setHeld(true);
  const release = (): void => setHeld(false);
  return (
    <div className={`toast ${tone}`} onPointerEnter={hold} onPointerLeave={release} onFocus={hold} onBlur={release}>
      <Icon name={tone === 'good' ? 'circle-check' : 'triangle-alert'} />
      <span>{text}</span>
      {action && (
        <Button
          onClick={() => {
            close(id);
            action.act();
          }}
        >
          {action.name}
        </Button>
      )}
      <button type="button" className="icon-button" aria-label={t('Fechar', 'Close')} onClick={() => close(id)}>
        <Icon name="x" />
      </button>
    </div>
  );
}

function close(id: number): void {
  change(toasts.filter((one) => one.id !== id));
}
