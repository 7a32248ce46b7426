import { Injectable } from '@nestjs/common';
import { columnsOf, insertInto, read, type Tx, write } from '../core/database/index.js';
import { PayoutHashKey } from './payout-hash-key.entity.js';

const LOCK = write('payout_hash_keys.lock', `SELECT pg_advisory_xact_lock(hashtext('payout_hash_keys'))`);
const LIST = read(
  'payout_hash_keys.list',
  `SELECT ${columnsOf(PayoutHashKey, 'k')} FROM payout_hash_keys k ORDER BY k.number DESC`,
);
const INSERT = insertInto('payout_hash_keys.insert', PayoutHashKey);

@Injectable()
export class PayoutHashKeysRepository {
  /** Newest first. */
  async list(tx: Tx): Promise<PayoutHashKey[]> {
    return tx.query<PayoutHashKey & Record<string, unknown>>(LIST, []);
  }

  /** Lets one process at a time make a key. */
  async lock(tx: Tx): Promise<void> {
    await tx.query(LOCK, []);
  }

  insert(tx: Tx, key: PayoutHashKey): void {
    tx.defer(INSERT, INSERT.valuesOf(key));
  }
}
