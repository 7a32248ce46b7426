import { Injectable } from '@nestjs/common';
import type { Tx } from '../core/database/index.js';

/** An acquirer that keeps the money of one account. */
export interface ListedAcquirer {
  readonly name: string;
  readonly accountId: string;
}

/** The module that keeps the connections of accounts. */
export interface AcquirerLister {
  /** @param accountId whose; null: all */
  list(accountId: string | null): Promise<readonly ListedAcquirer[]>;
  /** @returns the account whose money the acquirer of that name keeps; null for one that is not listed here */
  ownerOf(tx: Tx, name: string): Promise<string | null>;
}

/** Which acquirers accounts have beside the sandbox. The module that keeps connections registers how to list them. */
@Injectable()
export class AcquirerDirectory {
  readonly #listers: AcquirerLister[] = [];

  add(lister: AcquirerLister): void {
    this.#listers.push(lister);
  }

  /** @param accountId whose; null: all */
  async list(accountId: string | null): Promise<ListedAcquirer[]> {
    return (await Promise.all(this.#listers.map((lister) => lister.list(accountId)))).flat();
  }

  /** @returns the account whose money an acquirer keeps; null for one that keeps every account's, as the sandbox */
  async ownerOf(tx: Tx, name: string): Promise<string | null> {
    for (const lister of this.#listers) {
      const owner = await lister.ownerOf(tx, name);
      if (owner !== null) return owner;
    }
    return null;
  }
}
