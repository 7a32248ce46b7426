import { createHash } from 'node:crypto';
import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Clock } from '../core/clock.js';
import { Database } from '../core/database/index.js';
import { Poller } from '../core/queue/index.js';
import { LedgerChainRepository, type Link, type Wallet, type WalletEnds } from './ledger-chain.repository.js';

const POLL_MS = 5_000;
const STALLED_MS = 600_000;
const WALLETS = 100;
const ENTRIES = 1_000;

/** The first entry of a wallet that differs from its link. */
export interface BrokenLink extends Wallet {
  readonly number: number;
  readonly entryId: string | null;
  readonly cause: string | null;
  /**
   * - `changed`: the entry, a line of it or its hash differs.
   * - `added`: the entry was never posted, or replaces a removed entry.
   * - `removed`: the entry is missing.
   * - `balance`: a balance of the wallet differs from the sum of its lines.
   */
  readonly what: 'changed' | 'added' | 'removed' | 'balance';
}

export interface Verification {
  readonly wallets: number;
  readonly entries: number;
  /** How many entries were posted in the last seconds. */
  readonly notYetLinked: number;
  /** True if entries have waited for minutes: no worker links, or something blocks it. */
  readonly isStalled: boolean;
  readonly broken: readonly BrokenLink[];
  /** The last link of each wallet. */
  readonly heads: readonly (Wallet & { readonly number: number; readonly hash: string })[];
}

function hashOf(before: Buffer | null, content: string): Buffer {
  return createHash('sha256')
    .update(before ?? '')
    .update(content)
    .digest();
}

/**
 * The chain of hashes over the journal: one for each wallet, in the order of the entries' numbers. A worker links
 * committed entries, seconds later, so no posting waits for it.
 *
 * The chain reveals:
 * - every balance or line that does not add up, linked or not;
 * - any change of an entry or its lines after it was linked, also by the owner of the tables;
 * - a removed entry, linked or not, because the numbers have no holes;
 * - an inserted entry that was not posted.
 *
 * The chain does not reveal:
 * - a change in the seconds before the link (entries that wait for minutes are reported);
 * - an entry posted as the service posts;
 * - changes by somebody who rebuilds all later hashes;
 * - a removal of the newest entries with their hashes, if the wallet's count and balances are set back too.
 *
 * The last two change the heads that `ledger verify --account` prints: a copy of the heads kept elsewhere reveals them
 * too.
 */
@Injectable()
export class LedgerChainService implements OnApplicationBootstrap {
  constructor(
    private readonly database: Database,
    private readonly chain: LedgerChainRepository,
    private readonly poller: Poller,
    private readonly clock: Clock,
  ) {}

  onApplicationBootstrap(): void {
    this.poller.onWorkers('ledger.chain', POLL_MS, () => this.link());
  }

  /**
   * Links entries; in any number of workers, one links and the others return. @returns whether there is more to do at
   * once
   */
  async link(): Promise<boolean> {
    return this.database.transaction(async (tx) => {
      if (!(await this.chain.lock(tx))) return false;
      const wallets = await this.chain.unlinked(tx, WALLETS);
      let isMore = false;
      for (const wallet of wallets) {
        const contents = await this.chain.contents(tx, wallet, ENTRIES);
        let { hash } = wallet;
        const links = contents.map(({ number, entryId, content }) => {
          hash = hashOf(hash, content);
          return { number, entryId, hash };
        });
        // Empty if somebody has removed the newest entries: `verify` reports that.
        if (links.length > 0) this.chain.link(tx, wallet, links);
        isMore ||= links.length === ENTRIES || (links.length > 0 && wallets.length === WALLETS);
      }
      return isMore;
    });
  }

  /** Checks the whole chain, or one account's, while the service runs. */
  async verify(accountId: string | null): Promise<Verification> {
    const wallets = await this.database.transaction((tx) => this.chain.wallets(tx, accountId));
    const walks = [];
    for (const wallet of wallets) walks.push(await this.#walk(wallet));
    const broken: BrokenLink[] = walks.flatMap((walk) => walk.broken ?? []);
    const isKnown = (odd: Wallet): boolean =>
      broken.some(
        ({ accountId: id, mode, currency }) => id === odd.accountId && mode === odd.mode && currency === odd.currency,
      );
    const odd = await this.database.transaction((tx) => this.chain.odd(tx, accountId));
    const since = await this.chain.waitingSince(accountId);
    return {
      wallets: wallets.length,
      entries: wallets.reduce((sum, { entries }) => sum + entries, 0),
      notYetLinked: wallets.reduce((sum, { entries, linked }) => sum + Math.max(0, entries - linked), 0),
      isStalled: since !== null && this.clock.now().getTime() - since.getTime() > STALLED_MS,
      broken: [...broken, ...odd.filter((line) => !isKnown(line))],
      heads: walks.flatMap(({ head }) => head ?? []),
    };
  }

  async #walk(ends: WalletEnds): Promise<{ broken?: BrokenLink; head?: Verification['heads'][number] }> {
    const { accountId, mode, currency, strayId } = ends;
    const wallet = { accountId, mode, currency };
    const last = Math.max(ends.entries, ends.linked);
    let before: Buffer | null = null;
    for (let after = 0; after < last; after += ENTRIES) {
      const to = Math.min(after + ENTRIES, last);
      const links = new Map((await this.chain.links(wallet, after, to)).map((link) => [link.number, link]));
      for (let number = after + 1; number <= to; number++) {
        const link = links.get(number);
        const what = faultOf(link, before, number <= ends.linked);
        if (what !== null) {
          const entryId = link?.entryId ?? link?.linkedId ?? null;
          return { broken: { ...wallet, number, entryId, cause: link?.cause ?? null, what } };
        }
        if (number <= ends.linked) before = link?.hash ?? null;
      }
    }
    if (strayId !== null) {
      return { broken: { ...wallet, number: Number(ends.strayNumber), entryId: strayId, cause: null, what: 'added' } };
    }
    return before === null ? {} : { head: { ...wallet, number: ends.linked, hash: before.toString('hex') } };
  }
}

/** @param isLinked whether the chain had come past it when the walk began */
function faultOf(link: Link | undefined, before: Buffer | null, isLinked: boolean): BrokenLink['what'] | null {
  if (link?.entryId == null || link.content === null) return 'removed';
  if (!isLinked) return null;
  if (link.hash === null || link.linkedId !== link.entryId) return 'added';
  return hashOf(before, link.content).equals(link.hash) ? null : 'changed';
}
