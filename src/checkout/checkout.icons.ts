import { type Html, markup, trusted } from '../core/http/index.js';

/** Paths on a 24 by 24 grid, drawn with a stroke of the current colour. */
const PATHS = {
  check: 'M5 12.5l4.5 4.5L19 7.5',
  clock: 'M12 3a9 9 0 1 0 0 18a9 9 0 1 0 0-18zM12 7.5V12l3 2',
  cross: 'M7 7l10 10M17 7L7 17',
  back: 'M9 8H4V3M4.5 8A8.5 8.5 0 1 1 4 15',
  alert: 'M12 4L2.8 20h18.4zM12 10v4.5M12 17.2v.1',
  search: 'M11 4a7 7 0 1 0 0 14a7 7 0 1 0 0-14zM16 16l4.5 4.5',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  share: 'M12 15V3.5M8 7l4-3.5L16 7M7 11H5v9.5h14V11h-2',
  print: 'M7 9V3.5h10V9M7 17H4V9h16v8h-3M7 14h10v6.5H7z',
  card: 'M3 6h18v12.5H3zM3 10.5h18M7 14.8h3',
  barcode: 'M4 6v12M7.5 6v12M11 6v9M14 6v12M17 6v9M20 6v12',
  phone: 'M7 3h10v18H7zM11 17.8h2',
  coin: 'M12 3a9 9 0 1 0 0 18a9 9 0 1 0 0-18zM12 7.5v9M9.5 9.8h4a1.3 1.3 0 0 1 0 2.6h-3a1.3 1.3 0 0 0 0 2.6h4',
} as const;

export type Icon = keyof typeof PATHS;

/** Decoration: the words beside it say the same, so screen readers skip it. */
export function icon(name: Icon, size: number): Html {
  return markup`<svg width="${size}" height="${size}" viewBox="0 0 24 24" aria-hidden="true">
    <path d="${PATHS[name]}" />
  </svg>`;
}

/** The tab's icon is inside the page: browsers would otherwise request /favicon.ico from the API. */
export const FAVICON = trusted(
  "data:image/svg+xml,%3Csvg xmlns='http%3A%2F%2Fwww.w3.org/2000/svg' viewBox='0 0 24 24'%3E%3Crect width='24' height='24' rx='6' fill='%230b6b60'/%3E%3Cpath d='M12 5l7 7-7 7-7-7z' fill='none' stroke='%23fff' stroke-width='2' stroke-linejoin='round'/%3E%3C/svg%3E",
);
