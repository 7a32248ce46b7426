import { Injectable } from '@nestjs/common';
import { AccountsService } from '../accounts/index.js';
import { AcquirersService, ConnectionsService, type StatementLine, type UnreadableLine } from '../acquirers/index.js';
import { type Day, saoPauloDayBounds } from '../brazil/index.js';
import { business } from '../core/errors/index.js';
import type { Amount } from '../core/money/index.js';
import { MedRecords } from '../med/index.js';
import { type BookedPix, InternalRecordsRepository } from '../transactions/index.js';
import { HoldingsRepository } from './holdings.repository.js';
import { type BalanceComparison, type PayoutComparison, PayoutComparisons } from './payout-comparison.service.js';
import { type Books, type Difference, differencesOf, heldOf } from './reconciliation.rules.js';

/** Pix of a day on one side, in cents. */
export interface Total {
  readonly count: number;
  readonly amount: Amount;
  /** The part of `amount` that was sent back. */
  readonly returned: Amount;
  /** The part of `amount` that the acquirer still has; on our side, by the ledger. */
  readonly held: Amount;
}

export interface Reconciliation {
  readonly from: Date;
  /** The end of the window, excluded. */
  readonly to: Date;
  readonly acquirers: readonly {
    readonly acquirer: string;
    readonly there: Total;
    readonly here: Total;
    readonly differences: readonly Difference[];
    /** Null: the acquirer has no list of sends. */
    readonly payouts: PayoutComparison | null;
  }[];
  /** Null: an acquirer of the account does not report its balance, or did not answer. */
  readonly balance: BalanceComparison | null;
  /** Acquirers whose lists could not be read, with the error. */
  readonly notCompared: readonly { readonly acquirer: string; readonly error: string }[];
}

/** Compares the acquirers' lists of a day, and their balances, with our books. Reads only. */
@Injectable()
export class ReconciliationService {
  constructor(
    private readonly accounts: AccountsService,
    private readonly acquirers: AcquirersService,
    private readonly connections: ConnectionsService,
    private readonly records: InternalRecordsRepository,
    private readonly cases: MedRecords,
    private readonly holdings: HoldingsRepository,
    private readonly payouts: PayoutComparisons,
  ) {}

  /**
   * Compares a day in São Paulo, by the banks' clocks. Returns are compared with their Pix, whenever they happened. If
   * an acquirer does not answer, it is named, and the others are still compared. Balances are compared as of now.
   * @param areFeesDebited the PSPs take their fees out of the balance: else they are invoiced
   * @throws ApiError 404 for an unknown account, 422 `no_provider_configured`
   */
  async compare(accountId: string, day: Day, areFeesDebited = false): Promise<Reconciliation> {
    await this.accounts.get(accountId);
    const { from, to } = saoPauloDayBounds(day);
    const names = await this.connections.acquirersOf(accountId);
    const listed = names.filter((name) => this.acquirers.get(name).statement !== null);
    if (listed.length === 0) {
      throw business('no_provider_configured', 'The account has no acquirer that gives a list of what it received.');
    }
    const acquirers: Reconciliation['acquirers'][number][] = [];
    const notCompared: Reconciliation['notCompared'][number][] = [];
    for (const acquirer of listed) {
      // Later payments are not in the list yet, so they do not count as missing there.
      const end = this.acquirers.get(acquirer).listedUntil?.() ?? to;
      const ofDay = await this.records.settled(acquirer, from, end < to ? end : to);
      const read = await this.#read(acquirer, from, to, new Set(ofDay.map(({ endToEndId }) => endToEndId)));
      if ('error' in read) {
        notCompared.push({ acquirer, error: read.error });
        continue;
      }
      const { lines, unreadable } = read;
      const named = [...lines.map(({ pix }) => pix), ...unreadable].flatMap(({ endToEndId }) => endToEndId ?? []);
      const books = await this.#booksOf(listed, named, ofDay);
      const differences = differencesOf(lines, unreadable, books);
      const payouts = await attempt(() => this.payouts.compare(acquirer, accountId, from, to));
      if ('error' in payouts) notCompared.push({ acquirer, error: payouts.error });
      const sends = 'error' in payouts ? null : payouts.value;
      acquirers.push({ acquirer, there: totalThere(lines), here: totalHere(books), differences, payouts: sends });
    }
    const balance =
      notCompared.length > 0 ? null : await attempt(() => this.payouts.balance(names, accountId, areFeesDebited));
    if (balance && 'error' in balance) notCompared.push({ acquirer: names.join(', '), error: balance.error });
    return { from, to, acquirers, notCompared, balance: balance && 'value' in balance ? balance.value : null };
  }

  /** The acquirer's whole list, or the error. A part of a list would make everything else look missing there. */
  async #read(
    acquirer: string,
    from: Date,
    to: Date,
    settled: ReadonlySet<string>,
  ): Promise<{ lines: StatementLine[]; unreadable: UnreadableLine[] } | { error: string }> {
    const lines: StatementLine[] = [];
    const unreadable: UnreadableLine[] = [];
    const read = await attempt(async () => {
      for await (const line of this.acquirers.get(acquirer).statement?.({ from, to, settled }) ?? []) {
        if ('pix' in line) lines.push(line);
        else unreadable.push(line);
      }
    });
    return 'error' in read ? read : { lines, unreadable };
  }

  /**
   * Reads our side of the comparison.
   * @param listed the account's acquirers: a Pix that several of them see is settled under the one whose charge it paid
   * @param named by the list
   */
  async #booksOf(listed: readonly string[], named: readonly string[], ofDay: readonly BookedPix[]): Promise<Books> {
    const ids = new Set(ofDay.map(({ endToEndId }) => endToEndId));
    // Pix that are settled here under another time than the list shows are known too.
    const others = [...new Set(named)].filter((id) => !ids.has(id));
    const known = await Promise.all(listed.map((name) => this.records.known(name, others)));
    const pix = [...ofDay, ...known.flat()];
    const all = pix.map(({ endToEndId }) => endToEndId);
    const returns = (await Promise.all(listed.map((name) => this.records.returns(name, all)))).flat();
    const disputes = (await Promise.all(listed.map((name) => this.cases.disputes(name, all)))).flat();
    const held = await this.holdings.ofPix(listed, all);
    return { pix, returns, disputes, held };
  }
}

/** @returns the value, or the error of an acquirer that does not answer */
async function attempt<T>(work: () => Promise<T>): Promise<{ value: T } | { error: string }> {
  try {
    return { value: await work() };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

const sum = (amounts: readonly Amount[]): Amount => amounts.reduce((total, amount) => total + amount, 0);

function totalThere(lines: readonly StatementLine[]): Total {
  const returns = lines.flatMap((line) => line.returns).filter(({ state }) => state === 'returned');
  return {
    count: lines.length,
    amount: sum(lines.map(({ pix }) => pix.amount)),
    returned: sum(returns.map(({ amount }) => amount)),
    held: sum(lines.map(heldOf)),
  };
}

function totalHere({ pix, returns, disputes, held }: Books): Total {
  return {
    count: pix.length,
    amount: sum(pix.map(({ amount }) => amount)),
    returned: sum([...returns, ...disputes].filter(({ state }) => state === 'returned').map(({ amount }) => amount)),
    held: sum([...held.values()]),
  };
}
