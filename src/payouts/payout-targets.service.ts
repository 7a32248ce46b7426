import { Injectable } from '@nestjs/common';
import type { PayoutTarget } from '../acquirers/index.js';
import { SecretBox } from '../core/crypto/index.js';
import type { PayoutDestination } from './payout-destination.entity.js';
import type { Payout } from './payout.entity.js';
import { identityOf } from './targets.js';

/** Seals receivers, and makes the hashes by which equal ones are found. */
@Injectable()
export class PayoutTargets {
  constructor(private readonly secrets: SecretBox) {}

  seal(target: PayoutTarget, of: 'payout' | 'payout_destination', id: string): Buffer {
    return this.secrets.seal(JSON.stringify(target), `${of}:${id}`);
  }

  /** @returns null when the receiver was erased */
  open({ id, targetSealed }: Pick<Payout, 'id' | 'targetSealed'>): PayoutTarget | null {
    return targetSealed && this.#open(targetSealed, `payout:${id}`);
  }

  openDestination({ id, targetSealed }: PayoutDestination): PayoutTarget {
    return this.#open(targetSealed, `payout_destination:${id}`);
  }

  hashOf(target: PayoutTarget): Buffer {
    return this.secrets.mac('payout target', identityOf(target));
  }

  taxIdHash(taxId: string): Buffer {
    return this.secrets.mac('payout tax id', taxId);
  }

  #open(sealed: Buffer, context: string): PayoutTarget {
    return JSON.parse(this.secrets.open(sealed, context)) as PayoutTarget;
  }
}
