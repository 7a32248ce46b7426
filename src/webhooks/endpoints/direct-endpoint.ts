import { createHash } from 'node:crypto';
import type { Scope } from '../../core/mode.js';

/** The `webhookUrl` of a transaction as a receiver: an endpoint that no list shows. */
export interface DirectEndpoint extends Scope {
  readonly id: string;
  readonly url: string;
}

/**
 * The id follows from account, mode and URL (a UUIDv8 of their SHA-256). All transactions that name a URL share one
 * row, and a delivery needs no lookup.
 */
export function directEndpoint({ accountId, mode }: Scope, url: string): DirectEndpoint {
  const hash = createHash('sha256').update(`${accountId} ${mode} ${url}`).digest().subarray(0, 16);
  hash.writeUInt8((hash.readUInt8(6) & 0x0f) | 0x80, 6);
  hash.writeUInt8((hash.readUInt8(8) & 0x3f) | 0x80, 8);
  const id = hash.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  return { accountId, mode, id, url };
}
