import { type CalendarDate, endOfMonth, parseDate, startOfMonth } from '@internationalized/date';
import type { ReactNode } from 'react';
import {
  Button as AriaButton,
  CalendarCell,
  CalendarGrid,
  CalendarGridBody,
  CalendarGridHeader,
  CalendarHeaderCell,
  DateInput,
  DateRangePicker,
  DateSegment,
  Group,
  Label,
  Popover,
  RangeCalendar,
} from 'react-aria-components/DateRangePicker';
import { Dialog } from 'react-aria-components/Dialog';
import { Heading } from 'react-aria-components/Heading';
import { I18nProvider } from 'react-aria-components/I18nProvider';
import type { DateRangeProps } from '../controls.js';
import { isoDay, type Translate } from '../format.js';
import { Icon } from '../icons.js';
import { useLanguage } from '../language.js';
import { Button } from '../ui.js';

/** Periods that are chosen by one press. @param now today */
function periods(
  now: CalendarDate,
  t: Translate,
): readonly (readonly [name: string, from: CalendarDate, to: CalendarDate])[] {
  const lastMonth = startOfMonth(now).subtract({ months: 1 });
  return [
    [t('Hoje', 'Today'), now, now],
    [t('7 dias', '7 days'), now.subtract({ days: 6 }), now],
    [t('30 dias', '30 days'), now.subtract({ days: 29 }), now],
    [t('Este mês', 'This month'), startOfMonth(now), now],
    [t('Mês passado', 'Last month'), lastMonth, endOfMonth(lastMonth)],
  ];
}

/** The loaded part of `DateRange`. */
export default function AriaDateRange({ label, value, onChange }: DateRangeProps): ReactNode {
  const { t, language } = useLanguage();
  const now = parseDate(isoDay(new Date()));
  const isChosen = value.from !== '' && value.to !== '';
  const choose = (from: CalendarDate, to: CalendarDate): void => onChange({ from: String(from), to: String(to) });
  return (
    <I18nProvider locale={language}>
      <DateRangePicker
        className="field date-range"
        value={isChosen ? { start: parseDate(value.from), end: parseDate(value.to) } : null}
        onChange={(days) => (days === null ? onChange({ from: '', to: '' }) : choose(days.start, days.end))}
      >
        <Label>{label}</Label>
        <Group className="with-button dates">
          <DateInput slot="start">{(segment) => <DateSegment segment={segment} className="segment" />}</DateInput>
          <span aria-hidden="true">–</span>
          <DateInput slot="end">{(segment) => <DateSegment segment={segment} className="segment" />}</DateInput>
          <AriaButton className="icon-button">
            <Icon name="calendar" />
          </AriaButton>
        </Group>
        <Popover className="popup">
          <Dialog className="calendar">
            {({ close }) => (
              <>
                <div className="actions">
                  {periods(now, t).map(([name, from, to]) => (
                    <Button
                      key={name}
                      onClick={() => {
                        choose(from, to);
                        close();
                      }}
                    >
                      {name}
                    </Button>
                  ))}
                </div>
                <RangeCalendar>
                  <header>
                    <AriaButton slot="previous" className="icon-button">
                      <Icon name="chevron-left" />
                    </AriaButton>
                    <Heading level={2} />
                    <AriaButton slot="next" className="icon-button">
                      <Icon name="chevron-right" />
                    </AriaButton>
                  </header>
                  <CalendarGrid>
                    <CalendarGridHeader>{(name) => <CalendarHeaderCell>{name}</CalendarHeaderCell>}</CalendarGridHeader>
                    <CalendarGridBody>{(date) => <CalendarCell date={date} className="day" />}</CalendarGridBody>
                  </CalendarGrid>
                </RangeCalendar>
              </>
            )}
          </Dialog>
        </Popover>
      </DateRangePicker>
    </I18nProvider>
  );
}
