import { Injectable } from '@nestjs/common';
import { SecretBox } from '../crypto/index.js';
import { Database } from '../database/index.js';
import { EncryptionKeysRepository } from './encryption-keys.repository.js';
import { ResealingRepository, type SealedPlace, type SealedRow } from './resealing.repository.js';

const BATCH = 500;

/** Result for the values of one place that were not sealed under the first key. */
export interface Resealed {
  /** Table and column, like `webhook_endpoints.secret_sealed`. */
  readonly place: string;
  readonly resealed: number;
  /** Changed or removed by the service meanwhile. */
  readonly skipped: number;
  /** The key that sealed them is missing, or they were altered. */
  readonly unreadable: number;
}

/** Seals everything under the first key of ENCRYPTION_KEY, so that the other keys can be removed. */
@Injectable()
export class ResealingService {
  constructor(
    private readonly repository: ResealingRepository,
    private readonly keys: EncryptionKeysRepository,
    private readonly database: Database,
    private readonly secrets: SecretBox,
  ) {}

  /**
   * Runs beside the service; after an interruption it continues where it stopped.
   * @param tell called after each batch
   */
  async resealAll(tell: (progress: Resealed) => void): Promise<Resealed[]> {
    const all: Resealed[] = [];
    for (const place of this.repository.places) all.push(await this.#reseal(place, tell));
    const [, ...others] = this.secrets.keyIds;
    // The next start needs no other key.
    if (all.every(({ unreadable }) => unreadable === 0)) {
      await this.database.transaction((tx) => this.keys.forget(tx, others));
    }
    return all;
  }

  async #reseal(place: SealedPlace, tell: (progress: Resealed) => void): Promise<Resealed> {
    const prefix = place.isText ? this.secrets.textPrefix : this.secrets.prefix;
    let sum: Resealed = { place: place.name, resealed: 0, skipped: 0, unreadable: 0 };
    for (let after: readonly string[] | null = null; ;) {
      const rows: SealedRow[] = await this.repository.stale(place, prefix, after, BATCH);
      if (rows.length > 0) {
        sum = plus(sum, await this.#resealRows(place, rows));
        tell(sum);
      }
      if (rows.length < BATCH) return sum;
      after = rows.at(-1)?.key ?? null;
    }
  }

  async #resealRows(place: SealedPlace, rows: readonly SealedRow[]): Promise<Omit<Resealed, 'place'>> {
    return this.database.transaction(async (tx) => {
      const count = { resealed: 0, skipped: 0, unreadable: 0 };
      for (const row of rows) {
        const sealed = this.#sealedAnew(row);
        if (sealed === null) count.unreadable += 1;
        else if (await this.repository.replace(tx, place, row, sealed)) count.resealed += 1;
        else count.skipped += 1;
      }
      return count;
    });
  }

  /** @returns null where the value cannot be opened */
  #sealedAnew({ sealed, context }: SealedRow): Buffer | string | null {
    try {
      if (typeof sealed === 'string') {
        return this.secrets.sealText(this.secrets.openText(sealed, context), context);
      }
      return this.secrets.seal(this.secrets.open(sealed, context), context);
    } catch {
      return null;
    }
  }
}

function plus(a: Resealed, b: Omit<Resealed, 'place'>): Resealed {
  return {
    place: a.place,
    resealed: a.resealed + b.resealed,
    skipped: a.skipped + b.skipped,
    unreadable: a.unreadable + b.unreadable,
  };
}
