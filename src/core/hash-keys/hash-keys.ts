import { randomBytes } from 'node:crypto';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Clock } from '../clock.js';
import { SecretBox } from '../crypto/index.js';
import { Database, type Tx } from '../database/index.js';
import type { HashKey } from './hash-key.entity.js';
import { HashKeysRepository } from './hash-keys.repository.js';

/**
 * Makes hashes that the database keeps. A reader of the database alone cannot find the texts by trying all. The key is
 * stored sealed, so hashes stay the same when `ENCRYPTION_KEY` changes.
 */
@Injectable()
export class HashKeys implements OnModuleInit {
  /** Newest first: the first one makes hashes, and stored hashes may be of any. */
  #boxes: readonly SecretBox[] = [];

  constructor(
    private readonly secrets: SecretBox,
    private readonly keys: HashKeysRepository,
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  async onModuleInit(): Promise<void> {
    const keys = await this.database.transaction((tx) => this.#readOrMake(tx));
    this.#boxes = keys.map((key) => new SecretBox(this.secrets.open(key.keySealed, contextOf(key))));
  }

  /**
   * The hash to store.
   * @param purpose one of a few names in the code: hashes for different purposes differ
   */
  hashOf(purpose: string, text: string): Buffer {
    const [hash] = this.hashesOf(purpose, text);
    if (!hash) throw new Error('The keys of the hashes are opened when the module starts');
    return hash;
  }

  /** Every hash that may be stored for the text. */
  hashesOf(purpose: string, text: string): Buffer[] {
    return this.#boxes.map((box) => box.mac(purpose, text));
  }

  /** @returns the keys that can be opened, at least one, newest first */
  async #readOrMake(tx: Tx): Promise<HashKey[]> {
    const readable = async (): Promise<HashKey[]> =>
      (await this.keys.list(tx)).filter(({ keySealed }) => this.secrets.hasKeyOf(keySealed));
    const stored = await readable();
    if (stored.length > 0) return stored;
    await this.keys.lock(tx);
    const [made, all] = [await readable(), await this.keys.list(tx)];
    if (made.length > 0) return made;
    const number = (all[0]?.number ?? 0) + 1;
    const keySealed = this.secrets.seal(randomBytes(32).toString('hex'), contextOf({ number }));
    const key = { number, keySealed, createdAt: this.clock.now() };
    this.keys.insert(tx, key);
    return [key];
  }
}

function contextOf({ number }: Pick<HashKey, 'number'>): string {
  return `payout_hash_key:${number}`;
}
