interface Waiting {
  readonly enter: () => void;
  readonly refuse: (reason: Error) => void;
}

/**
 * Lets a limited number of works in at a time; a limited number of others waits. Callers take turns, and each caller's
 * works keep their order. When all places to wait are taken, the caller with most waiting gives one up to another.
 */
export class Turnstile {
  #inside = 0;
  #waiting = 0;
  /** Callers in the order of their turns; each has at least one waiting work. */
  readonly #queues = new Map<string, Waiting[]>();
  /** Number of works of each caller inside. */
  readonly #held = new Map<string, number>();

  /** @param placesOfOne largest number of places of one caller at a time */
  constructor(
    private readonly places: number,
    private readonly maxWaiting: number,
    private readonly placesOfOne = places,
  ) {}

  /**
   * @param caller left out: all works belong to one caller
   * @param rest begins when the result is given; the place becomes free when it ends
   * @throws the error of `refusal` when too many wait already; any error of `work`
   */
  async pass<T>(work: () => Promise<T>, refusal: () => Error, caller = '', rest?: () => Promise<void>): Promise<T> {
    if (this.#inside < this.places && this.#mayEnter(caller)) {
      this.#enter(caller);
    } else {
      if (this.#waiting >= this.maxWaiting && !this.#giveUpOne(caller, refusal)) throw refusal();
      await new Promise<void>((enter, refuse) => {
        const queue = this.#queues.get(caller) ?? [];
        queue.push({ enter, refuse });
        this.#queues.set(caller, queue);
        this.#waiting++;
      });
    }
    try {
      const result = await work();
      if (rest) void rest().finally(() => this.#leave(caller));
      else this.#leave(caller);
      return result;
    } catch (error) {
      this.#leave(caller);
      throw error;
    }
  }

  #mayEnter(caller: string): boolean {
    return (this.#held.get(caller) ?? 0) < this.placesOfOne;
  }

  #enter(caller: string): void {
    this.#inside++;
    this.#held.set(caller, (this.#held.get(caller) ?? 0) + 1);
  }

  /** Hands the place on to the next caller in turn. */
  #leave(caller: string): void {
    this.#inside--;
    const held = (this.#held.get(caller) ?? 0) - 1;
    if (held > 0) this.#held.set(caller, held);
    else this.#held.delete(caller);
    const next = [...this.#queues].find(([waiting]) => this.#mayEnter(waiting));
    if (!next) return;
    const [name, queue] = next;
    const first = queue.shift();
    // Move the caller to the end of the turns.
    this.#queues.delete(name);
    if (queue.length > 0) this.#queues.set(name, queue);
    this.#waiting--;
    this.#enter(name);
    first?.enter();
  }

  /** @returns false when no caller has more waiting than this one would have */
  #giveUpOne(caller: string, refusal: () => Error): boolean {
    const [longest, ...others] = this.#queues;
    if (!longest) return false;
    const [name, queue] = others.reduce((most, each) => (each[1].length > most[1].length ? each : most), longest);
    if (queue.length <= (this.#queues.get(caller)?.length ?? 0) + 1) return false;
    queue.pop()?.refuse(refusal());
    this.#waiting--;
    if (queue.length === 0) this.#queues.delete(name);
    return true;
  }
}
