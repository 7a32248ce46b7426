import { Injectable } from '@nestjs/common';
import type { PayoutTarget } from '../acquirers/index.js';
import { SecretBox } from '../core/crypto/index.js';
import { HashKeys } from '../core/hash-keys/index.js';
import type { PayoutDestination } from './payout-destination.entity.js';
import type { Payout } from './payout.entity.js';
import { identityOf } from './targets.js';

/** Purposes of the hashes by which equal receivers are found. */
const TARGET = 'payout target';
const TAX_ID = 'payout tax id';

/** Seals receivers, and makes the hashes by which equal ones are found. */
@Injectable()
export class PayoutTargets {
  constructor(
    private readonly secrets: SecretBox,
    private readonly hashes: HashKeys,
  ) {}

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
    return this.hashes.hashOf(TARGET, identityOf(target));
  }

  taxIdHash(taxId: string): Buffer {
    return this.hashes.hashOf(TAX_ID, taxId);
  }

  /** Every hash that a stored receiver may have. */
  hashesOf(target: PayoutTarget): Buffer[] {
    return this.hashes.hashesOf(TARGET, identityOf(target));
  }

  /** Every hash that a stored tax id may have. */
  taxIdHashes(taxId: string): Buffer[] {
    return this.hashes.hashesOf(TAX_ID, taxId);
  }

  #open(sealed: Buffer, context: string): PayoutTarget {
    return JSON.parse(this.secrets.open(sealed, context)) as PayoutTarget;
  }
}
