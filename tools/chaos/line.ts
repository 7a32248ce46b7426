/** A queue from producers to consumers, in order. */
export class Line<T> {
  readonly #items: T[] = [];
  readonly #waiting: ((item: T | null) => void)[] = [];
  #isClosed = false;

  static of<T>(items: readonly T[]): Line<T> {
    const line = new Line<T>();
    for (const item of items) line.push(item);
    line.close();
    return line;
  }

  push(item: T): void {
    const waiting = this.#waiting.shift();
    if (waiting) waiting(item);
    else this.#items.push(item);
  }

  /** Marks the end: no more items come. */
  close(): void {
    this.#isClosed = true;
    for (const waiting of this.#waiting.splice(0)) waiting(null);
  }

  /** Waits for the next item; null after the end. */
  async take(): Promise<T | null> {
    const item = this.#items.shift();
    if (item !== undefined) return item;
    if (this.#isClosed) return null;
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}
