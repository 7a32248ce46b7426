/** How often a queue is read from its very beginning. */
const WHOLE_MS = 5_000;
/** Of the ways to a wider margin and back: twice what was missed, and a hundredth less with each whole reading. */
const WIDER = 2;
const NARROWER = 0.99;

/** Before everything: a queue that is read from here is read whole. */
export const BEGINNING = 0;

/** In the unit of the queue's keys. */
export interface Margins {
  /** What may be committed so much later than others with a higher key, and is still seen at once. */
  readonly least: number;
  readonly most: number;
}

/** Of due times in milliseconds: what a transaction lasts, and by how much the clocks of our machines may differ. */
export const DUE_TIMES: Margins = { least: 1_000, most: 60_000 };

/**
 * From where on a queue is read whose keys go up: due times, or numbers. PostgreSQL keeps every version of a row that
 * anybody's snapshot may see, and while a backup or a long report holds one, each claim would read past all that was
 * taken since. So a claim begins a margin below the last key that was taken. What is committed below that is found by
 * the next whole reading, some seconds later, and widens the margin: the next ones like it are seen at once.
 */
export class LowWaterMark {
  #reached = BEGINNING;
  #margin: number;
  #wholeAt = 0;

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
    return Math.max(BEGINNING, this.#reached - this.#margin);
  }

  /**
   * After the commit of a claim.
   * @param from what `next` said
   * @param lowest of the keys that were taken; null when none was, or it is not known
   * @param reached up to which key all were taken; null when that is not known
   */
  taken(from: number, lowest: number | null, reached: number | null): void {
    if (from === BEGINNING) {
      const missed = lowest === null ? 0 : this.#reached - this.#margin - lowest;
      const isMissed = this.#reached > BEGINNING && missed > 0;
      if (isMissed) this.#margin = Math.min(this.margins.most, this.#margin + WIDER * missed);
      else this.#margin = Math.max(this.margins.least, this.#margin * NARROWER);
      // There may be more of them.
      this.#wholeAt = isMissed ? 0 : this.clock() + WHOLE_MS;
    }
    if (reached !== null) this.#reached = Math.max(this.#reached, reached);
  }
}
