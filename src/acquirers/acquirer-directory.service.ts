import { Injectable } from '@nestjs/common';

/** An acquirer that keeps the money of one account. */
export interface ListedAcquirer {
  readonly name: string;
  readonly accountId: string;
}

/** @param accountId whose; null: all */
export type ListAcquirers = (accountId: string | null) => Promise<readonly ListedAcquirer[]>;

/** Which acquirers accounts have beside the sandbox: whoever keeps connections registers how to list them. */
@Injectable()
export class AcquirerDirectory {
  readonly #lists: ListAcquirers[] = [];

  add(list: ListAcquirers): void {
    this.#lists.push(list);
  }

  /** @param accountId whose; null: all */
  async list(accountId: string | null): Promise<ListedAcquirer[]> {
    return (await Promise.all(this.#lists.map((list) => list(accountId)))).flat();
  }
}
