import { isLockTimeout, isUnavailable } from './pg-errors.js';

export interface RowBufferOptions<T> {
  /** Writes a batch. May be called again with the same rows, when their arrival is uncertain. */
  readonly insert: (rows: readonly T[]) => Promise<void>;
  /** Number of rows in one `insert`. */
  readonly batch: number;
  /** Largest number of rows kept; further rows are dropped. */
  readonly max: number;
  /** @param error the database's error on rows that it will never take; null when the buffer was full */
  readonly onDropped: (rows: number, error: unknown) => void;
}

/**
 * Buffers rows that are worth keeping but not worth a request's time, and writes them in batches. While the database is
 * away they are kept up to `max`. If a process is killed, its waiting rows are lost: nothing that must be kept belongs
 * here.
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

  /** Writes one batch; never rejects. @returns whether another full batch waits */
  flush(): Promise<boolean> {
    this.#writing ??= this.#write().finally(() => (this.#writing = null));
    return this.#writing;
  }

  /** Writes everything, or as much as the database takes, at the end of a process. */
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
      // Drop them: otherwise these rows would block all later rows.
      onDropped(rows.length, error);
    }
    this.#rows.splice(0, rows.length);
    return this.#rows.length >= batch;
  }
}
