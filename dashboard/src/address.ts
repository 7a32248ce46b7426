import { useParams, useSearch } from '@tanstack/react-router';

/** A part of the page's address, such as the id of a sale; empty when it is missing. */
export function useParam(name: string): string {
  const params: Readonly<Record<string, string | undefined>> = useParams({ strict: false });
  return params[name] ?? '';
}

/** The query of the page's address. */
export function useQueryText(): Readonly<Record<string, string | undefined>> {
  const search: Readonly<Record<string, unknown>> = useSearch({ strict: false });
  return Object.fromEntries(
    Object.entries(search).map(([name, value]) => [
      name,
      typeof value === 'string' || typeof value === 'number' ? String(value) : undefined,
    ]),
  );
}
