import { randomBytes } from 'node:crypto';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { PayoutTarget } from '../acquirers/index.js';
import { Clock } from '../core/clock.js';
import { SecretBox } from '../core/crypto/index.js';
import { Database, type Tx } from '../core/database/index.js';
import type { PayoutDestination } from './payout-destination.entity.js';
import type { PayoutHashKey } from './payout-hash-key.entity.js';
import { PayoutHashKeysRepository } from './payout-hash-keys.repository.js';
import type { Payout } from './payout.entity.js';
import { identityOf } from './targets.js';

/**
 * Seals receivers, and makes the hashes by which equal ones are found. The hashes have a key of their own, which is
 * stored sealed: they stay the same when `ENCRYPTION_KEY` changes.
 */
@Injectable()
export class PayoutTargets implements OnModuleInit {
  /** Newest first: the first one makes hashes, and stored hashes may be of any. */
  #hashes: readonly SecretBox[] = [];

  constructor(
    private readonly secrets: SecretBox,
    private readonly keys: PayoutHashKeysRepository,
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  async onModuleInit(): Promise<void> {
    const keys = await this.database.transaction((tx) => this.#hashKeys(tx));
    this.#hashes = keys.map((key) => new SecretBox(this.secrets.open(key.keySealed, contextOf(key))));
  }

  seal(target: PayoutTarget, of: 'payout' | 'payout_destination', id: string): Buffer {
    return this.secrets.seal(JSON.stringify(target), `${of}:${id}`);
  }

  /** @returns null when the receiver was erased */
  open({ id, targetSealed }: Pick<Payout, 'id' | 'targetSealed'>): PayoutTarget | null {
    return targetSealed && this.#open(targetSealed, `payout:${id}`);
  }

  /** @returns null when the receiver was erased, which deletes the destination */
  openDestination({ id, targetSealed }: Pick<PayoutDestination, 'id' | 'targetSealed'>): PayoutTarget | null {
    return targetSealed && this.#open(targetSealed, `payout_destination:${id}`);
  }

  hashOf(target: PayoutTarget): Buffer {
    return first(this.hashesOf(target));
  }

  taxIdHash(taxId: string): Buffer {
    return first(this.taxIdHashes(taxId));
  }

  /** Every hash that a stored receiver may have. */
  hashesOf(target: PayoutTarget): Buffer[] {
    return this.#hashes.map((hashes) => hashes.mac('payout target', identityOf(target)));
  }

  /** Every hash that a stored tax id may have. */
  taxIdHashes(taxId: string): Buffer[] {
    return this.#hashes.map((hashes) => hashes.mac('payout tax id', taxId));
  }

  /** @returns the keys that can be opened, at least one, newest first */
  async #hashKeys(tx: Tx): Promise<PayoutHashKey[]> {
    const readable = async (): Promise<PayoutHashKey[]> =>
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

  #open(sealed: Buffer, context: string): PayoutTarget {
    return JSON.parse(this.secrets.open(sealed, context)) as PayoutTarget;
  }
}

function contextOf({ number }: Pick<PayoutHashKey, 'number'>): string {
  return `payout_hash_key:${number}`;
}

function first(hashes: readonly Buffer[]): Buffer {
  const [hash] = hashes;
  if (!hash) throw new Error('The keys of the hashes are opened when the module starts');
  return hash;
}
