import { useNavigate } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense, useRef, useState } from 'react';
import { Icon, type IconName } from './icons.js';
import { Input } from './ui.js';

// The controls of React Aria are larger than most screens. Each is loaded when it is shown, and a field of the same
// size stands in its place until then.

export interface MenuItem {
  readonly name: string;
  readonly icon?: IconName;
  /** `danger`: an action that cannot be undone */
  readonly tone?: 'danger';
  readonly isDisabled?: boolean;
  /** A page of the dashboard; otherwise `act` is called. */
  readonly to?: string;
  readonly act?: () => void;
}

const loadMenu = (): Promise<typeof import('./controls/menu-list.js')> => import('./controls/menu-list.js');
const MenuList = lazy(loadMenu);
const AriaCombobox = lazy(() => import('./controls/combobox.js'));
const AriaDateRange = lazy(() => import('./controls/date-range.js'));

/** A button that opens a list of actions. @param label what the actions are for, if `children` is only an icon */
export function Menu({
  label,
  items,
  children = <Icon name="ellipsis" />,
}: {
  label: string;
  items: readonly MenuItem[];
  children?: ReactNode;
}): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const navigate = useNavigate();
  return (
    <>
      <button
        ref={button}
        type="button"
        className="button"
        aria-label={label}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        onPointerEnter={() => void loadMenu()}
        onFocus={() => void loadMenu()}
        onClick={() => setOpen(true)}
        onKeyDown={(event) => {
          // The click that follows Enter counts as one of a screen reader, which would focus no item of the list.
          if (!['ArrowDown', 'Enter', ' '].includes(event.key)) return;
          event.preventDefault();
          setOpen(true);
        }}
      >
        {children}
      </button>
      {isOpen && (
        <Suspense>
          <MenuList
            label={label}
            items={items}
            trigger={button}
            close={() => setOpen(false)}
            choose={({ to, act }) => {
              if (to === undefined) act?.();
              else void navigate({ to });
            }}
          />
        </Suspense>
      )}
    </>
  );
}

export interface ComboboxProps {
  readonly label: string;
  readonly hint?: string;
  /** Each as its value and its name, as a `Choice` has them */
  readonly options: readonly (readonly [value: string, name: string])[];
  /** The value of the chosen one; '' for none */
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly isRequired?: boolean;
}

/** A choice from many, found by typing, with or without accents. */
export function Combobox(props: ComboboxProps): ReactNode {
  const { label, hint, options, value } = props;
  const name = options.find(([one]) => one === value)?.[1] ?? '';
  return (
    <Suspense fallback={<Input label={label} {...(hint === undefined ? {} : { hint })} value={name} readOnly />}>
      <AriaCombobox {...props} />
    </Suspense>
  );
}

export interface DateRangeProps {
  readonly label: string;
  /** Days as `2026-11-23`; both '' for no bounds */
  readonly value: { readonly from: string; readonly to: string };
  readonly onChange: (value: { readonly from: string; readonly to: string }) => void;
}

/** Two days, typed or chosen in a calendar; both are part of the period. */
export function DateRange(props: DateRangeProps): ReactNode {
  return (
    <Suspense fallback={<Input label={props.label} readOnly />}>
      <AriaDateRange {...props} />
    </Suspense>
  );
}
