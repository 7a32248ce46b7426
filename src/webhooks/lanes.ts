export interface Receiver {
  readonly endpointId: string;
  readonly accountId: string;
}

/** How many deliveries of an endpoint there is room for now. */
export interface Ask {
  readonly endpointId: string;
  readonly allowance: number;
}

/** One delivery on its way, from when it is begun until its outcome is written. */
export interface Passage {
  readonly lane: Lane;
  readonly startedAt: number;
}

/** What this process knows of an endpoint. */
interface Lane extends Receiver {
  /** Those that have no answer yet; the oldest first. */
  readonly underWay: Set<Passage>;
  /** How many may be under way at once. */
  limit: number;
  /** The last attempt, if this process has made one. */
  last: 'unproven' | 'succeeded' | 'failed';
  /** The last answer took long. */
  slow: boolean;
  usedAt: number;
}

/** An answer later than this makes an endpoint slow. */
const SLOW_MS = 1_000;
const FORGET_MS = 10 * 60_000;
/** Outcomes are written in batches: while one is, the places go on sending. */
const HELD_PER_PLACE = 2;

/**
 * Who may send how much at once in this process, so that an endpoint which does not answer takes nothing away from the
 * others. Nothing here is needed for correctness: it is all forgotten at a restart.
 *
 * - An endpoint may have one delivery under way at first, one more with each success (doubling with every round of
 *   them) up to a quarter of all places, and one after a failure.
 * - One half of the places is for endpoints that answer quickly, the other one for all the others: unproven, slow,
 *   failing, and those that have just stopped answering. So whatever these hold on to, half of the places is left.
 *   Those that are known to hold on, which is all but the unproven, have at most a quarter, or a new endpoint would
 *   wait for their time-outs.
 * - Of that other half one account has at most a quarter (an eighth of all places), and half as much for those that
 *   hold on: so many slow or dead endpoints of one account delay no other account's.
 * - Who has the fewest under way comes first; among equals, who waits longest.
 */
export class Lanes {
  readonly #lanes = new Map<string, Lane>();
  /** Endpoints that may have due deliveries, the one that was served longest ago first. */
  readonly #waiting = new Set<Lane>();
  readonly #busy = new Set<Lane>();
  #held = 0;

  /**
   * @param places for all endpoints together: deliveries without an answer yet
   * @param now milliseconds of a clock that only goes forward
   */
  constructor(
    private readonly places: number,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Deliveries begun and not yet written down. */
  get held(): number {
    return this.#held;
  }

  /**
   * There may be something due for this endpoint.
   * @param failing what the database says of an endpoint that this process has not tried itself
   */
  offer(receiver: Receiver, failing = false): void {
    const lane = this.#lane(receiver);
    if (failing && lane.last === 'unproven') fail(lane);
    this.#waiting.add(lane);
  }

  /** Whom to ask for how many. They no longer count as waiting until `offer` or `taken` says so. */
  allot(): Ask[] {
    const now = this.now();
    const room = new Room(this.places, now);
    let taken = 0;
    for (const lane of this.#busy) {
      room.take(lane, lane.underWay.size);
      taken += lane.underWay.size;
    }
    let free = Math.min(this.places - taken, this.places * HELD_PER_PLACE - this.#held);
    const granted = new Map<Lane, number>();
    for (let level = 0, more = true; more && free > 0; level++) {
      more = false;
      for (const lane of this.#waiting) {
        const had = lane.underWay.size + (granted.get(lane) ?? 0);
        if (free === 0 || had >= lane.limit || !room.isFor(lane)) continue;
        more = true;
        if (had > level) continue;
        granted.set(lane, (granted.get(lane) ?? 0) + 1);
        room.take(lane, 1);
        free -= 1;
      }
    }
    for (const lane of granted.keys()) this.#waiting.delete(lane);
    return [...granted].map(([{ endpointId }, allowance]) => ({ endpointId, allowance }));
  }

  /** What became of an ask: who was given all of it may have more. */
  taken({ endpointId, allowance }: Ask, count: number): void {
    const lane = this.#lanes.get(endpointId);
    if (lane && count >= allowance) this.#waiting.add(lane);
  }

  begin(receiver: Receiver): Passage {
    const lane = this.#lane(receiver);
    const passage = { lane, startedAt: this.now() };
    lane.underWay.add(passage);
    this.#busy.add(lane);
    this.#held += 1;
    return passage;
  }

  /**
   * The endpoint has answered, or has not in time: its place is free, and the delivery is held until `leave`.
   * @returns whether it is worth to ask for more already: the lane is half empty, and more may be due
   */
  answered(passage: Passage, succeeded: boolean): boolean {
    const { lane } = passage;
    lane.underWay.delete(passage);
    if (lane.underWay.size === 0) this.#busy.delete(lane);
    if (succeeded) {
      lane.limit = Math.min(lane.limit + 1, Math.ceil(this.places / 4));
      lane.last = 'succeeded';
      lane.slow = this.now() - passage.startedAt > SLOW_MS;
    } else {
      fail(lane);
    }
    return lane.underWay.size <= lane.limit / 2 && this.#waiting.has(lane);
  }

  /** The outcome is written. */
  leave(): void {
    this.#held -= 1;
  }

  /** Forgets endpoints that had nothing to send for long. */
  prune(): void {
    const before = this.now() - FORGET_MS;
    for (const lane of this.#lanes.values()) {
      if (lane.usedAt < before && lane.underWay.size === 0 && !this.#waiting.has(lane)) {
        this.#lanes.delete(lane.endpointId);
      }
    }
  }

  #lane({ endpointId, accountId }: Receiver): Lane {
    let lane = this.#lanes.get(endpointId);
    if (!lane) {
      lane = { endpointId, accountId, underWay: new Set(), limit: 1, last: 'unproven', slow: false, usedAt: 0 };
      this.#lanes.set(endpointId, lane);
    }
    lane.usedAt = this.now();
    return lane;
  }
}

/** Places that are left for endpoints that do not answer quickly; `holding` is a part of `doubtful`. */
interface Share {
  doubtful: number;
  holding: number;
}

/** Places that are left while they are given out. */
class Room {
  #quick: number;
  readonly #all: Share;
  readonly #accounts = new Map<string, Share>();

  constructor(
    private readonly places: number,
    private readonly now: number,
  ) {
    this.#quick = Math.ceil(places / 2);
    this.#all = { doubtful: this.#quick, holding: Math.ceil(places / 4) };
  }

  isFor(lane: Lane): boolean {
    if (this.#isQuick(lane)) return this.#quick > 0;
    const isHolding = this.#isHolding(lane);
    return this.#shares(lane).every(({ doubtful, holding }) => doubtful > 0 && (!isHolding || holding > 0));
  }

  take(lane: Lane, count: number): void {
    if (this.#isQuick(lane)) {
      this.#quick -= count;
      return;
    }
    const isHolding = this.#isHolding(lane);
    for (const share of this.#shares(lane)) {
      share.doubtful -= count;
      if (isHolding) share.holding -= count;
    }
  }

  #shares({ accountId }: Lane): Share[] {
    let share = this.#accounts.get(accountId);
    if (!share) {
      share = { doubtful: Math.ceil(this.places / 8), holding: Math.ceil(this.places / 16) };
      this.#accounts.set(accountId, share);
    }
    return [this.#all, share];
  }

  #isQuick(lane: Lane): boolean {
    return lane.last === 'succeeded' && !this.#isHolding(lane);
  }

  #isHolding({ last, slow, underWay }: Lane): boolean {
    const [oldest] = underWay;
    return last === 'failed' || slow || (oldest !== undefined && this.now - oldest.startedAt > SLOW_MS);
  }
}

function fail(lane: Lane): void {
  lane.last = 'failed';
  lane.limit = 1;
}
