import { Injectable } from '@nestjs/common';
import { AcquirersService, type PayoutDesk } from '../acquirers/index.js';
import { Clock, HOUR_MS } from '../core/clock.js';
import type { Amount } from '../core/money/index.js';
import { type PayoutDifference, payoutDifferencesOf, type PayoutEntry, takenBy } from './payout-differences.js';
import { type BookedPayout, PayoutRecordsRepository } from './payout-records.repository.js';

/** Clocks differ, and the PSP's time of a send is later than ours. */
const OVERLAP_MS = 10 * 60_000;
/** Sends that are under way for longer are not searched in the PSP's list. */
const MAX_UNDER_WAY_MS = 30 * 24 * HOUR_MS;
/** Payments during a comparison move the ledger: then it is read again. */
const MAX_READS = 3;

/** Sends of a day on one side, in cents. */
export interface PayoutTotal {
  /** Payouts and cashouts that were paid. */
  readonly count: number;
  readonly amount: Amount;
  /** The part of `amount` that came back. */
  readonly returned: Amount;
}

export interface PayoutComparison {
  readonly there: PayoutTotal;
  readonly here: PayoutTotal;
  readonly differences: readonly PayoutDifference[];
}

/** The money of an account at all its PSPs now, in cents. */
export interface BalanceComparison {
  readonly there: {
    readonly available: Amount;
    /** By the PSP's name of the cause. */
    readonly blocked: Readonly<Record<string, Amount>>;
  };
  readonly here: {
    /** By the ledger (`clearing`). */
    readonly held: Amount;
    /** The part of `held` that sends and returns under way have taken at the PSP. */
    readonly underWay: Amount;
    /** Fees of the PSPs by the ledger. */
    readonly fees: Amount;
  };
  /** There less here: negative if money is missing at the PSP. */
  readonly difference: Amount;
}

/** Compares sends and balances of acquirers that have a desk with our books. Reads only. */
@Injectable()
export class PayoutComparisons {
  constructor(
    private readonly acquirers: AcquirersService,
    private readonly records: PayoutRecordsRepository,
    private readonly clock: Clock,
  ) {}

  /**
   * Compares the sends of a time: theirs by the PSP's clock, ours by the first call. Returns belong to their send.
   * @returns null if the acquirer has no list of sends
   * @throws the acquirer's error when its list cannot be read
   */
  async compare(acquirer: string, accountId: string, from: Date, to: Date): Promise<PayoutComparison | null> {
    const { payouts: desk, listedUntil } = this.acquirers.get(acquirer);
    if (!desk?.list) return null;
    const end = listedUntil?.() ?? to;
    // Later sends are not in the list yet, so they do not count as missing there.
    const ofDay = await this.records.sent(acquirer, accountId, from, end < to ? end : to);
    const latest = Math.max(to.getTime(), ...ofDay.map(({ acceptedBefore }) => acceptedBefore.getTime()));
    const ours = new Set(ofDay.map(({ sendId }) => sendId));
    const there: PayoutEntry[] = [];
    for await (const entry of desk.list(before(from), new Date(latest + OVERLAP_MS))) {
      const isOfDay = entry.at >= from && entry.at < to;
      if (isOfDay || (entry.sendId !== null && ours.has(entry.sendId))) there.push(entry);
    }
    const others = await this.#known(acquirer, there, ours);
    const references = there.flatMap(({ endToEndId, state }) => [
      ...(endToEndId === null ? [] : [endToEndId]),
      ...(state.kind === 'paid' ? state.returns.map(({ returnId }) => returnId) : []),
    ]);
    const books = {
      payouts: [...ofDay, ...others],
      entered: await this.records.entered(accountId, references),
      unfinishedBefore: new Date(this.clock.now().getTime() - desk.capabilities.quietMs),
    };
    return { there: totalThere(there), here: totalHere(books.payouts), differences: payoutDifferencesOf(there, books) };
  }

  /** Payouts of another time here that the list names. */
  async #known(acquirer: string, there: readonly PayoutEntry[], ours: ReadonlySet<string>): Promise<BookedPayout[]> {
    const sendIds = there.flatMap(({ sendId }) => (sendId === null || ours.has(sendId) ? [] : [sendId]));
    const endToEndIds = there.flatMap(({ sendId, endToEndId }) => (sendId === null ? (endToEndId ?? []) : []));
    const known = await this.records.known(acquirer, sendIds, endToEndIds);
    return known.filter(({ sendId }) => !ours.has(sendId));
  }

  /**
   * Compares the balances of an account's PSPs with the ledger, as of now.
   * @param areFeesDebited the PSPs take their fees out of the balance: else they are invoiced
   * @returns null if one of the acquirers does not report its balance
   * @throws the error of an acquirer that does not answer
   */
  async balance(
    acquirers: readonly string[],
    accountId: string,
    areFeesDebited: boolean,
  ): Promise<BalanceComparison | null> {
    const desks = acquirers.flatMap((acquirer) => {
      const desk = this.acquirers.get(acquirer).payouts;
      return desk?.balance ? [{ acquirer, desk, balance: desk.balance }] : [];
    });
    if (desks.length === 0 || desks.length < acquirers.length) return null;
    for (let reads = 1; ; reads += 1) {
      const { held, fees, returning } = await this.records.held(accountId);
      const sends = await this.records.underWay(accountId);
      let sent = 0;
      for (const { acquirer, desk } of desks) {
        sent += await this.#taken(
          desk,
          sends.filter((own) => own.acquirer === acquirer),
        );
      }
      const balances = await Promise.all(desks.map(({ balance }) => balance()));
      const after = await this.records.held(accountId);
      const isMoved = after.held !== held || after.returning !== returning;
      if (isMoved && reads < MAX_READS) continue;
      const blocked: Record<string, Amount> = {};
      for (const one of balances) {
        for (const [cause, amount] of Object.entries(one.blocked)) blocked[cause] = (blocked[cause] ?? 0) + amount;
      }
      const available = sum(balances.map((one) => one.available));
      const underWay = sent + returning;
      const expected = held - underWay - (areFeesDebited ? fees : 0);
      const difference = available + sum(Object.values(blocked)) - expected;
      return { there: { available, blocked }, here: { held, underWay, fees }, difference };
    }
  }

  /** Cents that the PSP has taken for sends whose end is unknown here. */
  async #taken({ list }: PayoutDesk, sends: readonly BookedPayout[]): Promise<Amount> {
    if (!list || sends.length === 0) return 0;
    const now = this.clock.now().getTime();
    const first = Math.max(Math.min(...sends.map(({ sentAt }) => sentAt.getTime())), now - MAX_UNDER_WAY_MS);
    const ours = new Set(sends.map(({ sendId }) => sendId));
    let taken = 0;
    for await (const entry of list(before(new Date(first)), new Date(now))) {
      if (entry.sendId !== null && ours.has(entry.sendId)) taken += takenBy(entry);
    }
    return taken;
  }
}

const sum = (amounts: readonly Amount[]): Amount => amounts.reduce((total, amount) => total + amount, 0);

function before(time: Date): Date {
  return new Date(time.getTime() - OVERLAP_MS);
}

function totalThere(entries: readonly PayoutEntry[]): PayoutTotal {
  const paid = entries.flatMap(({ amount, state }) =>
    state.kind === 'paid' ? [{ amount: amount ?? 0, ...{ returns: state.returns } }] : [],
  );
  return totalOf(paid);
}

function totalHere(payouts: readonly BookedPayout[]): PayoutTotal {
  return totalOf(payouts.filter(({ state }) => state === 'paid'));
}

function totalOf(paid: readonly Pick<BookedPayout, 'amount' | 'returns'>[]): PayoutTotal {
  return {
    count: paid.length,
    amount: sum(paid.map(({ amount }) => amount)),
    returned: sum(paid.flatMap(({ returns }) => returns).map(({ amount }) => amount)),
  };
}
