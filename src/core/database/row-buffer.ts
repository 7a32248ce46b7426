import { isLockTimeout, isUnavailable } from './pg-errors.js';

export interface RowBufferOptions<T> {
  /** Writes a batch. May be called again with the same rows, when it is not known whether they arrived. */
  readonly insert: (rows: readonly T[]) => Promise<void>;
  /** Rows of one `insert`. */
  readonly batch: number;
  /** Rows kept at most; what comes beyond is dropped. */
  readonly max: number;
  /** @param error what the database said of rows that it will never take; null when the buffer was full */
  readonly onDropped: (rows: number, error: unknown) => void;
}

/**
 * Rows that are worth keeping but not worth a request's time: they wait here and are written in batches. While the
 * database is away they are kept up to `max`. A process that is killed loses what waits, so nothing that must not be
 * lost belongs here.
 */
export class RowBuffer<T> {
  readonly #rows: T[] = [];
  #writing: Promise<boolean> | null = null;

  constructor(private readonly options: RowBufferOptions<T>) {}

  /** @returns whether a batch is full, and writing is due */
  add(row: T): boolean {
    if (this.#rows.length >= this.options.max) this.options.onDropped(1, null);
    else this.#rows.push(row);
    return this.#rows.length >= this.options.batch;
  }

  get size(): number {
    return this.#rows.length;
  }

  /** Writes one batch; never rejects. @returns whether another full one waits */
  flush(): Promise<boolean> {
    this.#writing ??= this.#write().finally(() => (this.#writing = null));
    return this.#writing;
  }

  /** Writes everything, or as much as the database takes. For the end of a process. */
  async drain(): Promise<void> {
    for (let left = Number.POSITIVE_INFINITY; this.size > 0 && this.size < left;) {
      left = this.size;
      await this.flush();
    }
  }

  async #write(): Promise<boolean> {
    const { insert, batch, onDropped } = this.options;
    const rows = this.#rows.slice(0, batch);
    if (rows.length === 0) return false;
    try {
      await insert(rows);
    } catch (error) {
      if (isUnavailable(error) || isLockTimeout(error)) return false;
      // Kept, they would stand before all that follow, for ever.
      onDropped(rows.length, error);
    }
    this.#rows.splice(0, rows.length);
    return this.#rows.length >= batch;
  }
}
