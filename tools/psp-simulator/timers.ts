/** Timers that all end with the simulator. */
export class Timers {
  readonly #running = new Set<NodeJS.Timeout>();
  #closed = false;

  after(ms: number, work: () => void): void {
    if (this.#closed) return;
    const timer = setTimeout(() => {
      this.#running.delete(timer);
      work();
    }, ms);
    this.#running.add(timer);
  }

  wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.after(ms, resolve);
    });
  }

  /** Cancels all waiting timers. */
  close(): void {
    this.#closed = true;
    for (const timer of this.#running) clearTimeout(timer);
    this.#running.clear();
  }
}
