import { columns } from '../harness/columns.js';

export interface Line {
  readonly figure: string;
  readonly measured: string;
  /** Null for a figure without a target. */
  readonly target: { readonly text: string; readonly met: boolean } | null;
}

export function told(figure: string, measured: string): Line {
  return { figure, measured, target: null };
}

export function below(figure: string, value: number, limit: number, unit: string, digits = 1): Line {
  const target = { text: `under ${String(limit)} ${unit}`, met: value < limit };
  return { figure, measured: `${value.toFixed(digits)} ${unit}`, target };
}

/** @param limit null for a figure without a target */
export function atLeast(figure: string, value: number, limit: number | null, note = ''): Line {
  const target = limit === null ? null : { text: `at least ${String(limit)}`, met: value >= limit };
  return { figure, measured: `${value.toFixed(2)}${note}`, target };
}

export function table(lines: readonly Line[]): string {
  const verdict = ({ target }: Line): string => (target === null ? '' : target.met ? 'ok' : 'MISSED');
  const rows = lines.map((line) => [line.figure, line.measured, line.target?.text ?? '', verdict(line)]);
  return columns([['figure', 'measured', 'target', ''], ['', '', '', ''], ...rows]);
}
