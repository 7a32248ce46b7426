import { useParams, useSearch } from '@tanstack/react-router';

/** A part of the page's address, as the id of a sale; empty where there is none. */
export function useParam(name: string): string {
  const params: Readonly<Record<string, string | undefined>> = useParams({ strict: false });
  return params[name] ?? '';
}

/** What is behind the `?` of the page's address. */
export function useQueryText(): Readonly<Record<string, string | undefined>> {
  const search: Readonly<Record<string, unknown>> = useSearch({ strict: false });
  return Object.fromEntries(
    Object.entries(search).map(([name, value]) => [
      name,
      typeof value === 'string' || typeof value === 'number' ? String(value) : undefined,
    ]),
  );
}
