import type { ReactNode } from 'react';
import { Button, ComboBox, Input, Label, ListBox, ListBoxItem, Popover, Text } from 'react-aria-components/ComboBox';
import { I18nProvider } from 'react-aria-components/I18nProvider';
import type { ComboboxProps } from '../controls.js';
import { Icon } from '../icons.js';
import { useLanguage } from '../language.js';

/** The loaded part of `Combobox`. */
export default function AriaCombobox({
  label,
  hint,
  options,
  value,
  onChange,
  isRequired = false,
}: ComboboxProps): ReactNode {
  const { t, language } = useLanguage();
  return (
    <I18nProvider locale={language}>
      <ComboBox
        className="field combobox"
        selectedKey={value === '' ? null : value}
        onSelectionChange={(key) => onChange(key === null ? '' : String(key))}
        isRequired={isRequired}
        menuTrigger="focus"
        allowsEmptyCollection
      >
        <Label>{label}</Label>
        <div className="with-button">
          <Input />
          <Button className="icon-button" aria-label={t('Mostrar opções', 'Show the options')}>
            <Icon name="chevron-down" />
          </Button>
        </div>
        {hint !== undefined && (
          <Text slot="description" elementType="p" className="quiet">
            {hint}
          </Text>
        )}
        <Popover className="popup">
          <ListBox
            className="options"
            renderEmptyState={() => <p className="quiet option">{t('Nada encontrado.', 'Nothing found.')}</p>}
          >
            {options.map(([id, text]) => (
              <ListBoxItem key={id} id={id} textValue={text} className="option">
                {text}
              </ListBoxItem>
            ))}
          </ListBox>
        </Popover>
      </ComboBox>
    </I18nProvider>
  );
}
