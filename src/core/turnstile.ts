/** Lets so many in at a time. The others wait their turn, as many as may. */
export class Turnstile {
  #inside = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(
    private readonly places: number,
    private readonly maxWaiting: number,
  ) {}

  /** @throws what `refusal` makes, when too many wait already; whatever `work` throws */
  async pass<T>(work: () => Promise<T>, refusal: () => Error): Promise<T> {
    if (this.#inside >= this.places) {
      if (this.#waiting.length >= this.maxWaiting) throw refusal();
      // Who leaves hands the place on, so `inside` stays.
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    } else {
      this.#inside++;
    }
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#inside--;
    }
  }
}
