/** What must not outlive the program: servers, connections. Run at its end, and when somebody stops it half-way. */
export class Cleanup {
  readonly #tasks: (() => Promise<void>)[] = [];

  /** @param task may run for something that was closed already */
  add(task: () => Promise<void>): void {
    this.#tasks.push(task);
  }

  /** Newest first. Each task runs once, also when this is called again meanwhile. */
  async run(): Promise<void> {
    for (let task = this.#tasks.pop(); task; task = this.#tasks.pop()) await task();
  }
}
