const PROBE_MS = 5_000;

/** Who answers at a callback's address. */
export type CallbackAnswer =
  | { readonly kind: 'this_service' }
  /** Recebe, that does not know the address or lets only the PSP in. */
  | { readonly kind: 'refused' }
  | { readonly kind: 'somebody_else'; readonly status: number }
  | { readonly kind: 'nobody'; readonly code: string };

/**
 * Calls the address as PSPs do to test it. Only the service that it was made for knows its secret, and answers 200;
 * that it is Recebe is seen by a header that all its answers have.
 */
export async function probeCallback(url: string): Promise<CallbackAnswer> {
  let response: Response;
  try {
    response = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(PROBE_MS) });
  } catch (error) {
    return { kind: 'nobody', code: codeOf(error) };
  }
  await response.body?.cancel();
  if (!response.headers.has('x-api-version')) return { kind: 'somebody_else', status: response.status };
  return response.ok ? { kind: 'this_service' } : { kind: 'refused' };
}

/** `fetch` says what failed in the error's cause; its message may quote the address. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'failed';
  if (error.name === 'TimeoutError') return 'timeout';
  const { code } = (error.cause ?? {}) as { code?: unknown };
  return typeof code === 'string' ? code : 'failed';
}
