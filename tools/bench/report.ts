export interface Line {
  readonly figure: string;
  readonly measured: string;
  /** Null for a figure without a target. */
  readonly target: { readonly text: string; readonly met: boolean } | null;
}

export function told(figure: string, measured: string): Line {
  return { figure, measured, target: null };
}

export function below(figure: string, value: number, limit: number, unit: string, note = '', digits = 1): Line {
  const target = { text: `under ${String(limit)} ${unit}`, met: value < limit };
  return { figure, measured: `${value.toFixed(digits)} ${unit}${note}`, target };
}

export function atLeast(figure: string, value: number, limit: number, digits = 2): Line {
  return {
    figure,
    measured: value.toFixed(digits),
    target: { text: `at least ${String(limit)}`, met: value >= limit },
  };
}

export function table(lines: readonly Line[]): string {
  const rows = lines.map(({ figure, measured, target }) => [
    figure,
    measured,
    target?.text ?? '',
    target === null ? '' : target.met ? 'ok' : 'MISSED',
  ]);
  const all = [['figure', 'measured', 'target', ''], ...rows];
  const widths = [0, 1, 2].map((column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const format = (row: readonly string[]): string =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  return [format(all[0] ?? []), widths.map((width) => '-'.repeat(width)).join('  '), ...rows.map(format)].join('\n');
}
