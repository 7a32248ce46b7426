import { createHmac } from 'node:crypto';
import type { EventFamily } from '../outbox/index.js';

/**
 * Value of `X-Service-Signature` (decisions §4.1).
 * @param secret 64 hex characters, used as UTF-8 text and not decoded
 * @param rawBody exactly the text that is sent
 * @param unixSeconds time of this attempt; legacy signatures carry no time
 */
export function signatureHeader(family: EventFamily, secret: string, rawBody: string, unixSeconds: number): string {
  switch (family) {
    case 'canonical':
      return `t=${unixSeconds},v1=${hmac(secret, `${unixSeconds}.${rawBody}`)}`;
    case 'legacy':
      return `sha256=${hmac(secret, rawBody)}`;
  }
}

function hmac(secret: string, text: string): string {
  return createHmac('sha256', Buffer.from(secret, 'utf8')).update(text, 'utf8').digest('hex');
}
