/** How often a queue is read from its very beginning. */
const WHOLE_MS = 5_000;
/** A margin grows by twice what was missed, and shrinks by a hundredth with each whole reading in which half of it would have done. */
const WIDER = 2;
const NARROWER = 0.99;

/** A mark before everything: a queue that is read from here is read whole. */
export const BEGINNING = 0;

/** Margins in the unit of the queue's keys. */
export interface Margins {
  /** What may be committed so much later than others with a higher key, and is still seen at once. */
  readonly least: number;
  readonly most: number;
}

/** Margins of due times, in milliseconds: the length of a transaction, and the difference between clocks of our machines. */
export const DUE_TIMES: Margins = { least: 1_000, most: 60_000 };

/**
 * From where on a queue is read whose keys go up: due times, or numbers. PostgreSQL keeps every version of a row that
 * anybody's snapshot may see, and while a backup or a long report holds one, each claim would read past all that was
 * taken since. So a claim begins a margin below the last key that was taken. What is committed below that is found by
 * the next whole reading, some seconds later, and widens the margin: while there are others like it they are seen at
 * once. Keys are whole numbers.
 */
export class LowWaterMark {
  #reached = BEGINNING;
  #margin: number;
  #wholeAt = 0;
  /** How far the lowest key since the last whole reading was below what was reached by then. */
  #latest = 0;

  /** @param clock milliseconds that only go forward */
  constructor(
    private readonly margins: Margins,
    private readonly clock: () => number = () => performance.now(),
  ) {
    this.#margin = margins.least;
  }

  /**
   * The key that a claim begins with.
   * @param now the highest key that there can be: below what was reached when a clock was set back, and all begins anew
   */
  next(now = Infinity): number {
    if (now < this.#reached) this.#reached = BEGINNING;
    if (this.clock() >= this.#wholeAt) return BEGINNING;
    return Math.max(BEGINNING, Math.floor(this.#reached - this.#margin));
  }

  /**
   * After the commit of a claim that takes the lowest first.
   * @param from what `next` said
   * @param keys that were taken
   * @param upTo which key all are taken, where the claim found no more; null where there may be more
   */
  claimed(from: number, keys: readonly number[], upTo: number | null): void {
    this.taken(from, keys.length === 0 ? null : Math.min(...keys), upTo ?? Math.max(...keys));
  }

  /**
   * After the commit of a claim.
   * @param from what `next` said
   * @param lowest of the keys that were taken; null when none was, or it is not known
   * @param reached up to which key all were taken; null when that is not known
   */
  taken(from: number, lowest: number | null, reached: number | null): void {
    const late = lowest === null || this.#reached === BEGINNING ? 0 : this.#reached - lowest;
    this.#latest = Math.max(this.#latest, late);
    if (from === BEGINNING) {
      const isMissed = late > this.#margin;
      if (isMissed) this.#margin = Math.min(this.margins.most, this.#margin + WIDER * (late - this.#margin));
      else if (this.#latest < this.#margin / 2) this.#margin = Math.max(this.margins.least, this.#margin * NARROWER);
      this.#latest = 0;
      // There may be more of them.
      this.#wholeAt = isMissed ? 0 : this.clock() + WHOLE_MS;
    }
    if (reached !== null) this.#reached = Math.max(this.#reached, reached);
  }
}
