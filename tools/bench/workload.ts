import { randomUUID } from 'node:crypto';
import { newEndToEndId, newTxid } from '../../src/brazil/index.js';
import { newId } from '../../src/core/ids.js';
import type { HttpLoad } from './http-load.js';
import type { Merchant } from './merchants.js';
import type { BareClients, Fresh, Replay } from './replay.js';
import { newCharge, PAY, payPath } from './requests.js';
import { drive, type Round } from './stats.js';

/** An unpaid charge. */
export interface OpenCharge {
  readonly id: string;
  readonly txid: string;
  readonly merchant: Merchant;
}

/**
 * Every second charge belongs to the first merchant, the others alternate: afterwards one wallet and many have open
 * charges.
 */
function merchantOf(merchants: readonly Merchant[], index: number): Merchant {
  const [first, ...others] = merchants;
  const chosen = index % 2 === 0 ? first : others[((index - 1) / 2) % others.length];
  if (!chosen) throw new Error('No merchants');
  return chosen;
}

/** Creates charges over HTTP, each with its own Idempotency-Key; only 201 counts. */
export function httpCreates(
  merchants: readonly Merchant[],
): (load: HttpLoad, workers: number, seconds: number, limit?: number) => Promise<Round> {
  let index = 0;
  return (load, workers, seconds, limit = Number.POSITIVE_INFINITY) => {
    const end = index + limit;
    return drive(workers, seconds, (worker) => {
      if (index >= end) return null;
      const { apiKey } = merchantOf(merchants, index++);
      return () =>
        load.post(worker, '/v1/charges', { apikey: apiKey, 'idempotency-key': randomUUID() }, newCharge(), 201);
    });
  };
}

/** Runs the statements of a create with plain clients. */
export function bareCreates(
  merchants: readonly Merchant[],
  replay: Replay,
): (clients: BareClients, workers: number, seconds: number) => Promise<Round> {
  let index = 0;
  return (clients, workers, seconds) =>
    clients.drive(replay, workers, seconds, () => {
      const merchant = merchantOf(merchants, index++);
      return (field) => {
        if (field === 'account') return merchant.accountId;
        if (field === 'keyHash') return merchant.keyHash.toString('hex');
        if (field === 'txid') return newTxid();
        if (field === 'idempotencyKey') return randomUUID();
        return newId(new Date());
      };
    });
}

export function httpPayments(load: HttpLoad, workers: number, seconds: number, charges: OpenCharge[]): Promise<Round> {
  return drive(workers, seconds, (worker) => {
    const charge = charges.pop();
    if (!charge) return null;
    return () => load.post(worker, payPath(`ch_${charge.id}`), { apikey: charge.merchant.apiKey }, PAY, 200);
  });
}

export function barePayments(
  clients: BareClients,
  replay: Replay,
  workers: number,
  seconds: number,
  charges: OpenCharge[],
): Promise<Round> {
  return clients.drive(replay, workers, seconds, (): Fresh | null => {
    const charge = charges.pop();
    if (!charge) return null;
    return (field) => {
      if (field === 'account') return charge.merchant.accountId;
      if (field === 'keyHash') return charge.merchant.keyHash.toString('hex');
      if (field === 'transaction') return charge.id;
      if (field === 'txid') return charge.txid;
      if (field === 'endToEndId') return newEndToEndId('00000000', new Date());
      return newId(new Date());
    };
  });
}

/** Open charges in this database, alternating between wallets. */
export async function openCharges(clients: BareClients, merchants: readonly Merchant[]): Promise<OpenCharge[]> {
  const byAccount = new Map(merchants.map((merchant) => [merchant.accountId, merchant]));
  const rows = await clients.query<{ id: string; txid: string; account_id: string }>(
    `SELECT id, txid, account_id FROM transactions
     WHERE account_id = ANY ($1) AND status = 'WAITING_PAYMENT' AND expires_at > now() + interval '10 minutes'
     ORDER BY id DESC`,
    [[...byAccount.keys()]],
  );
  return rows.flatMap((row) => {
    const merchant = byAccount.get(row.account_id);
    return merchant ? [{ id: row.id, txid: row.txid, merchant }] : [];
  });
}
