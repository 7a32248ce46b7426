export interface Receiver {
  readonly endpointId: string;
  readonly accountId: string;
}

/** Number of deliveries that may be claimed for an endpoint now. */
export interface Ask {
  readonly endpointId: string;
  readonly allowance: number;
}

/** A delivery that is being sent: it has begun and has no answer yet. */
export interface Sending<D> {
  readonly lane: EndpointSlot<D>;
  readonly delivery: D;
  readonly startedAt: number;
}

/** State of an endpoint in this process. */
interface EndpointSlot<D> extends Receiver {
  /** Deliveries without an answer yet, oldest first. */
  readonly underWay: Set<Sending<D>>;
  /** Deliveries claimed ahead. Each begins when a delivery under way is answered. */
  ready: D[];
  /** Largest number of deliveries under way at once. */
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
 * An endpoint that answers faster than this gets deliveries claimed ahead. Otherwise its places would stand idle half
 * of the time, waiting for the next claim. A slower endpoint would gain nothing. A delivery claimed ahead uses the URL
 * and secret of its claim, and is sent even if the endpoint was disabled since.
 */
const AHEAD_MS = 50;
/** Deliveries claimed ahead for each delivery that the endpoint may have under way. */
const AHEAD = 3;
const FORGET_MS = 10 * 60_000;
/** Limit of a new endpoint and after a failure. With two, a newer delivery can leave while the other one hangs. */
const FEWEST = 2;
/**
 * Deliveries held for each place. An answered delivery is held until its outcome is stored with a batch of others;
 * meanwhile its place sends the next one.
 */
const HELD_PER_PLACE = 2;

/**
 * Divides this process's sending places among the endpoints. A place sends one delivery at a time. An endpoint that does
 * not answer must not take the places of others. This state is lost at a restart, and no delivery depends on it.
 *
 * - An endpoint may have two deliveries under way at first, one more after each success, and two again after a failure.
 *   The limit never exceeds a quarter of all places.
 * - For an endpoint that answers at once, more deliveries are claimed ahead. They wait here for the endpoint's own
 *   places. All endpoints together have at most half as many deliveries claimed ahead as there are places.
 * - Endpoints that answer quickly share one half of the places. All other endpoints share the other half: those that
 *   are unproven, slow or failing, or that have just stopped answering.
 * - In the other half, slow, failing and stopped endpoints together get at most a quarter of all places. Otherwise a
 *   new endpoint would have to wait for their time-outs.
 * - In the other half, one account gets at most an eighth of all places, and at most a sixteenth for its slow, failing
 *   and stopped endpoints. Many dead endpoints of one account then delay no other account.
 * - The endpoint with the fewest deliveries under way comes first. Among equals, the one that waits longest comes
 *   first.
 */
export class EndpointSlots<D> {
  readonly #lanes = new Map<string, EndpointSlot<D>>();
  /** Endpoints that may have due deliveries, the least recently served first. */
  readonly #waiting = new Set<EndpointSlot<D>>();
  readonly #busy = new Set<EndpointSlot<D>>();
  #held = 0;

  /**
   * @param places number of deliveries that may be under way at once, all endpoints together
   * @param now milliseconds of a clock that only goes forward
   */
  constructor(
    private readonly places: number,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Number of claimed deliveries whose outcome is not stored yet. */
  get held(): number {
    return this.#held;
  }

  /** Whether as many deliveries are held as there are places. New ones would have to wait here. */
  get isFull(): boolean {
    return this.#held >= this.places;
  }

  /**
   * Marks an endpoint as waiting, because deliveries may be due for it.
   * @param failing state in the database; counts only if this process has not tried the endpoint itself
   */
  offer(receiver: Receiver, failing = false): void {
    const lane = this.#lane(receiver);
    if (failing && lane.last === 'unproven') this.#fail(lane);
    this.#waiting.add(lane);
  }

  /**
   * Selects the endpoints to claim for, and the number of deliveries for each. A selected endpoint stops waiting until
   * `offer` or `taken` marks it again.
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

  /** Takes the result of a claim. If it filled the allowance, more may be due, and the endpoint waits again. */
  taken({ endpointId, allowance }: Ask, count: number): void {
    const lane = this.#lanes.get(endpointId);
    if (lane && count >= allowance) this.#waiting.add(lane);
  }

  /** Adds a claimed delivery. @returns its sending if it begins now; null if it stays ready until `next` returns it */
  admit(receiver: Receiver, delivery: D): Sending<D> | null {
    const lane = this.#lane(receiver);
    this.#busy.add(lane);
    this.#held += 1;
    if (lane.underWay.size < lane.limit) return this.#begin(lane, delivery);
    lane.ready.push(delivery);
    return null;
  }

  /**
   * Frees the place of a delivery that was answered or timed out. The delivery is still held until `leave`.
   * @returns whether to claim more now: at most half of the endpoint's window is used, and more may be due
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

  /** Begins a ready delivery of the endpoint. @returns null if there is none, or no place for it */
  next(lane: EndpointSlot<D>): Sending<D> | null {
    const had = lane.underWay.size;
    if (lane.ready.length === 0 || had >= lane.limit) return null;
    // If none is under way, one begins without a free place: only an answer makes the next ready delivery begin.
    if (had > 0 && !this.#room().isFor(lane, had)) return null;
    const delivery = lane.ready.shift();
    return delivery === undefined ? null : this.#begin(lane, delivery);
  }

  /** Whether the endpoint answers at once and has not just stopped. Only then may it have ready deliveries. */
  isPrompt(lane: EndpointSlot<D>): boolean {
    return isPrompt(lane, this.now());
  }

  /**
   * Removes and returns the ready deliveries of endpoints that no longer answer at once, or of all endpoints. Another
   * worker may have room for them.
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

/** Places left for endpoints that do not answer quickly. All but the unproven ones also need a place of `holding`. */
interface Share {
  doubtful: number;
  holding: number;
}

/** Counts the places and the ready deliveries that are left during one allotment. */
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

  /** Whether the endpoint may get one more delivery. @param had the number it has. At its limit, one more is ready */
  isFor(lane: AnyLane, had: number): boolean {
    // If endpoints that answer quickly use their whole half, nothing more is made ready: some of them wait for a place.
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

/** Largest number of deliveries that the endpoint may have, under way and ready together. */
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
