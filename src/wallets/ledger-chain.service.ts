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

/** The first entry of a wallet that is not what was linked. */
export interface BrokenLink extends Wallet {
  readonly number: number;
  readonly entryId: string | null;
  readonly cause: string | null;
  /**
   * `changed`: the entry, a line of it or its hash says something else; `added`: it was never posted, or put in the place
   * of one that was removed; `removed`: it is not there; `balance`: a balance of the wallet is not what its lines come to.
   */
  readonly what: 'changed' | 'added' | 'removed' | 'balance';
}

export interface Verification {
  readonly wallets: number;
  readonly entries: number;
  /** Posted in the last seconds. */
  readonly notYetLinked: number;
  /** Entries wait for minutes: nobody links, or somebody keeps others from it. */
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
 * The chain of hashes over the journal: one for each wallet, in the order of the entries' numbers. A worker links what is
 * committed, seconds later, so no posting waits for it.
 *
 * Found is whatever does not add up, linked or not; any change of an entry or its lines after it was linked, also by the owner of the tables; one that was removed,
 * linked or not, as the numbers have no holes; one put in that was not posted. Not found are: a change in the seconds
 * before the link (entries that wait for minutes are told); an entry posted as the service posts; and what is done by somebody who makes all later hashes anew, or
 * removes the newest entries with their hashes and sets the wallet's count and balances back. The last two change the
 * heads that `ledger verify --account` prints: who keeps those elsewhere finds them too.
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

  /** Safe in any number of workers: one links, the others go away. @returns whether there is more to do at once */
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
        // None where somebody has removed the newest: that is for `verify` to tell.
        if (links.length > 0) this.chain.link(tx, wallet, links);
        isMore ||= links.length === ENTRIES || (links.length > 0 && wallets.length === WALLETS);
      }
      return isMore;
    });
  }

  /** Walks all of it, or one account's, while the service runs. */
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
