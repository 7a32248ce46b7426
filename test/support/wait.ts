import { setTimeout as delay } from 'node:timers/promises';

/**
 * Polls until `check` gives something other than null, undefined or false.
 * @throws Error naming `what` after `limitMs`
 */
export async function waitFor<T>(
  what: string,
  check: () => Promise<T | null | undefined | false> | T | null | undefined | false,
  limitMs = 30_000,
): Promise<T> {
  const deadline = Date.now() + limitMs;
  for (;;) {
    const found = await check();
    if (found !== null && found !== undefined && found !== false) return found;
    if (Date.now() > deadline) throw new Error(`Waited ${limitMs} ms in vain for ${what}`);
    await delay(15);
  }
}
