import { randomBytes } from 'node:crypto';
import type { SecretBox } from '../../core/crypto/index.js';

const PROBE_MS = 5_000;
const PURPOSE = 'pix-callback-probe';

/** Chosen at random for each probe, so that an earlier answer cannot be replayed. */
export const NONCE_HEADER = 'x-callback-nonce';
/** Signed by the service that owns the address. */
export const PROOF_HEADER = 'x-callback-proof';

/** The server that answers at a callback's address. */
export type CallbackAnswer =
  | { readonly kind: 'this_service' }
  /** This service, but it accepts only the PSP. */
  | { readonly kind: 'refused' }
  /** Recebe by its headers, with other keys or without this connection. */
  | { readonly kind: 'another_recebe' }
  | { readonly kind: 'somebody_else'; readonly status: number }
  | { readonly kind: 'nobody'; readonly code: string };

/** @returns null for a text that is not a nonce of ours: only texts of this form are ever signed */
export function callbackProof(secrets: SecretBox, connectionId: string, nonce: unknown): string | null {
  if (typeof nonce !== 'string' || !/^[\w-]{43}$/.test(nonce)) return null;
  return secrets.sign(PURPOSE, `${connectionId}.${nonce}`);
}

/** Calls the address as PSPs do to test it, and requests a proof from the server that answers. */
export async function probeCallback(url: string, secrets: SecretBox, connectionId: string): Promise<CallbackAnswer> {
  const nonce = randomBytes(32).toString('base64url');
  let response: Response;
  try {
    response = await fetch(url, {
      headers: { [NONCE_HEADER]: nonce },
      redirect: 'manual',
      signal: AbortSignal.timeout(PROBE_MS),
    });
  } catch (error) {
    return { kind: 'nobody', code: codeOf(error) };
  }
  await response.body?.cancel();
  const proof = response.headers.get(PROOF_HEADER);
  if (proof !== null && secrets.isSigned(PURPOSE, `${connectionId}.${nonce}`, proof)) {
    return { kind: response.ok ? 'this_service' : 'refused' };
  }
  if (response.headers.has('x-api-version')) return { kind: 'another_recebe' };
  return { kind: 'somebody_else', status: response.status };
}

/** Returns a code for the log. `fetch` names the failure in the error's cause; its message may quote the address. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'failed';
  if (error.name === 'TimeoutError') return 'timeout';
  const { code } = (error.cause ?? {}) as { code?: unknown };
  return typeof code === 'string' ? code : 'failed';
}
