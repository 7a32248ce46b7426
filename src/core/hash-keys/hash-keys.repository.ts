import { Injectable } from '@nestjs/common';
import { columnsOf, insertInto, read, type Tx, write } from '../database/index.js';
import { HashKey } from './hash-key.entity.js';

const LOCK = write('hash_keys.lock', `SELECT pg_advisory_xact_lock(hashtext('payout_hash_keys'))`);
const LIST = read('hash_keys.list', `SELECT ${columnsOf(HashKey, 'k')} FROM payout_hash_keys k ORDER BY k.number DESC`);
const INSERT = insertInto('hash_keys.insert', HashKey);

@Injectable()
export class HashKeysRepository {
  /** Newest first. */
  async list(tx: Tx): Promise<HashKey[]> {
    return tx.query<HashKey & Record<string, unknown>>(LIST, []);
  }

  /** Lets one process at a time make a key. */
  async lock(tx: Tx): Promise<void> {
    await tx.query(LOCK, []);
  }

  insert(tx: Tx, key: HashKey): void {
    tx.defer(INSERT, INSERT.valuesOf(key));
  }
}
