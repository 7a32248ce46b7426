export interface Receiver {
  readonly endpointId: string;
  readonly accountId: string;
}

/** Deliveries of an endpoint that there is room for now. */
export interface Ask {
  readonly endpointId: string;
  readonly allowance: number;
}

/** A delivery under way, from its beginning until its answer. */
export interface Sending<D> {
  readonly lane: EndpointSlot<D>;
  readonly delivery: D;
  readonly startedAt: number;
}

/** State of an endpoint in this process. */
interface EndpointSlot<D> extends Receiver {
  /** Deliveries without an answer yet, oldest first. */
  readonly underWay: Set<Sending<D>>;
  /** Deliveries claimed ahead: each begins when one under way is answered. */
  ready: D[];
  /** How many deliveries may be under way at once. */
  limit: number;
  /** Result of the last attempt, if this process made one. */
  last: 'unproven' | 'succeeded' | 'failed';
  /** Duration of the last answer. */
  tookMs: number;
  usedAt: number;
}

/** An answer slower than this makes an endpoint slow. */
const SLOW_MS = 1_000;
/**
 * Endpoints that answer faster than this get deliveries claimed ahead; their places would wait for claims half of the
 * time. Slower endpoints would gain nothing. A ready delivery uses the URL and secret of its claim, and is sent even if
 * its endpoint was just disabled.
 */
const AHEAD_MS = 50;
/** Deliveries claimed for an endpoint, as a multiple of those it may have under way. */
const AHEAD = 3;
const FORGET_MS = 10 * 60_000;
/** Deliveries at once at first and after a failure: if one hangs until its time-out, a newer one can still leave. */
const FEWEST = 2;
/** Outcomes are stored in batches; meanwhile the places continue sending. */
const HELD_PER_PLACE = 2;

/**
 * Shares the places for sending in this process, so that an endpoint that does not answer takes nothing from others.
 * Correctness does not depend on this state, and a restart forgets it.
 *
 * - An endpoint may have two deliveries under way at first, one more with each success, and two after a failure. The
 *   most is a quarter of all places. For an endpoint that answers at once, more are claimed ahead, for its own places.
 *   Ready deliveries of all endpoints are at most half as many as there are places: a few answers' worth of time.
 * - Half of the places is for endpoints that answer quickly. The other half is for all others: unproven, slow, failing,
 *   and those that have just stopped answering. Whatever these hold, half of the places is left.
 * - Of the other half, endpoints known to hold places (all but the unproven) get at most a quarter of all places. A new
 *   endpoint would otherwise wait for their time-outs.
 * - An account gets at most a quarter of the other half (an eighth of all places), and half as much for endpoints known
 *   to hold places. Many slow or dead endpoints of one account then delay no other account's.
 * - The endpoint with the fewest under way comes first; among equals, the one that waits longest.
 */
export class EndpointSlots<D> {
  readonly #lanes = new Map<string, EndpointSlot<D>>();
  /** Endpoints that may have due deliveries, the least recently served first. */
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

  /** Deliveries claimed and not yet stored. */
  get held(): number {
    return this.#held;
  }

  /** Whether it holds as many deliveries as there are places: new ones would wait here. */
  get isFull(): boolean {
    return this.#held >= this.places;
  }

  /**
   * Deliveries may be due for this endpoint.
   * @param failing state in the database, for an endpoint that this process has not tried itself
   */
  offer(receiver: Receiver, failing = false): void {
    const lane = this.#lane(receiver);
    if (failing && lane.last === 'unproven') this.#fail(lane);
    this.#waiting.add(lane);
  }

  /**
   * Selects the endpoints to claim for, and how many each. Selected endpoints stop waiting until `offer` or `taken`
   * marks them again.
   */
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

  /** Result of a claim: an endpoint that filled its allowance may have more. */
  taken({ endpointId, allowance }: Ask, count: number): void {
    const lane = this.#lanes.get(endpointId);
    if (lane && count >= allowance) this.#waiting.add(lane);
  }

  /** Adds a claimed delivery. @returns its sending if it begins now; null: it is ready, and `next` returns it later */
  admit(receiver: Receiver, delivery: D): Sending<D> | null {
    const lane = this.#lane(receiver);
    this.#busy.add(lane);
    this.#held += 1;
    if (lane.underWay.size < lane.limit) return this.#begin(lane, delivery);
    lane.ready.push(delivery);
    return null;
  }

  /**
   * The endpoint answered or timed out: its place is free, and the delivery is held until `leave`.
   * @returns whether to claim more already: the lane is half empty, and more may be due
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

  /** @returns a ready delivery of the lane that may begin: in the place of an answered one, or one more */
  next(lane: EndpointSlot<D>): Sending<D> | null {
    const had = lane.underWay.size;
    if (lane.ready.length === 0 || had >= lane.limit) return null;
    // At least one begins: the others only have its answers to wait for.
    if (had > 0 && !this.#room().isFor(lane, had)) return null;
    const delivery = lane.ready.shift();
    return delivery === undefined ? null : this.#begin(lane, delivery);
  }

  /** Whether the endpoint answers at once and has not just stopped: only then may its lane have ready deliveries. */
  isPrompt(lane: EndpointSlot<D>): boolean {
    return isPrompt(lane, this.now());
  }

  /**
   * Returns the ready deliveries of lanes that no longer answer at once, or of all lanes. Here they would wait, so they
   * are no longer held; another worker may have room.
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

  /** Releases a delivery whose outcome is stored. */
  leave(): void {
    this.#held -= 1;
  }

  /** Forgets endpoints that had nothing to send for a long time. */
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

/** Places left for endpoints that do not answer quickly; `holding` is a part of `doubtful`. */
interface Share {
  doubtful: number;
  holding: number;
}

/** Remaining room while places are allotted: places, and ready deliveries for them. */
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

  /** @param had deliveries of the lane so far: one more begins, or is ready */
  isFor(lane: AnyLane, had: number): boolean {
    // While endpoints that answer use all of their places, nothing more is made ready: others wait for their turn.
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

/** How many deliveries the lane may have, under way and ready. */
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

/** Duration of the last answer, or of the oldest delivery under way if that is longer. */
function waitOf({ tookMs, underWay }: AnyLane, now: number): number {
  const [oldest] = underWay;
  return oldest === undefined ? tookMs : Math.max(tookMs, now - oldest.startedAt);
}
