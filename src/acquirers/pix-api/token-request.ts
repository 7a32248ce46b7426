import { randomUUID } from 'node:crypto';
import type { PixApiCredentials } from './connection.js';
import type { HttpMessage } from './exchange.js';
import type { Template, TokenStyle } from './profile.js';

/** Request for an OAuth2 token by client credentials, in the style of the PSP. */
export function tokenRequest(
  tokenUrl: string,
  { authentication, contentType, grantType, scope, headers }: TokenStyle,
  credentials: PixApiCredentials,
): { url: URL; request: HttpMessage } {
  const { clientId, clientSecret } = credentials;
  const url = new URL(tokenUrl);
  if (grantType === 'query') url.searchParams.set('grant_type', 'client_credentials');
  const fields = {
    ...(grantType === 'body' ? { grant_type: 'client_credentials' } : {}),
    ...(scope === null ? {} : { scope }),
    ...(authentication === 'basic' ? {} : { client_id: clientId }),
    ...(authentication === 'body' ? { client_secret: clientSecret } : {}),
  };
  const basic = Buffer.from(`${clientId}:${clientSecret}`).toString('base64');
  const request: HttpMessage = {
    method: 'POST',
    headers: {
      ...fill(headers, credentials),
      accept: 'application/json',
      'content-type': contentType === 'json' ? 'application/json' : 'application/x-www-form-urlencoded',
      ...(authentication === 'basic' ? { authorization: `Basic ${basic}` } : {}),
    },
    body: contentType === 'json' ? JSON.stringify(fields) : new URLSearchParams(fields).toString(),
  };
  return { url, request };
}

const VARIABLE = /\{([a-z_]+)\}/g;

/** Fills a profile's headers or query with the connection's values; an entry without a value is left out. */
export function fill(
  templates: Readonly<Record<string, Template>>,
  { clientId, variables }: PixApiCredentials,
): Record<string, string> {
  const values: Readonly<Record<string, string>> = { ...variables, client_id: clientId, uuid: randomUUID() };
  const isComplete = (template: string): boolean =>
    [...template.matchAll(VARIABLE)].every(([, name = '']) => (values[name] ?? '') !== '');
  return Object.fromEntries(
    Object.entries(templates)
      .filter(([, template]) => isComplete(template))
      .map(([name, template]) => [name, template.replace(VARIABLE, (_, value: string) => values[value] ?? '')]),
  );
}
