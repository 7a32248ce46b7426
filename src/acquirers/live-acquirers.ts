import { Injectable } from '@nestjs/common';

/** An acquirer that keeps real money for one account. */
export interface LiveAcquirer {
  readonly name: string;
  readonly accountId: string;
}

/** @param accountId whose; null: all */
export type ListLiveAcquirers = (accountId: string | null) => Promise<readonly LiveAcquirer[]>;

/** Which acquirers of real money there are: whoever keeps connections registers how to list them. */
@Injectable()
export class LiveAcquirers {
  readonly #lists: ListLiveAcquirers[] = [];

  add(list: ListLiveAcquirers): void {
    this.#lists.push(list);
  }

  async all(): Promise<LiveAcquirer[]> {
    return (await Promise.all(this.#lists.map((list) => list(null)))).flat();
  }

  async of(accountId: string): Promise<LiveAcquirer[]> {
    return (await Promise.all(this.#lists.map((list) => list(accountId)))).flat();
  }
}
