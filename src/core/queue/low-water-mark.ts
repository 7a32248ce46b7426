/** Pause between two readings of a queue from its very beginning. */
const WHOLE_MS = 5_000;
/**
 * Factor on the missed distance when a margin grows. With each whole reading that needed less than half of it, a margin
 * shrinks by a hundredth.
 */
const WIDER = 2;
const NARROWER = 0.99;

/** A mark before all keys: from here the whole queue is read. */
export const BEGINNING = 0;

/** Margins in the unit of the queue's keys. */
export interface Margins {
  /** Smallest margin. A row committed later is found at once if its key is this close below the last key taken. */
  readonly least: number;
  readonly most: number;
}

/** Margins of due times in milliseconds, for the length of a transaction and the difference between our clocks. */
export const DUE_TIMES: Margins = { least: 1_000, most: 60_000 };

/**
 * Tells at which key to begin reading a queue whose keys go up: due times, or numbers. Keys are whole numbers.
 *
 * PostgreSQL keeps every row version that an open snapshot may see. During a backup or a long report, each claim would
 * read past all rows taken since. Therefore a claim begins a margin below the last key that was taken.
 *
 * If a row is committed below that margin, the next whole reading finds it some seconds later and widens the margin.
 * While more such rows come they are seen at once.
 */
export class LowWaterMark {
  #reached = BEGINNING;
  #margin: number;
  #wholeAt = 0;
  /** Largest distance of a taken key below the mark, since the last whole reading. */
  #latest = 0;

  /** @param clock milliseconds that only go forward */
  constructor(
    private readonly margins: Margins,
    private readonly clock: () => number = () => performance.now(),
  ) {
    this.#margin = margins.least;
  }

  /**
   * Returns the key that a claim begins with.
   * @param now the highest possible key. If a clock was set back, it is below the mark, and reading begins anew
   */
  next(now = Infinity): number {
    if (now < this.#reached) this.#reached = BEGINNING;
    if (this.clock() >= this.#wholeAt) return BEGINNING;
    return Math.max(BEGINNING, Math.floor(this.#reached - this.#margin));
  }

  /**
   * Call this after the commit of a claim that takes the lowest keys first.
   * @param from the result of `next`
   * @param keys that were taken
   * @param upTo the key up to which all are taken, when the claim found no more; null where there may be more
   */
  claimed(from: number, keys: readonly number[], upTo: number | null): void {
    this.taken(from, keys.length === 0 ? null : Math.min(...keys), upTo ?? Math.max(...keys));
  }

  /**
   * Call this after the commit of a claim.
   * @param from the result of `next`
   * @param lowest of the taken keys; null when none was taken or it is unknown
   * @param reached the key up to which all were taken; null when unknown
   */
  taken(from: number, lowest: number | null, reached: number | null): void {
    const late = lowest === null || this.#reached === BEGINNING ? 0 : this.#reached - lowest;
    this.#latest = Math.max(this.#latest, late);
    if (from === BEGINNING) {
      const isMissed = late > this.#margin;
      if (isMissed) this.#margin = Math.min(this.margins.most, this.#margin + WIDER * (late - this.#margin));
      else if (this.#latest < this.#margin / 2) this.#margin = Math.max(this.margins.least, this.#margin * NARROWER);
      this.#latest = 0;
      // More keys may have been missed: read the whole queue again at once.
      this.#wholeAt = isMissed ? 0 : this.clock() + WHOLE_MS;
    }
    if (reached !== null) this.#reached = Math.max(this.#reached, reached);
  }
}
