import type { IncomingHttpHeaders } from 'node:http';

/**
 * Returns whether a page of this service has sent a write, by what its browser says. A program says nothing and passes:
 * it has no visitor whose browser could be misused.
 * @param ownOrigin the public origin, which differs from the header `Host` behind a proxy
 */
export function isOwnPage(headers: IncomingHttpHeaders, ownOrigin: string): boolean {
  const { origin, host } = headers;
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  if (origin === undefined) return true;
  if (!URL.canParse(origin)) return false;
  return origin === ownOrigin || new URL(origin).host === host;
}
