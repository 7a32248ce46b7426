import { Injectable } from '@nestjs/common';
import { columnsOf, Reader, read, type Tx, write } from '../database/index.js';
import { EncryptionKeyEntity } from './encryption-key.entity.js';

const LIST = read(
  'encryption_keys.list',
  `SELECT ${columnsOf(EncryptionKeyEntity, 'k')} FROM encryption_keys k ORDER BY k.key_id`,
);
const ADD = write(
  'encryption_keys.add',
  'INSERT INTO encryption_keys (key_id, canary) VALUES ($1, $2) ON CONFLICT (key_id) DO NOTHING',
);
const FORGET = write('encryption_keys.forget', 'DELETE FROM encryption_keys WHERE key_id = ANY ($1)');

@Injectable()
export class EncryptionKeysRepository {
  constructor(private readonly reader: Reader) {}

  list(): Promise<EncryptionKeyEntity[]> {
    return this.reader.query<EncryptionKeyEntity>(LIST, []);
  }

  /** Leaves a key of this id that is there. */
  async add(tx: Tx, id: string, canary: Buffer): Promise<void> {
    await tx.query(ADD, [id, canary]);
  }

  async forget(tx: Tx, ids: readonly string[]): Promise<void> {
    await tx.query(FORGET, [ids]);
  }
}
