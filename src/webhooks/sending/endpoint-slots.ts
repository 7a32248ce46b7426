export interface Receiver {
  readonly endpointId: string;
  readonly accountId: string;
}

/** How many deliveries of an endpoint there is room for now. */
export interface Ask {
  readonly endpointId: string;
  readonly allowance: number;
}

/** One delivery on its way, from when it is begun until it is answered. */
export interface Sending<D> {
  readonly lane: EndpointSlot<D>;
  readonly delivery: D;
  readonly startedAt: number;
}

/** What this process knows of an endpoint. */
interface EndpointSlot<D> extends Receiver {
  /** Those that have no answer yet; the oldest first. */
  readonly underWay: Set<Sending<D>>;
  /** Claimed ahead: each begins when one that is under way has been answered. */
  ready: D[];
  /** How many may be under way at once. */
  limit: number;
  /** The last attempt, if this process has made one. */
  last: 'unproven' | 'succeeded' | 'failed';
  /** What the last answer took. */
  tookMs: number;
  usedAt: number;
}

/** An answer later than this makes an endpoint slow. */
const SLOW_MS = 1_000;
/**
 * Who answers faster than this is claimed for ahead, or its places would wait for claims half of the time. For others
 * that would gain nothing, and what is ready is sent as it was claimed: to that URL, with that secret, and also when its
 * endpoint has just been switched off.
 */
const AHEAD_MS = 50;
/** How many deliveries are claimed for an endpoint, in multiples of those that it may have under way. */
const AHEAD = 3;
const FORGET_MS = 10 * 60_000;
/**
 * Under way at once at first and after a failure: with one that hangs until its time is over a newer one still leaves.
 */
const FEWEST = 2;
/** Outcomes are written in batches: while one is, the places go on sending. */
const HELD_PER_PLACE = 2;

/**
 * Who may send how much at once in this process, so that an endpoint which does not answer takes nothing away from the
 * others. Nothing here is needed for correctness: it is all forgotten at a restart.
 *
 * - An endpoint may have two deliveries under way at first, one more with each success up to a quarter of all places, and
 *   two after a failure. For one that answers at once more are claimed ahead, ready to take its own places: of all
 *   endpoints together half as many as there are places, which is gone in the time of a few answers.
 * - One half of the places is for endpoints that answer quickly, the other one for all the others: unproven, slow,
 *   failing, and those that have just stopped answering. So whatever these hold on to, half of the places is left.
 *   Those that are known to hold on, which is all but the unproven, have at most a quarter, or a new endpoint would
 *   wait for their time-outs.
 * - Of that other half one account has at most a quarter (an eighth of all places), and half as much for those that
 *   hold on: so many slow or dead endpoints of one account delay no other account's.
 * - Who has the fewest under way comes first; among equals, who waits longest.
 */
export class EndpointSlots<D> {
  readonly #lanes = new Map<string, EndpointSlot<D>>();
  /** Endpoints that may have due deliveries, the one that was served longest ago first. */
  readonly #waiting = new Set<EndpointSlot<D>>();
  readonly #busy = new Set<EndpointSlot<D>>();
  #held = 0;

  /**
   * @param places for all endpoints together: deliveries without an answer yet
   * @param now milliseconds of a clock that only goes forward
   */
  constructor(
    private readonly places: number,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Deliveries claimed and not yet written down. */
  get held(): number {
    return this.#held;
  }

  /** Whether as much is held as there are places: what comes now would wait here. */
  get isFull(): boolean {
    return this.#held >= this.places;
  }

  /**
   * There may be something due for this endpoint.
   * @param failing what the database says of an endpoint that this process has not tried itself
   */
  offer(receiver: Receiver, failing = false): void {
    const lane = this.#lane(receiver);
    if (failing && lane.last === 'unproven') this.#fail(lane);
    this.#waiting.add(lane);
  }

  /** Whom to ask for how many. They no longer count as waiting until `offer` or `taken` says so. */
  allot(): Ask[] {
    const room = this.#room();
    let more = true;
    let left = this.places * HELD_PER_PLACE - this.#held;
    const granted = new Map<EndpointSlot<D>, number>();
    for (let level = 0; more && left > 0; level++) {
      more = false;
      for (const lane of this.#waiting) {
        const had = lane.underWay.size + lane.ready.length + (granted.get(lane) ?? 0);
        if (left === 0 || !room.isFor(lane, had)) continue;
        more = true;
        if (had > level) continue;
        granted.set(lane, (granted.get(lane) ?? 0) + 1);
        room.take(lane, had);
        left -= 1;
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

  /** A delivery was claimed. @returns its sending if it begins now; null: it is ready, and `next` brings it */
  admit(receiver: Receiver, delivery: D): Sending<D> | null {
    const lane = this.#lane(receiver);
    this.#busy.add(lane);
    this.#held += 1;
    if (lane.underWay.size < lane.limit) return this.#begin(lane, delivery);
    lane.ready.push(delivery);
    return null;
  }

  /**
   * The endpoint has answered, or has not in time: its place is free, and the delivery is held until `leave`.
   * @returns whether it is worth to ask for more already: the lane is half empty, and more may be due
   */
  answered(sending: Sending<D>, succeeded: boolean): boolean {
    const { lane } = sending;
    lane.underWay.delete(sending);
    const had = lane.underWay.size + lane.ready.length;
    if (had === 0) this.#busy.delete(lane);
    if (succeeded) {
      lane.limit = Math.min(lane.limit + 1, this.#most);
      lane.last = 'succeeded';
      lane.tookMs = this.now() - sending.startedAt;
    } else {
      this.#fail(lane);
    }
    return had <= windowOf(lane, this.now()) / 2 && this.#waiting.has(lane);
  }

  /** @returns one that is ready in the lane and may begin: in the place of one that was answered, or one more */
  next(lane: EndpointSlot<D>): Sending<D> | null {
    const had = lane.underWay.size;
    if (lane.ready.length === 0 || had >= lane.limit) return null;
    // One at least: the others have only its answers to wait for.
    if (had > 0 && !this.#room().isFor(lane, had)) return null;
    const delivery = lane.ready.shift();
    return delivery === undefined ? null : this.#begin(lane, delivery);
  }

  /** Whether it answers at once, and has not just stopped to: only then may anything be ready in it. */
  isPrompt(lane: EndpointSlot<D>): boolean {
    return isPrompt(lane, this.now());
  }

  /**
   * What is ready in lanes that no longer answer at once, or in all of them: it will not begin here, where it would
   * wait, and is no longer held. Another worker may have room for it.
   */
  takeBack(all = false): D[] {
    const now = this.now();
    const back: D[] = [];
    for (const lane of this.#busy) {
      if (lane.ready.length === 0 || (!all && isPrompt(lane, now))) continue;
      back.push(...lane.ready);
      lane.ready = [];
      if (lane.underWay.size === 0) this.#busy.delete(lane);
    }
    this.#held -= back.length;
    return back;
  }

  /** The outcome is written. */
  leave(): void {
    this.#held -= 1;
  }

  /** Forgets endpoints that had nothing to send for long. */
  prune(): void {
    const before = this.now() - FORGET_MS;
    for (const lane of this.#lanes.values()) {
      if (lane.usedAt < before && !this.#busy.has(lane) && !this.#waiting.has(lane)) {
        this.#lanes.delete(lane.endpointId);
      }
    }
  }

  get #most(): number {
    return Math.ceil(this.places / 4);
  }

  get #fewest(): number {
    return Math.min(FEWEST, this.#most);
  }

  #fail(lane: AnyLane): void {
    lane.last = 'failed';
    lane.limit = this.#fewest;
  }

  #room(): Room {
    const room = new Room(this.places, this.now());
    for (const lane of this.#busy) room.takeAll(lane);
    return room;
  }

  #begin(lane: EndpointSlot<D>, delivery: D): Sending<D> {
    const sending = { lane, delivery, startedAt: this.now() };
    lane.underWay.add(sending);
    return sending;
  }

  #lane({ endpointId, accountId }: Receiver): EndpointSlot<D> {
    let lane = this.#lanes.get(endpointId);
    if (!lane) {
      const unknown = { limit: this.#fewest, last: 'unproven', tookMs: 0, usedAt: 0 } as const;
      lane = { endpointId, accountId, underWay: new Set(), ready: [], ...unknown };
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

/** What is left while it is given out: places, and how many may be ready for them. */
class Room {
  #places: number;
  #ready: number;
  #quick: number;
  readonly #all: Share;
  readonly #accounts = new Map<string, Share>();

  constructor(
    private readonly places: number,
    private readonly now: number,
  ) {
    this.#places = places;
    this.#ready = Math.ceil(places / 2);
    this.#quick = Math.ceil(places / 2);
    this.#all = { doubtful: this.#quick, holding: Math.ceil(places / 4) };
  }

  /** @param had what the lane has already: one more begins, or is ready */
  isFor(lane: AnyLane, had: number): boolean {
    // While all places of those that answer are taken nothing more is made ready: others wait for their turn.
    if (had >= lane.limit) return had < windowOf(lane, this.now) && this.#ready > 0 && this.#quick > 0;
    if (this.#places <= 0) return false;
    if (isQuick(lane, this.now)) return this.#quick > 0;
    const holds = isHolding(lane, this.now);
    return this.#shares(lane).every(({ doubtful, holding }) => doubtful > 0 && (!holds || holding > 0));
  }

  take(lane: AnyLane, had: number): void {
    if (had >= lane.limit) this.#ready -= 1;
    else this.#takePlaces(lane, 1);
  }

  takeAll(lane: AnyLane): void {
    this.#ready -= lane.ready.length;
    this.#takePlaces(lane, lane.underWay.size);
  }

  #takePlaces(lane: AnyLane, count: number): void {
    this.#places -= count;
    if (isQuick(lane, this.now)) {
      this.#quick -= count;
      return;
    }
    const holds = isHolding(lane, this.now);
    for (const share of this.#shares(lane)) {
      share.doubtful -= count;
      if (holds) share.holding -= count;
    }
  }

  #shares({ accountId }: Receiver): Share[] {
    let share = this.#accounts.get(accountId);
    if (!share) {
      share = { doubtful: Math.ceil(this.places / 8), holding: Math.ceil(this.places / 16) };
      this.#accounts.set(accountId, share);
    }
    return [this.#all, share];
  }
}

type AnyLane = EndpointSlot<unknown>;

/** How many it may have, under way and ready. */
function windowOf(lane: AnyLane, now: number): number {
  return isPrompt(lane, now) ? (1 + AHEAD) * lane.limit : lane.limit;
}

function isPrompt(lane: AnyLane, now: number): boolean {
  return lane.last === 'succeeded' && waitOf(lane, now) < AHEAD_MS;
}

function isQuick(lane: AnyLane, now: number): boolean {
  return lane.last === 'succeeded' && !isHolding(lane, now);
}

function isHolding(lane: AnyLane, now: number): boolean {
  return lane.last === 'failed' || waitOf(lane, now) > SLOW_MS;
}

/** What its last answer took, or the next one takes already. */
function waitOf({ tookMs, underWay }: AnyLane, now: number): number {
  const [oldest] = underWay;
  return oldest === undefined ? tookMs : Math.max(tookMs, now - oldest.startedAt);
}
