import type { ReactNode, RefObject } from 'react';
import { Menu, MenuItem, Popover } from 'react-aria-components/Menu';
import { Icon } from '../icons.js';
import type { MenuItem as Item } from '../controls.js';

/** The open list of a `Menu`. */
export default function MenuList({
  label,
  items,
  trigger,
  close,
  choose,
}: {
  label: string;
  items: readonly Item[];
  trigger: RefObject<HTMLElement | null>;
  close: () => void;
  choose: (item: Item) => void;
}): ReactNode {
  return (
    <Popover
      className="popup"
      aria-label={label}
      isOpen
      onOpenChange={(isOpen) => {
        if (!isOpen) close();
      }}
      triggerRef={trigger}
      placement="bottom end"
    >
      <Menu aria-label={label} autoFocus="first" className="options" onClose={close}>
        {items.map((item) => (
          <MenuItem
            key={item.name}
            id={item.name}
            textValue={item.name}
            className={`option ${item.tone ?? ''}`}
            isDisabled={item.isDisabled ?? false}
            onAction={() => choose(item)}
          >
            {item.icon !== undefined && <Icon name={item.icon} />}
            {item.name}
          </MenuItem>
        ))}
      </Menu>
    </Popover>
  );
}
