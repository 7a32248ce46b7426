import { type KeyboardEvent, type PointerEvent, type ReactNode, useState } from 'react';
import { Icon } from './icons.js';
import { useLanguage } from './language.js';
import { Empty, Table } from './ui.js';

export interface ChartPoint {
  readonly name: string;
  readonly value: number;
  /** The value in the period before. */
  readonly before?: number;
}

interface Scale {
  readonly top: number;
  readonly ticks: readonly number[];
}

/** Round steps from 0 to the first one that is not below `most`; values are whole numbers. */
export function scaleOf(most: number): Scale {
  const rough = Math.max(1, most) / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(1, power * ([1, 2, 2.5, 5].find((one) => one * power >= rough) ?? 10));
  const count = Math.max(1, Math.ceil(most / step));
  return { top: step * count, ticks: Array.from({ length: count + 1 }, (_, index) => step * index) };
}

/** Names below the axis that fit a phone. */
const MAX_NAMES = 6;
/** Width of a point in the drawing of the line. */
const WIDTH = 10;

/**
 * Values by day as bars, and the period before as a line. Hovering, touching and the arrow keys show the values of a
 * day; a table holds all of them.
 * @param text a value in full
 * @param short a value beside the axis
 * @param period names of the bars and of the line
 * @param children what to do when there is nothing to show
 */
export function Chart({
  label,
  points,
  text,
  short = text,
  period,
  children,
}: {
  label: string;
  points: readonly ChartPoint[];
  text: (value: number) => string;
  short?: (value: number) => string;
  period: { readonly now: string; readonly before?: string };
  children?: ReactNode;
}): ReactNode {
  const { t } = useLanguage();
  const [shown, setShown] = useState<number | null>(null);
  const values = points.flatMap(({ value, before = 0 }) => [value, before]);
  if (values.every((value) => value === 0))
    return (
      <Empty title={t('Sem movimento no período.', 'Nothing in this period.')} icon="gauge">
        {children}
      </Empty>
    );
  const { top, ticks } = scaleOf(Math.max(...values));
  const share = (value: number): string => `${String((100 * value) / top)}%`;
  const hasBefore = period.before !== undefined && points.some(({ before }) => before !== undefined);
  const last = points.length - 1;
  const every = Math.ceil(points.length / MAX_NAMES);
  const sentence = ({ name, value, before }: ChartPoint): string =>
    `${name}: ${text(value)}` + (hasBefore ? `; ${period.before ?? ''}: ${text(before ?? 0)}` : '');
  const point = (event: PointerEvent): void => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    const place = Math.floor(((event.clientX - left) / width) * points.length);
    setShown(Math.min(last, Math.max(0, place)));
  };
  const move = (event: KeyboardEvent): void => {
    const now = shown ?? last;
    const next = { ArrowLeft: now - 1, ArrowRight: now + 1, Home: 0, End: last, Escape: null }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    setShown(next === null ? null : Math.min(last, Math.max(0, next)));
  };
  const current = shown === null ? undefined : points[shown];
  const spoken = current ?? points[last];
  /** Names from the last one on; a phone has room for every second one. */
  const names = points.map(({ name }, index) => ({
    name: (last - index) % every === 0 ? name : '',
    isMinor: ((last - index) / every) % 2 === 1,
  }));
  return (
    <figure className="chart">
      <figcaption className="legend">
        <span className="now">{period.now}</span>
        {hasBefore && <span className="before">{period.before}</span>}
      </figcaption>
      <div className="plot">
        <div className="y-axis" aria-hidden="true">
          {ticks.map((tick) => (
            <span key={tick} style={{ bottom: share(tick) }}>
              {short(tick)}
            </span>
          ))}
          {/* Gives the column the width of the widest value. */}
          <b>{ticks.map(short).reduce((a, b) => (b.length > a.length ? b : a), '')}</b>
        </div>
        <div
          className="area"
          role="slider"
          tabIndex={0}
          aria-label={label}
          aria-orientation="horizontal"
          aria-valuemin={0}
          aria-valuemax={last}
          aria-valuenow={shown ?? last}
          aria-valuetext={spoken === undefined ? '' : sentence(spoken)}
          onPointerDown={point}
          onPointerMove={point}
          onPointerLeave={(event) => event.pointerType === 'mouse' && setShown(null)}
          onFocus={() => setShown((now) => now ?? last)}
          onBlur={() => setShown(null)}
          onKeyDown={move}
        >
          {ticks.map((tick) => (
            <hr key={tick} style={{ bottom: share(tick) }} />
          ))}
          <div className="bars">
            {points.map(({ name, value }, index) => (
              <span key={name} className={index === shown ? 'shown' : undefined}>
                <i style={{ height: share(value) }} />
              </span>
            ))}
          </div>
          {hasBefore && (
            <svg viewBox={`0 0 ${String(points.length * WIDTH)} ${String(top)}`} preserveAspectRatio="none">
              <polyline
                points={points
                  .map(({ before = 0 }, index) => `${String((index + 0.5) * WIDTH)},${String(top - before)}`)
                  .join(' ')}
              />
            </svg>
          )}
          {current !== undefined && shown !== null && (
            <div
              className="tip"
              style={{
                left: `${String((100 * (shown + 0.5)) / points.length)}%`,
                // Stays inside of the chart at both ends.
                translate: `${String((-100 * shown) / Math.max(1, last))}% 0`,
              }}
            >
              <strong>{current.name}</strong>
              <span className="now">{text(current.value)}</span>
              {hasBefore && <span className="before">{text(current.before ?? 0)}</span>}
            </div>
          )}
        </div>
        <div className="x-axis" aria-hidden="true">
          {names.map(({ name, isMinor }, index) => (
            <span key={index} className={isMinor ? 'minor' : undefined}>
              {name !== '' && <b>{name}</b>}
            </span>
          ))}
        </div>
      </div>
      <details className="as-table">
        <summary>
          <Icon name="columns-3" /> {t('Ver como tabela', 'Show as a table')}
        </summary>
        <Table
          label={label}
          rows={points}
          keyOf={({ name }) => name}
          columns={[
            { name: t('Dia', 'Day'), cell: ({ name }) => name },
            { name: period.now, isNumber: true, cell: ({ value }) => text(value) },
            ...(hasBefore
              ? [{ name: period.before ?? '', isNumber: true, cell: ({ before = 0 }: ChartPoint) => text(before) }]
              : []),
          ]}
        />
      </details>
    </figure>
  );
}
