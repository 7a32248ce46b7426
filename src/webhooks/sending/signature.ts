import { createHmac } from 'node:crypto';
import type { EventFamily } from '../../outbox/index.js';

/**
 * Value of `X-Service-Signature` (docs/contract.md#signature): one signature for each secret. During the overlap of a
 * rotation there are several.
 * @param secrets newest first; each 64 hex characters, used as UTF-8 text and not decoded
 * @param rawBody exactly the text that is sent
 * @param unixSeconds time of this attempt; legacy signatures carry no time
 */
export function signatureHeader(
  family: EventFamily,
  secrets: readonly string[],
  rawBody: string,
  unixSeconds: number,
): string {
  const text = signedText(family, rawBody, unixSeconds);
  switch (family) {
    case 'canonical':
      return [`t=${unixSeconds}`, ...secrets.map((secret) => `v1=${hmac(secret, text)}`)].join(',');
    case 'legacy':
      return secrets.map((secret) => `sha256=${hmac(secret, text)}`).join(',');
  }
}

/** All headers of an attempt of a delivery. @param secrets as for `signatureHeader` */
export function deliveryHeaders(
  delivery: { readonly id: string; readonly eventType: string; readonly family: EventFamily },
  secrets: readonly string[],
  rawBody: string,
  unixSeconds: number,
): Record<string, string> {
  return {
    'Content-Type': 'application/json',
    'User-Agent': 'Recebe-Webhooks/1',
    'X-Service-Signature': signatureHeader(delivery.family, secrets, rawBody, unixSeconds),
    'X-Service-Delivery-Id': `wd_${delivery.id}`,
    'X-Service-Event-Type': delivery.eventType,
  };
}

/**
 * Headers of Standard Webhooks, which sign the id and the time of every event of either family.
 * @param id the same for all attempts of a delivery
 * @param secrets newest first; their 32 bytes are the keys
 */
export function standardHeaders(
  id: string,
  secrets: readonly string[],
  rawBody: string,
  unixSeconds: number,
): Record<string, string> {
  const text = `${id}.${unixSeconds}.${rawBody}`;
  const signatures = secrets.map((secret) => {
    return `v1,${createHmac('sha256', Buffer.from(secret, 'hex')).update(text).digest('base64')}`;
  });
  return {
    'webhook-id': id,
    'webhook-timestamp': String(unixSeconds),
    'webhook-signature': signatures.join(' '),
  };
}

/** The text to sign. */
export function signedText(family: EventFamily, rawBody: string, unixSeconds: number): string {
  return family === 'canonical' ? `${unixSeconds}.${rawBody}` : rawBody;
}

/** HMAC-SHA256 in hex. */
export function hmac(key: string | Buffer, text: string | Buffer): string {
  return createHmac('sha256', key).update(text).digest('hex');
}
